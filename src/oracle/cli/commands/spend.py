"""`oracle spend`: what was spent today and this month, and what is left of the budgets."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated

import typer

from oracle.cli.options import JsonOption
from oracle.cli.project import project_listed, settings_with, with_database
from oracle.cli.terminal.output import say, show_json
from oracle.cli.terminal.tables import Column, show_table

if TYPE_CHECKING:
    from oracle.services.storage.spend_report import SpendRow

COLUMNS = (
    Column("OF"),
    Column("NAME", cut_to=12),
    Column("PERIOD"),
    Column("SPENT", is_number=True),
    Column("HELD", is_number=True, drop=1),
    Column("LIMIT", is_number=True),
    Column("LEFT", is_number=True),
    Column("RENEWS (UTC)", drop=2),
)


def spend(
    user: Annotated[
        str | None, typer.Option("--user", metavar="NAME", help="Of this user of a server.")
    ] = None,
    json: JsonOption = False,
) -> None:
    """Show what was spent today and this month, and what is left.

    Budgets are settings under [spend]. HELD is what runs under way may still spend.

    Examples:
      oracle spend
      oracle spend --user ann --json
    """
    from dataclasses import asdict

    from oracle.models.session import LOCAL
    from oracle.services.storage.budgets import budgets_from
    from oracle.services.storage.spend_report import spend_rows

    budgets = budgets_from(settings_with().spend)
    project = project_listed(False)
    rows = with_database(lambda database: spend_rows(database, user or LOCAL, project, budgets))
    if json:
        show_json([asdict(row) for row in rows])
        return
    show_table(COLUMNS, map(_cells, rows))
    if not budgets:
        say("there are no budgets; `oracle config set spend.user_money_per_day 5` sets one")


def _cells(row: SpendRow) -> list[str]:
    renews = datetime.fromtimestamp(row.renews_at, UTC).strftime("%Y-%m-%d %H:%M")
    amounts = [_shown(row, amount) for amount in (row.spent, row.held, row.limit, row.left)]
    return [row.scope, row.name, row.period, *amounts, renews if row.limit is not None else ""]


def _shown(row: SpendRow, amount: float | None) -> str:
    if amount is None:
        return ""
    return f"{amount:,.4f}" if row.unit == "money" else f"{amount:,.0f} tokens"
