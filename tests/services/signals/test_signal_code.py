"""Rule 5 of docs/signals.md, as tables. ⟦…⟧ in a text marks what must be hidden."""

import pytest

from oracle.services.signals.element_end import ELEMENT_LIMIT
from oracle.services.signals.parser import strip_signal
from tests.signal_model import expect
from tests.signal_texts import BAD, STUCK, TURN, check_hiding


@pytest.mark.parametrize(
    ("marked", "counted"),
    [
        (f"see `{TURN}` here", None),
        ("⟦<signal a>`</signal\n>⟧- text `", None),
        ("⟦<signal><signal/><signal>\n~~~⟧\n\n<!--</SIGNAL>-->", None),
        (f"see ``a ` {TURN}`` here", None),
        (f"see `x` ⟦{TURN}⟧", TURN),
        (f"see `x`⟦{TURN}⟧", TURN),
        (f"a ` alone ⟦{TURN}⟧ z", TURN),
        (f"a ` alone ⟦{TURN}⟧ and ``{TURN}``\n", TURN),
        (f"a ` alone\n⟦{TURN}⟧ ` b", TURN),
        (f"a `` ` {TURN} ` b\n", None),
        (f"a `` x ` y ` ⟦{TURN}⟧\n", TURN),
        (
            f"`⟦{TURN.replace('more', 'two' + chr(10) + 'lines')}⟧`",
            TURN.replace("more", "two\nlines"),
        ),
        (f"```\n{TURN}\n```\nb", None),
        (f"```xml\n{TURN}\n```\nb", None),
        (f"~~~\n{TURN}\n~~~\nb", None),
        (f"~~~ a `b` \n{TURN}\n~~~\nb", None),
        (f"   ```\r\n{TURN}\r\n   ```\r\nb", None),
        (f"    ```\n⟦{TURN}⟧\n    ```\nb", TURN),
        (f"````\n```\n{TURN}\n```\n````\nb", None),
        (f"```\n{TURN}\n`````  \nb ⟦{STUCK}⟧", STUCK),
        (f"```\n{TURN}\n~~~\n{STUCK}\n``` x\n```\nb", None),
        (f"```\n    ```\n{TURN}\n```\nb", None),
        (f"- ```\n  {TURN}\n  ```\nb", None),
        (f"1. a\n   - b\n\n      ```\n      {TURN}\n      ```\nb", None),
        (f"- a\n\nb\n    ```\n⟦{TURN}⟧\n    ```\nc", TURN),
        (f"> ```\n> {TURN}\n> ```\nb", None),
        (f"> ```\n> code\n\nText ⟦{TURN}⟧ text", TURN),
        (f"> ```\n> code\nText ⟦{TURN}⟧ text", TURN),
        (f"> ```\n> code\n```\n{TURN}\n```\nText", None),
        (f"- ```\n  code\n\n  {TURN}\n\nText ⟦{STUCK}⟧ text", STUCK),
        (f"1. ```\n   {TURN}\n```\nb", None),
        (f"a\n> ⟦```xml\n> {TURN}\n> ```⟧\n", TURN),
        (f"a\n> ⟦```xml\n> {TURN}⟧\n\n", TURN),
        (f"a\n> ```py\n> print()\n> ⟦{TURN}⟧\n>\n\n", TURN),
        (f"a\n> ```xml\n> {TURN}\n\nb", None),
        (f"```a`b\n⟦{TURN}⟧\n", TURN),
        (f"```{TURN}```", None),
        (f"```\n<signal type='stuck'>\n```\nb\n⟦{TURN}⟧", TURN),
        (f"x\n⟦```xml\n{TURN}\n```⟧", TURN),
        (f"x\n⟦```xml\r\n\r\n  {TURN}\r\n\r\n```⟧\r\n \n", TURN),
        (f"x\n⟦~~~~\n{TURN}\n~~~~~⟧\n\n", TURN),
        (f"x\n⟦```xml\n{BAD}\n```⟧\n", None),
        (f"x\n```xml\n{TURN}\n{STUCK}\n```\n", None),
        (f"x\n```xml\na\n{TURN}\n```\n", None),
        (f"x\n```xml\n{TURN}\n```\n⟦{STUCK}⟧", STUCK),
        (f"x\n⟦```xml\n{TURN}⟧\n", TURN),
        (f"x\n```py\nprint()\n⟦{TURN}⟧\n ", TURN),
        (f"x\n```py\n{TURN}\nprint()\n⟦{STUCK}⟧", STUCK),
        (f"x\n```py\nprint()\n{TURN}\n# end", None),
        ("x\n```py\nprint()\n<signal type='stuck'>", None),
        (f"x\n```py\ny = '⟦{TURN}⟧", TURN),
    ],
)
def test_in_code_an_element_is_a_quotation_with_two_exceptions(
    marked: str, counted: str | None
) -> None:
    check_hiding(marked, counted)


QUOTES_CLOSING = TURN.replace("more", "find `</signal>`")
QUOTES_OPENING = TURN.replace("more", 'how `` ` `` and `<signal type="stuck">` are read')
ODD_BACKTICK = TURN.replace("more", "what ` means")
HOLDS_FENCE = TURN.replace("more", "\n\n```xml\n</signal>\n```\n")
OPEN_FENCE = TURN.replace("more", "\n\n```\n")


@pytest.mark.parametrize(
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
