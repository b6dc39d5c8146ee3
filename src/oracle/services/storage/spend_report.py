"""What a user and a project have spent today and this month, and what is left of their budgets."""

from __future__ import annotations

from collections.abc import Sequence

from oracle.lazy_dataclass import dataclass
from oracle.services.storage.budgets import (
    MILLION,
    SCOPES,
    SPANS,
    UNITS,
    Budget,
    Scope,
    Span,
    Unit,
    period_of,
    renewal_of,
)
from oracle.services.storage.database import Database
from oracle.services.storage.spend import totals
from oracle.services.storage.transactions import Transaction


@dataclass(frozen=True, kw_only=True, slots=True)
class SpendRow:
    """`held` is what runs under way may still spend. Without a `limit` there is nothing `left` to
    count. Times are seconds since 1970.
    """

    scope: Scope
    name: str
    span: Span
    period: str
    unit: Unit
    spent: float
    held: float
    limit: float | None
    left: float | None
    renews_at: float


async def spend_rows(
    database: Database, user: str, project: str | None, budgets: Sequence[Budget]
) -> list[SpendRow]:
    """One for each scope, span and unit, whether there is a budget for it or not."""
    names: dict[Scope, str] = {"user": user, "project": project or ""}
    limits = {(budget.scope, budget.span, budget.unit): budget.limit for budget in budgets}

    def read(connection: Transaction) -> list[SpendRow]:
        now: float = connection.first(f"SELECT {connection.backend.now}")
        rows: list[SpendRow] = []
        for scope in SCOPES:
            for span in SPANS:
                period = period_of(span, now)
                found = totals(connection, scope, names[scope], period)
                for unit in UNITS:
                    used, held = found[unit]
                    limit = limits.get((scope, span, unit))
                    left = None if limit is None else max(0, limit - used)
                    rows.append(
                        SpendRow(
                            scope=scope,
                            name=names[scope],
                            span=span,
                            period=period,
                            unit=unit,
                            spent=_plain(unit, used - held),
                            held=_plain(unit, held),
                            limit=None if limit is None else _plain(unit, limit),
                            left=None if left is None else _plain(unit, left),
                            renews_at=renewal_of(span, now),
                        )
                    )
        return rows

    return await database.read(read)


def _plain(unit: Unit, amount: int) -> float:
    return amount / MILLION if unit == "money" else amount
