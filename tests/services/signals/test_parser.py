"""Rules 4, 6 and 7 of docs/signals.md, as tables. ⟦…⟧ marks what must be hidden."""

import re

from oracle.services.signals.parser import SignalStreamParser
from tests.signal_texts import BAD, STUCK, TURN, check_hiding
from tests.tables import each_row


def warnings_of(text: str) -> list[str]:
    parser = SignalStreamParser()
    parser.feed(text)
    parser.close()
    return parser.warnings


# rule 4: what is hidden


@each_row(
    ("marked", "counted"),
    [
        (f"Answer.\n\n⟦{TURN}⟧\n", TURN),
        (f"a⟦{TURN}⟧b", TURN),
        (f"a ⟦{BAD}⟧ b", None),
        ("a ⟦<signal>⟧", None),
        ("a ⟦<signal type='stuck'>\n<blocker>x\ny⟧\n\nb", None),
        ("a ⟦<signal type='stuck'>x⟧\r\n\r\nb", None),
        ("a ⟦<signal type='stuck'>x⟧\n \t\nb", None),
        ('a ⟦<signal type="need⟧', None),
        ("a ⟦<signal⟧", None),
        (f"a ⟦<signal type='stuck'>x⟧\n\nb\n⟦{TURN}⟧", TURN),
        (f"a ⟦<signal type='stuck'>x {TURN} y⟧\n\nb", TURN),
        (f"a ⟦<signal type='stuck'>{TURN}<blocker>b</blocker></signal>⟧\n\nb", TURN),
        (f"⟦<signal type='need_turn'>⟧\n\n⟦{TURN}⟧", TURN),
        ("a <signals> b</signals>", None),
        ("a <signal-light> <signal_x> <signal.y> <signal:z> <signalé>", None),
        ("a <b, a < signal>, </signal>, <sig", None),
        ("<signal/ >", None),
        ("&lt;signal type='stuck'&gt;", None),
        ("⟦<signal type='need_turn' confidence='1'>\n\n<reason>r</reason>\n\n</signal>⟧ b",
         "<signal type='need_turn' confidence='1'>\n\n<reason>r</reason>\n\n</signal>"),
    ],
)  # fmt: skip
def test_an_element_outside_code_is_hidden_and_nothing_else(
    marked: str, counted: str | None
) -> None:
    check_hiding(marked, counted)


def test_a_text_without_any_element_is_not_malformed() -> None:
    parser = SignalStreamParser()
    assert parser.feed("a <b and `<signal>`") + parser.close() == "a <b and `<signal>`"
    assert (parser.signal, parser.malformed, parser.warnings) == (None, False, [])


# rule 6: more than one, and in mid-text


@each_row(
    ("marked", "counted", "warnings"),
    [
        (f"a ⟦{TURN}⟧", TURN, []),
        (f"a ⟦{TURN}⟧ b", TURN, ["last thing"]),
        (f"a ⟦{TURN}⟧\n⟦{STUCK}⟧\n", TURN, ["more than one"]),
        (f"a ⟦{TURN}⟧ b ⟦{STUCK}⟧", TURN, ["more than one", "last thing"]),
        (f"a ⟦{BAD}⟧ b ⟦{STUCK}⟧", STUCK, ["malformed", "more than one"]),
    ],
)
def test_the_first_valid_signal_counts_and_all_are_hidden(
    marked: str, counted: str, warnings: list[str]
) -> None:
    check_hiding(marked, counted)
    found = warnings_of(re.sub("[⟦⟧]", "", marked))
    assert len(found) == len(warnings)
    assert all(wanted in warning for wanted, warning in zip(warnings, found, strict=True))


def test_warnings_do_not_pile_up() -> None:
    assert len(warnings_of("<signal/>" * 1000)) < 50


# rule 7: streaming


def test_plain_text_is_shown_at_once() -> None:
    parser = SignalStreamParser()
    assert [parser.feed(chunk) for chunk in ("Hel", "lo,\n", "- wor", "ld `x", "` 1 < 2")] == [
        "Hel", "lo,\n", "- wor", "ld `x", "` 1 < 2",
    ]  # fmt: skip


@each_row(
    ("chunks", "shown"),
    [
        (["a <signal", "s>"], ["a ", "<signals>"]),
        (["a <signal/", "x"], ["a ", "<signal/x"]),
        (["``", "`\n", "code"], ["", "", "```\ncode"]),
        (["~~", " x"], ["", "~~ x"]),
        (["```xml\n<signal", "s>"], ["", "```xml\n<signals>"]),
        (["<signal type='x'>" + "y" * 4096, "z\n\nb"], ["", "\n\nb"]),
    ],
)
def test_what_is_undecided_waits_no_longer_than_needed(chunks: list[str], shown: list[str]) -> None:
    parser = SignalStreamParser()
    assert [parser.feed(chunk) for chunk in chunks] == shown


def test_closing_twice_shows_nothing_twice() -> None:
    parser = SignalStreamParser()
    assert parser.feed("a <sig") + parser.close() + parser.close() == "a <sig"


@each_row("end", ["<s", "<si", "<SIG", "<sign", "<signa"])
def test_of_a_text_that_was_cut_the_beginning_of_a_tag_is_hidden(end: str) -> None:
    parser = SignalStreamParser()
    assert parser.feed(f"a {end}") + parser.close(was_cut=True) == "a "
