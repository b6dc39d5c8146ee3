"""Budgets of all runs of a user or a project together, in a day or a month.

Amounts are whole numbers, so that sums are exact: tokens, and millionths of the currency of the
prices. Days and months are those of UTC, by the clock of the database.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from math import ceil, floor
from typing import Any, Final, Literal, NamedTuple, TypeAlias

from oracle.errors import SpendHeld, SpendLimitReached
from oracle.lazy_dataclass import dataclass
from oracle.services.control.ledger import in_digits
from oracle.services.settings.team_sections import SpendSettings

Scope: TypeAlias = Literal["user", "project"]
Span: TypeAlias = Literal["day", "month"]
Unit: TypeAlias = Literal["money", "tokens"]

SCOPES: Final[tuple[Scope, ...]] = ("user", "project")
SPANS: Final[tuple[Span, ...]] = ("day", "month")
UNITS: Final[tuple[Unit, ...]] = ("money", "tokens")
MILLION: Final = 1_000_000
ROUNDING: Final = 1e-6
"""Of a millionth: what multiplying a decimal fraction by a million may be off by."""
WORTH_BEGINNING: Final = 10
"""A run begins if one part in ten of what it may cost is left. With less it would only end early.
"""
SECONDS_FOR_OTHERS: Final = 2.0
"""When to try again if runs under way hold what is left."""


class Amount(NamedTuple):
    money: int = 0
    tokens: int = 0

    def __add__(self, other: Amount) -> Amount:  # pyright: ignore[reportIncompatibleMethodOverride]
        return Amount(self.money + other.money, self.tokens + other.tokens)

    def __sub__(self, other: Amount) -> Amount:
        return Amount(self.money - other.money, self.tokens - other.tokens)

    @property
    def or_nothing(self) -> Amount:
        return Amount(max(0, self.money), max(0, self.tokens))


class Need(NamedTuple):
    """What a run may cost at most. `money` is None without a limit."""

    money: int | None
    tokens: int
    is_price_known: bool = True


@dataclass(frozen=True, kw_only=True, slots=True)
class Budget:
    scope: Scope
    span: Span
    unit: Unit
    limit: int

    @property
    def setting(self) -> str:
        return f"spend.{self.scope}_{self.unit}_per_{self.span}"


def budgets_from(settings: SpendSettings) -> tuple[Budget, ...]:
    return tuple(_budgets(settings))


def _budgets(settings: SpendSettings) -> Iterator[Budget]:
    for scope in SCOPES:
        for unit in UNITS:
            for span in SPANS:
                limit = getattr(settings, f"{scope}_{unit}_per_{span}")
                if limit is not None:
                    whole = floor(limit * MILLION + ROUNDING) if unit == "money" else floor(limit)
                    yield Budget(scope=scope, span=span, unit=unit, limit=whole)


def millionths(money: float) -> int:
    """Rounded up: what is spent is never counted as less.

    >>> millionths(0.1), millionths(0.0000001)
    (100000, 1)
    """
    return max(0, ceil(money * MILLION - ROUNDING))


def amount_of(usage: Mapping[str, Any]) -> Amount:
    """Of the usage of a run. One that never began has none."""
    return Amount(millionths(usage.get("money", 0.0)), max(0, int(usage.get("tokens", 0))))


def need_of(limits: Mapping[str, Any], prices: Mapping[str, float] | None) -> Need:
    """A model that costs nothing needs no money."""
    tokens = int(limits["tokens"])
    if prices is None:
        return Need(0, tokens, is_price_known=False)
    if not any(prices.values()):
        return Need(0, tokens)
    return Need(None if limits["money"] is None else millionths(limits["money"]), tokens)


# -- periods ---------------------------------------------------------------------------------------


def period_of(span: Span, now: float) -> str:
    """The name of the day or month.

    >>> period_of("day", 0.0), period_of("month", 0.0)
    ('1970-01-01', '1970-01')
    """
    moment = datetime.fromtimestamp(now, UTC)
    return moment.strftime("%Y-%m-%d" if span == "day" else "%Y-%m")


def renewal_of(span: Span, now: float) -> float:
    """When the next day or month begins."""
    day = datetime.fromtimestamp(now, UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    if span == "day":
        return (day + timedelta(days=1)).timestamp()
    # The 28th and four days are always in the next month.
    return (day.replace(day=28) + timedelta(days=4)).replace(day=1).timestamp()


# -- words -----------------------------------------------------------------------------------------


def shown(unit: Unit, amount: int) -> str:
    return in_digits(amount / MILLION if unit == "money" else amount)


def refusal(
    budget: Budget, name: str, used: int, held: int, now: float, *, needed: int
) -> SpendLimitReached:
    """`used` is what is spent and `held`, and `name` is that of the user or the project."""
    left, spent = max(0, budget.limit - used), used - held
    renews_at = renewal_of(budget.span, now)
    waits_for_others = held > 0 and budget.limit - spent >= needed
    unit = "" if budget.unit == "money" else " tokens"
    whose = f"the {budget.unit} budget of {budget.scope} {name!r} for this {budget.span}"
    under_way = ""
    if held > 0:
        under_way = f", {shown(budget.unit, held)} held for runs under way"
    when = datetime.fromtimestamp(renews_at, UTC).strftime("%Y-%m-%d %H:%M UTC")
    step = f"it renews at {when}; ask then, or raise {budget.setting}"
    if waits_for_others:
        step = f"ask again when they have ended, or at {when}, when it renews"
    kind = SpendHeld if waits_for_others else SpendLimitReached
    return kind(
        f"{whose} is used up: {shown(budget.unit, spent)} of {shown(budget.unit, budget.limit)}"
        f"{unit} spent{under_way}, {shown(budget.unit, left)} left; {step}",
        left=left / MILLION if budget.unit == "money" else left,
        unit=budget.unit,
        renews_at=renews_at,
        retry_after=SECONDS_FOR_OTHERS if waits_for_others else max(1.0, renews_at - now),
    )
