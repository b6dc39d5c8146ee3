"""Rule 5 of docs/signals.md, for inline code. ⟦…⟧ in a text marks what must be hidden."""

from tests.signal_texts import TURN, check_hiding
from tests.tables import each_row


@each_row(
    ("marked", "counted"),
    [
        (f"see `{TURN}` here", None),
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
    ],
)
def test_an_element_is_a_quotation_where_the_line_closes_the_backticks(
    marked: str, counted: str | None
) -> None:
    check_hiding(marked, counted)
