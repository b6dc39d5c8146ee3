"""What runs have spent, and what is held for those under way.

Before a run begins, what it may cost at most is held; when it has ended, what it has cost is put in
the place of that. Both happen in the transaction that begins or ends the run, so a crash leaves
neither a run without its hold nor a hold without its run. `spend` has a row for each run and day;
`spend_totals` has the sums, so that a check costs the same however many runs there were. Rows stay
when their runs are deleted: what was spent was spent.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any, Final, TypeVar

from oracle.errors import InputError, SpendHeld, SpendLimitReached
from oracle.lazy_dataclass import dataclass
from oracle.services.storage.budgets import (
    MILLION,
    SCOPES,
    SPANS,
    UNITS,
    WORTH_BEGINNING,
    Amount,
    Budget,
    Need,
    Scope,
    Span,
    Unit,
    amount_of,
    need_of,
    period_of,
    refusal,
)
from oracle.services.storage.records import checked, insert
from oracle.services.storage.schema import spend, spend_totals
from oracle.services.storage.transactions import Transaction
from oracle.services.storage.users import owner_of_new_rows

Result = TypeVar("Result")

HELD: Final = "held"
RELEASED: Final = "released"
"""The state of a row whose run nobody worked on for a while: what it is known to have spent counts.
"""
SETTLED: Final = "settled"

ABANDONED_SECONDS: Final = 900.0
"""After so long without a process that works on it, a run holds no more than it has spent."""


@dataclass(kw_only=True, slots=True)
class Hold:
    """Holds what a run may cost. `granted` is less than its need if less is left.

    For a run that waits for a worker it `only_checks`: the worker holds it.
    """

    need: Need
    budgets: Sequence[Budget] = ()
    project: str | None = None
    only_checks: bool = False
    granted: Need | None = None

    @classmethod
    def of_board(
        cls, board: Mapping[str, Any], budgets: Sequence[Budget], project: str | None
    ) -> Hold:
        """`board` is that of a recipe. A tree of one's own may know neither limits nor a model."""
        limits: Mapping[str, Any] | None = board.get("limits")
        model: Mapping[str, Any] = board.get("model", {})
        need = Need(0, 0) if limits is None else need_of(limits, model.get("prices"))
        return cls(need=need, budgets=budgets, project=project)

    @property
    def is_lowered(self) -> bool:
        return self.granted is not None and self.granted != self.need

    def lowered(self, limits: Mapping[str, Any]) -> dict[str, Any]:
        """The limits of the run, with what was granted."""
        assert self.granted is not None
        money = limits["money"]
        if self.granted.money is not None and self.granted.money != self.need.money:
            money = self.granted.money / MILLION
        return {**limits, "money": money, "tokens": self.granted.tokens}

    def take(self, connection: Transaction, run_id: str) -> None:
        """Raises `SpendLimitReached`. Any number of processes may do so at once."""
        account = Account(connection, owner_of_new_rows(connection), self.project)
        if self.only_checks:
            account.check(self.need, self.budgets)
        else:
            self.granted = account.hold(run_id, self.need, self.budgets)


class Account:
    """Of a user in a project. From the first call on no other process changes any account, until
    the transaction ends.
    """

    def __init__(self, connection: Transaction, user: str, project: str | None) -> None:
        self._connection = connection
        self._names: Mapping[Scope, str] = {"user": user, "project": project or ""}
        if lock := connection.backend.spend_lock:
            connection.execute(lock)
        # Read after the lock: the day may have changed while this waited.
        self.now: float = connection.first(f"SELECT {connection.backend.now}")
        self.periods: Mapping[Span, str] = {span: period_of(span, self.now) for span in SPANS}

    def hold(self, run_id: str, need: Need, budgets: Sequence[Budget]) -> Need:
        """Returns what was granted.

        A run whose process died before its first record begins again. What was held for it then is
        given back.
        """
        before = self._rows(run_id)
        for row in before:
            self._release(row)
        granted = self._trying(lambda: self._granted(need, budgets))
        self._hold_more(run_id, before, Amount(granted.money or 0, granted.tokens))
        return granted

    def check(self, need: Need, budgets: Sequence[Budget]) -> None:
        """Raise if a run could not begin even after all that are under way have ended."""
        with suppress(SpendHeld):
            self._granted(need, budgets)

    def raise_hold(self, run_id: str, wanted: Amount, budgets: Sequence[Budget]) -> None:
        """Hold more for a run under way: all of it, or `SpendLimitReached`."""
        for row in self._rows(run_id):
            if row["state"] == HELD:
                held = _held(row)
                more = (wanted - held).or_nothing
                self._trying(lambda more=more: self._check_all(more, budgets))
                self._change(row, HELD, held + more)
                self._add(row, more, more)

    def hold_again(self, run_id: str, budgets: Sequence[Budget]) -> None:
        """For a run that is resumed: what it had not spent yet, if that was released."""
        rows = self._rows(run_id)
        if not rows or rows[-1]["state"] != RELEASED:
            return
        last = rows[-1]
        rest = (_held(last) - _spent(last)).or_nothing
        # All of it: the limits of a run are on record, and it goes on with those.
        self._trying(lambda: self._check_all(rest, budgets))
        self._hold_more(run_id, rows, rest)

    def settle(self, run_id: str, usage: Mapping[str, Any]) -> None:
        """Put what the run has cost in the place of what was held for it."""
        cost = amount_of(usage)
        rows = self._rows(run_id)
        if not rows:
            # It began before there were accounts, or never.
            if any(cost):
                self._insert(run_id, Amount())
                self.settle(run_id, usage)
            return
        last = rows[-1]
        if last["state"] == SETTLED:
            return
        for row in rows[:-1]:
            cost = (cost - _spent(row)).or_nothing
        counted, held = (
            (_held(last), _held(last)) if last["state"] == HELD else (_spent(last), Amount())
        )
        self._change(last, SETTLED, _held(last), cost)
        self._add(last, cost - counted, Amount() - held)

    # -- within budgets ----------------------------------------------------------------------------

    def _trying(self, work: Callable[[], Result]) -> Result:
        """Once more if a run that nobody works on holds what is missing."""
        try:
            return work()
        except SpendLimitReached:
            if not self._release_abandoned():
                raise
            return work()

    def _check_all(self, more: Amount, budgets: Sequence[Budget]) -> None:
        for budget in budgets:
            extra: int = getattr(more, budget.unit)
            used, held = self._used(budget)
            if extra and used + extra > budget.limit:
                name = self._names[budget.scope]
                raise refusal(budget, name, used, held, self.now, needed=extra)

    def _granted(self, need: Need, budgets: Sequence[Budget]) -> Need:
        if not need.is_price_known and (money := [b for b in budgets if b.unit == "money"]):
            raise InputError(
                f"the price of the model is not known, so {money[0].setting} cannot be kept; set "
                "model.input_price and model.output_price, or a budget of tokens"
            )
        most: dict[str, int | None] = {"money": need.money, "tokens": need.tokens}
        for budget in budgets:
            wanted = most[budget.unit]
            if wanted == 0:
                continue
            used, held = self._used(budget)
            asked = budget.limit if wanted is None else min(wanted, budget.limit)
            needed = max(1, asked // WORTH_BEGINNING)
            left = budget.limit - used
            if left < needed:
                name = self._names[budget.scope]
                raise refusal(budget, name, used, held, self.now, needed=needed)
            most[budget.unit] = left if wanted is None else min(wanted, left)
        return Need(most["money"], most["tokens"] or 0, need.is_price_known)

    def _used(self, budget: Budget) -> tuple[int, int]:
        """What is spent and held, and the part of it that is held."""
        name, period = self._names[budget.scope], self.periods[budget.span]
        return totals(self._connection, budget.scope, name, period)[budget.unit]

    def _release_abandoned(self) -> bool:
        """Give back what is held for runs that nobody works on. False if there are none."""
        sql = (
            "SELECT s.* FROM spend AS s LEFT JOIN runs AS r ON r.id = s.run_id "
            f"WHERE s.state = '{HELD}' AND s.at < ? "
            "AND (r.id IS NULL OR coalesce(r.lease_until, 0) < ?)"
        )
        before = self.now - ABANDONED_SECONDS
        found = [checked(spend, row) for row in self._connection.records(sql, [before, before])]
        for row in found:
            self._release(row)
        return bool(found)

    def _release(self, row: Mapping[str, Any]) -> None:
        """From now on it holds nothing, and what it is known to have spent counts."""
        if row["state"] == HELD:
            self._change(row, RELEASED, _held(row))
            self._add(row, _spent(row) - _held(row), Amount() - _held(row))

    def _hold_more(self, run_id: str, rows: Sequence[Mapping[str, Any]], more: Amount) -> None:
        """For a run that holds nothing. What it spends counts for the day on which that begins."""
        if rows and (last := rows[-1])["day"] == self.periods["day"]:
            self._change(last, HELD, _spent(last) + more)
            self._add(last, more, _spent(last) + more)
        else:
            self._insert(run_id, more)

    # -- rows --------------------------------------------------------------------------------------

    def _rows(self, run_id: str) -> list[dict[str, Any]]:
        """Of a run, oldest first: one that goes on after its hold was released may have several."""
        sql = "SELECT * FROM spend WHERE run_id = ? ORDER BY day"
        return [checked(spend, row) for row in self._connection.records(sql, [run_id])]

    def _change(
        self, row: Mapping[str, Any], state: str, held: Amount, spent: Amount | None = None
    ) -> None:
        known = _spent(row) if spent is None else spent
        self._connection.execute(
            "UPDATE spend SET state = ?, money_held = ?, tokens_held = ?, money_spent = ?, "
            "tokens_spent = ? WHERE run_id = ? AND day = ?",
            [state, *held, *known, row["run_id"], row["day"]],
        )

    def _add(self, row: Mapping[str, Any], used: Amount, held: Amount) -> None:
        """To the sums of the row's user and project."""
        whose: Mapping[Scope, str] = {"user": row["user_id"], "project": row["project"]}
        sums = [(scope, whose[scope], row[span]) for scope in SCOPES for span in SPANS]
        self._connection.execute(_ADD, [value for sum_ in sums for value in (*sum_, *used, *held)])

    def _insert(self, run_id: str, held: Amount) -> None:
        row = {
            "run_id": run_id,
            **self.periods,
            "user_id": self._names["user"],
            "project": self._names["project"],
            "state": HELD,
            "money_held": held.money,
            "tokens_held": held.tokens,
            "money_spent": 0,
            "tokens_spent": 0,
            "at": self.now,
        }
        insert(self._connection, spend, row)
        self._add(row, held, held)


def _held(row: Mapping[str, Any]) -> Amount:
    return Amount(row["money_held"], row["tokens_held"])


def _spent(row: Mapping[str, Any]) -> Amount:
    return Amount(row["money_spent"], row["tokens_spent"])


_ADD: Final = (
    f"INSERT INTO spend_totals ({spend_totals.names}) "
    f"VALUES {', '.join(['(?, ?, ?, ?, ?, ?, ?)'] * len(SCOPES) * len(SPANS))} "
    "ON CONFLICT (scope, name, period) DO UPDATE SET "
    + ", ".join(
        f"{column} = spend_totals.{column} + excluded.{column}"
        for column in ("money", "tokens", "money_held", "tokens_held")
    )
)


def totals(
    connection: Transaction, scope: Scope, name: str, period: str
) -> dict[Unit, tuple[int, int]]:
    """What is spent and held in a period, and the part of it that is held."""
    sql = "SELECT * FROM spend_totals WHERE scope = ? AND name = ? AND period = ?"
    for row in connection.records(sql, [scope, name, period]):
        total = checked(spend_totals, row)
        return {unit: (total[unit], total[f"{unit}_held"]) for unit in UNITS}
    return dict.fromkeys(UNITS, (0, 0))


def note(connection: Transaction, run_id: str, usage: Mapping[str, Any]) -> None:
    """What a run under way has spent so far: all that is known of it if its process dies."""
    money, tokens = amount_of(usage)
    sums = "(SELECT coalesce(sum(o.{0}), 0) FROM spend AS o WHERE o.run_id = s.run_id {1})"
    before = {unit: sums.format(f"{unit}_spent", "AND o.day <> s.day") for unit in UNITS}
    connection.execute(
        f"UPDATE spend AS s SET money_spent = ? - {before['money']}, "
        f"tokens_spent = ? - {before['tokens']} "
        # A run that is resumed counts up from nothing again, as it plays its past.
        f"WHERE s.run_id = ? AND s.state = '{HELD}' AND s.tokens_spent + {before['tokens']} < ?",
        [money, tokens, run_id, tokens],
    )
