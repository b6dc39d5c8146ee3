"""`oracle spend`: what was spent today and this month, and what is left of the budgets."""

from __future__ import annotations

from datetime import UTC, datetime
from itertools import groupby
from typing import TYPE_CHECKING, Annotated

import typer

from oracle.cli.options import JsonOption
from oracle.cli.project import project_listed, settings_with, with_database
from oracle.cli.terminal.output import say, show_json
from oracle.cli.terminal.tables import Column, show_table
from oracle.models.session import LOCAL

if TYPE_CHECKING:
    from collections.abc import Sequence

    from oracle.services.storage.budgets import Unit
    from oracle.services.storage.spend_report import SpendRow

COLUMNS = (
    Column("WHOSE", cut_to=16),
    Column("PERIOD"),
    Column("COST", is_number=True),
    Column("COST LEFT", is_number=True),
    Column("TOKENS", is_number=True),
    Column("TOKENS LEFT", is_number=True),
    Column("RENEWS (UTC)", drop=1),
)


def spend(
    user: Annotated[
        str | None, typer.Option("--user", metavar="NAME", help="Of this user of a server.")
    ] = None,
    json: JsonOption = False,
) -> None:
    """Show what was spent today and this month, and what is left.

    Budgets are settings under [spend]. LEFT is the rest of a budget; what runs under way may
    still spend is not left. Answers without a language model cost nothing.

    Examples:
      oracle spend
      oracle spend --user ann --json
    """
    from dataclasses import asdict

    from oracle.services.storage.budgets import budgets_from
    from oracle.services.storage.spend_report import spend_rows

    budgets = budgets_from(settings_with().spend)
    project = project_listed(False)
    rows = with_database(lambda database: spend_rows(database, user or LOCAL, project, budgets))
    if json:
        show_json([asdict(row) for row in rows])
        return
    of_period = groupby(rows, key=lambda row: (row.scope, row.span))
    show_table(COLUMNS, [_cells(list(of_units)) for _, of_units in of_period])
    if any(row.unit == "tokens" and row.spent for row in rows) and not any(
        row.unit == "money" and row.spent for row in rows
    ):
        say("COST has only models whose price is known")
    if not budgets:
        say("there are no budgets; `oracle config set spend.user_money_per_day 5` sets one")


def _cells(of_units: Sequence[SpendRow]) -> list[str]:
    """One row for what the same runs have spent, in each unit."""
    first = of_units[0]
    whose = "you" if (first.scope, first.name) == ("user", LOCAL) else f"{first.scope} {first.name}"
    has_budget = any(row.limit is not None for row in of_units)
    renews = datetime.fromtimestamp(first.renews_at, UTC).strftime("%Y-%m-%d %H:%M")
    amounts = [_shown(row.unit, each) for row in of_units for each in (row.spent, row.left)]
    return [whose, first.period, *amounts, renews if has_budget else ""]


def _shown(unit: Unit, amount: float | None) -> str:
    if amount is None:
        return ""
    return f"{amount:,.4f}" if unit == "money" and amount else f"{amount:,.0f}"
