"""Rule 5 of docs/signals.md, for code fences. ⟦…⟧ in a text marks what must be hidden."""

from oracle.services.signals.parser import SignalStreamParser
from tests.signal_texts import BAD, STUCK, TURN, check_hiding
from tests.tables import each_row


@each_row(
    ("marked", "counted"),
    [
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
        ("x\n⟦````\n<signal a>\n\n```\n</signal>\n````⟧", None),
        ("- a\n  ```\n<signal/>\n  ```\n\rx\n     ⟦```\n<signal/>⟧\n", None),
        (f"> ```\n> a\n{' ' * 64}> {TURN}\n> b", None),
        (f"> ```\n> a\n{' ' * 65}> ⟦{TURN}⟧\n> b", TURN),
    ],
)
def test_in_a_fence_an_element_is_a_quotation_with_two_exceptions(
    marked: str, counted: str | None
) -> None:
    check_hiding(marked, counted)


@each_row("chunk", [1, 2, 3, 4, 7])
@each_row("indentation", ["", "  ", "   ", "\t"])
def test_a_closing_line_is_seen_after_lines_that_pass_unread(indentation: str, chunk: int) -> None:
    text = f"```\ncode\n\n    more\n{indentation}```\nText {TURN} text"
    parser = SignalStreamParser()
    chunks = [text[at : at + chunk] for at in range(0, len(text), chunk)]
    shown = "".join([parser.feed(chunk) for chunk in chunks]) + parser.close()
    assert shown == text.replace(TURN, "")


def test_code_is_shown_as_it_arrives() -> None:
    parser = SignalStreamParser()
    assert [parser.feed(chunk) for chunk in ("```\nco", "de\n ", " ``", "`` x\n", "``", "`\n")] == [
        "```\nco", "de\n ", " ``", "`` x\n", "``", "`\n",
    ]  # fmt: skip
