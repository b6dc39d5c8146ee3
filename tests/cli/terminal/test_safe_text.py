"""What is left of a text on a terminal."""

import io
import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from oracle.cli.terminal.console import console_on
from oracle.cli.terminal.live import RenderedText
from oracle.cli.terminal.progress import Line
from oracle.cli.terminal.safe_text import MOST_MARKS, printable, safe_text
from tests.tables import each_row

PIECES = "\x1b[]0;m\\\x07\r\n\t\x9b\u202ea\udc9b\u0301"
ANY_TEXT = st.text(st.characters(codec=None)) | st.text(PIECES)


@each_row(
    ("text", "safe"),
    [
        ("plain\n\ttext, größer → 終 👍🏽", "plain\n\ttext, größer → 終 👍🏽"),
        ("\x1b]52;c;ZXZpbA==\x07", "]52;c;ZXZpbA=="),
        ("\x1b[31mred\x1b[0m", "[31mred[0m"),
        ("\x9b31m\x90x\x9c", "31mx"),
        ("a\r\nb\rc", "a\nb c"),
        ("a\x0bb\x0cc\x85d\u2028e\u2029f", "a b c d e f"),
        ("pass\x08\x08\x7f", "pass"),
        ("exe\u202etxt.\u202d\u2066\u2069", "exetxt."),
        ("zero\u200b\u200d\u2060\ufeff\u00ad\u3164width", "zerowidth"),
        ("tag\U000e0041\U000e0100", "tag"),
        ("\udcff\ud83d", "\ufffd\ufffd"),
        ("10\u00a0000 ❤\ufe0f", "10\u00a0000 ❤\ufe0f"),
        ("[red]markup[/] :bomb:", "[red]markup[/] :bomb:"),
        ("e" + "\u0301" * 500, "e" + "\u0301" * MOST_MARKS),
        ("ก" + "\u0e49" * 500, "ก" + "\u0e49" * MOST_MARKS),
        ("नमस्ते ąčę שָׁלוֹם", "नमस्ते ąčę שָׁלוֹם"),
    ],
)
def test_what_steers_a_terminal_is_left_out(text, safe):
    assert safe_text(text) == safe


@given(ANY_TEXT)
def test_no_text_keeps_a_control_character(text):
    safe = safe_text(text)
    assert not {unicodedata.category(c) for c in safe if c not in "\n\t"} & {"Cc", "Cf", "Cs", "Zl"}
    assert safe.encode().decode() == safe
    assert safe_text(safe) == safe
    assert "\n" not in printable(text)


@given(ANY_TEXT, st.integers(0, 50))
def test_a_sequence_that_is_cut_in_two_is_harmless_too(text, at):
    assert "\x1b" not in safe_text(text[:at]) + safe_text(text[at:])


class Terminal(io.StringIO):
    encoding = "utf-8"

    def isatty(self):
        return True


@given(ANY_TEXT | st.text("#>*_`[]()|-~!<&\\ \n1.ax:/"), st.integers(1, 30))
def test_any_answer_is_drawn_at_any_width(text, width):
    console = console_on(file := Terminal())
    console.width = width
    RenderedText(console).answer(f"begin {text}\n\n\nend")
    assert "\x1b]" not in file.getvalue()
    assert "end"[:width] in file.getvalue().replace("\n", "")[-200:] or width < 3


def test_an_answer_that_cannot_be_drawn_is_printed_plainly(monkeypatch):
    def fails(*_):
        raise RecursionError

    monkeypatch.setattr("oracle.cli.terminal.live.rendered", fails)
    RenderedText(console_on(file := Terminal())).answer("# The answer \x1b[31m")
    assert file.getvalue() == "# The answer [31m\n"


def test_a_line_of_progress_is_one_line():
    line = Line(kind="to\nol", text="a\n\x1b[2Joracle: all is well\r\nb")
    assert str(line) == "to ol      a [2Joracle: all is well b"
