"""Rules 3 and 4 of docs/signals.md: where an element ends. ⟦…⟧ marks what must be hidden."""

import pytest

from oracle.services.signals.element_end import ELEMENT_LIMIT
from oracle.services.signals.parser import SignalStreamParser, parse_signal, strip_signal
from tests.signal_model import expect
from tests.signal_texts import BAD, TURN, check_hiding
from tests.tables import each_row


def test_an_element_is_closed_within_four_kibibytes_or_malformed() -> None:
    frame = len(TURN) - len("more")
    fits = TURN.replace("more", "m" * (4096 - frame))
    assert (signal := parse_signal(fits)) is not None
    assert signal.raw_xml == fits
    too_long = TURN.replace("more", "m" * (4097 - frame))
    check_hiding(f"a ⟦{too_long} b⟧\n\nc", None)
    parser = SignalStreamParser()
    parser.feed(too_long)
    parser.close()
    assert parser.malformed


QUOTES_CLOSING = TURN.replace("more", "find `</signal>`")
QUOTES_OPENING = TURN.replace("more", 'how `` ` `` and `<signal type="stuck">` are read')
ODD_BACKTICK = TURN.replace("more", "what ` means")
HOLDS_FENCE = TURN.replace("more", "\n\n```xml\n</signal>\n```\n")
OPEN_FENCE = TURN.replace("more", "\n\n```\n")


@each_row(
    ("marked", "counted"),
    [
        (f"a\n\n⟦{QUOTES_CLOSING}⟧ b", QUOTES_CLOSING),
        (f"a\n\n⟦{QUOTES_OPENING}⟧ b", QUOTES_OPENING),
        (f"⟦{ODD_BACKTICK}⟧ and `code`", ODD_BACKTICK),
        (f"⟦{HOLDS_FENCE}⟧ b", HOLDS_FENCE),
        (f"⟦{OPEN_FENCE}⟧ b", OPEN_FENCE),
        ("the ⟦<signal>`x`</signal>⟧ element and `y`", None),
        (f"The ⟦<signal> tag.⟧\n\nTwo.\n\nClose it with `</signal>`.\n\n⟦{TURN}⟧", TURN),
        ("The ⟦<signal> tag.⟧\n\nTwo.\n\nClose it with `` `</signal>` ``.", None),
        (f"The ⟦<signal> tag.⟧\n\nTwo.\n\n```\n{BAD}\n```\nb\n⟦{TURN}⟧", TURN),
        ("The ⟦<signal> tag.⟧\n\n```\n<signal></signal>\n```\nThe end", None),
        ("The ⟦<signal> tag.⟧\n\n> ~~~\n> </signal>\n\nb", None),
        ("The ⟦<signal 'tag.⟧\n\n```\n</signal>\n```\nb", None),
        ("The ⟦<signal> tag.⟧\n\n> ```\n> </signal>\n  ", None),
        ("⟦<signal>\n\n- ```\n```\n</signal>⟧\n```\n", None),
        ("⟦<signal a>`</signal\n>⟧- text `", None),
        ("⟦<signal><signal/><signal>\n~~~⟧\n\n<!--</SIGNAL>-->", None),
    ],
)
def test_code_inside_an_element_holds_no_tags(marked: str, counted: str | None) -> None:
    check_hiding(marked, counted)


@pytest.mark.parametrize("blank", ["\n\n", "\n   \n", "\n\n> \n"])
@pytest.mark.parametrize("fence", ["```", "    ```", "~~~~"])
def test_an_element_cut_off_at_the_limit_does_not_spoil_the_next(blank: str, fence: str) -> None:
    """Wherever the limit of the first falls, one of the next has room for all of the code."""
    code = f"{blank}{fence}\n<signal a\n{fence}\n</signal>"
    for cut_off in range(1, len(code)):
        text = "<signal>" * 10
        text += "x" * (ELEMENT_LIMIT + cut_off - len(text + code)) + code
        assert strip_signal(text) == expect(text).shown == "", cut_off


@pytest.mark.parametrize("blank", ["\n\n", "\n             \n"])
def test_what_one_element_learnt_is_right_for_the_next(blank: str) -> None:
    """The second has a blank line of its own, in the text that the first has searched."""
    code = "\n```\n</signal>\n```\n</signal>"
    for cut_off in range(1, len(code) + 20):
        text = f"<signal>x\n\n<signal>y{blank}"
        text += "z" * (ELEMENT_LIMIT + cut_off - len(text + code)) + code
        assert strip_signal(text) == expect(text).shown, cut_off
