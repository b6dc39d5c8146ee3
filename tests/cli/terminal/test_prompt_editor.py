"""The editor of a chat, with keys from a pipe; and what Tab completes."""

from contextlib import contextmanager

import pytest
from prompt_toolkit.input import create_pipe_input
from prompt_toolkit.key_binding import KeyPress
from prompt_toolkit.keys import Keys
from prompt_toolkit.output import DummyOutput

from oracle.cli.terminal.interrupts import ChatSignals
from oracle.cli.terminal.prompt_editor import PromptEditor, completions, lines_of
from oracle.services.settings.keys import VARIABLES
from oracle.services.settings.sections import EMBEDDED
from tests.tables import each_row


@contextmanager
def editor_with(keys, history=None):
    with create_pipe_input() as given, ChatSignals() as signals:
        given.send_text(keys)
        editor = PromptEditor(history, signals, input_=given, output=DummyOutput())
        editor.is_interactive = True
        yield editor


@pytest.mark.parametrize(("keys", "text"), [
    ("hello\r", "hello"),
    ("one\x1b\rtwo\r", "one\ntwo"),
    ("one\ntwo\r", "one\ntwo"),
    ("\n\none\r", "one"),
    ("one\\\rtwo\r", "one\ntwo"),
    ("a \\ b\r", "a \\ b"),
    ("\x1b[200~a\r\nb\rc\n\x1b[201~\r", "a\nb\nc\n"),
    ("\x1b[200~red \x1b[31m\x07 \u202eback\x1b[201~\r", "red [31m back"),
    ("\x1b[200~" + "x" * 10_000 + "\x1b[201~\r", "x" * 10_000),
    ("ab\x01c\x05d\r", "cabd"),
])  # fmt: skip
def test_what_is_typed_is_what_is_read(keys, text):
    with editor_with(keys) as editor:
        assert editor.read() == text


def test_the_last_question_can_be_edited():
    with editor_with(" now?\r") as editor:
        assert editor.read("why") == "why now?"


def test_ctrl_c_clears_the_line_without_a_word(capsys):
    with editor_with("half\x03hello\r") as editor:
        assert editor.read() == "hello"
    assert "press Ctrl-C again" not in capsys.readouterr().err


def test_ctrl_c_twice_on_an_empty_line_leaves_and_the_first_says_so(capsys):
    with editor_with("half\x03\x03\x03") as editor, pytest.raises(KeyboardInterrupt):
        editor.read()
    assert capsys.readouterr().err.count("on an empty line to leave") == 1


def test_ctrl_c_leaves_only_if_nothing_was_typed_since():
    with editor_with("half\x03\x03other\x03hello\r") as editor:
        assert editor.read() == "hello"


def test_ctrl_c_gives_up_an_edit():
    with editor_with("\x03") as editor:
        assert editor.read("the last question") == ""


def test_ctrl_d_leaves_from_an_empty_line_only():
    with editor_with("a\x02\x04\x04") as editor, pytest.raises(EOFError):
        editor.read()


def test_the_history_is_searched_with_ctrl_r_and_walked_with_the_arrows(tmp_path):
    file = tmp_path / "history"
    file.write_text("where is login?\nwhat is a\\nsession?\nhello\n")
    with editor_with("\x12LOGIN\r\r", file) as editor:
        assert editor.read() == "where is login?"
    with editor_with("\x1b[A\x1b[A\r", file) as editor:
        assert editor.read() == "what is a\nsession?"


ENTER, CTRL_J, ESCAPE = Keys.ControlM, Keys.ControlJ, Keys.Escape


@each_row(("arrived", "meant"), [
    (("h", CTRL_J), ("h", ENTER)),
    (("h", CTRL_J, "t", CTRL_J), ("h", ENTER, "t", ENTER)),
    (("h", CTRL_J, "t"), ("h", CTRL_J, "t")),
    (("h", CTRL_J, "t", ENTER), ("h", CTRL_J, "t", ENTER)),
    ((CTRL_J,), (CTRL_J,)),
    ((CTRL_J, "t"), (CTRL_J, "t")),
    ((ESCAPE, CTRL_J), (ESCAPE, CTRL_J)),
    ((), ()),
])  # fmt: skip
def test_ctrl_j_is_enter_only_in_whole_lines_as_a_script_sends_them(arrived, meant):
    keys = lines_of([KeyPress(name, "") for name in arrived])
    assert tuple(key.key for key in keys) == meant


def test_ctrl_c_right_after_enter_is_kept_for_the_answer_and_other_keys_for_the_next_prompt():
    with editor_with("hello\rnext\x03 one\x03") as editor:
        assert editor.read() == "hello"
        assert editor._signals.take_waiting() == 2
        editor._input.send_text("\r")
        assert editor.read() == "next one"


def test_lines_that_were_sent_before_ctrl_c_are_dropped_and_a_beginning_stays():
    with editor_with("hello\r/undo\r/retry\rand w") as editor:
        assert editor.read() == "hello"
        editor.stopped()
        editor.when_shown = lambda: editor._input.send_text("hy\r")
        assert editor.read() == "and why"


def test_ctrl_c_ends_a_search_and_the_line_at_once(tmp_path, capsys):
    file = tmp_path / "history"
    file.write_text("where is login?\n")
    with editor_with("\x12log\x03hello\r", file) as editor:
        assert editor.read() == "hello"
    assert "press Ctrl-C again" not in capsys.readouterr().err


def test_tab_offers_the_models_that_can_be_asked(monkeypatch):
    for variable in VARIABLES.values():
        monkeypatch.delenv(variable, raising=False)
    own = ("openai:good",)
    assert [name for _, name in completions("/model ", own)] == ["openai:good", EMBEDDED]
    monkeypatch.setenv(VARIABLES["anthropic"], "k")
    offered = [name for _, name in completions("/model ", own)]
    assert "sonnet" in offered
    assert not any(name.startswith("gpt") for name in offered)
    assert any(name.startswith("gpt") for _, name in completions("/model g", own))
    assert len([name for _, name in completions("/model openai:", own)]) > 5


@pytest.fixture
def folder(tmp_path, monkeypatch):
    project = tmp_path / "project"
    for name in ("src/app.py", "src/api.py", ".env", "a b.py", "evil\x1b[31m.py", "setup.py"):
        (project / name).parent.mkdir(parents=True, exist_ok=True)
        (project / name).touch()
    monkeypatch.chdir(project)


@pytest.mark.parametrize(("text", "whole"), [
    ("/mo", ["/model "]),
    ("/e", ["/edit ", "/exit"]),
    ("/at", ["/attach "]),
    ("/s", ["/sources", "/session ", "/save "]),
    ("/usr/l", []),
    ("what is /s", []),
    ("what is @s", ["@setup.py", "@src/"]),
    ("@src/a", ["@src/api.py", "@src/app.py"]),
    ("@src/a ", []),
    ("@", ["@a\\ b.py", "@setup.py", "@src/"]),
    ("see @s", ["@setup.py", "@src/"]),
    ("/attach set", ["setup.py"]),
    ("/model embed", ["embedded"]),
    ("@gone/x", []),
    ("/save src/ap", ["src/api.py", "src/app.py"]),
    ("", []),
])  # fmt: skip
def test_tab_completes_commands_and_paths(folder, text, whole):
    found = list(completions(text))
    assert [after for _, after in found] == whole
    assert all(text.endswith(before) for before, _ in found)
