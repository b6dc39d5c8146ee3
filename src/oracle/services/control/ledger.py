"""What a run may spend, what it has spent, and what must be left for its last answer.

This is the only place for turns, tokens, money, seconds and uses of each tool. A ledger is frozen
data: each change returns a new one. The blackboard holds it as a dictionary.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, replace
from functools import lru_cache
from math import inf, isfinite
from typing import Any, Final, Literal, Self, TypeAlias

from oracle.errors import InputError
from oracle.lazy_dataclass import dataclass

Resource: TypeAlias = Literal["turns", "tokens", "money", "seconds"]
RESOURCES: Final[tuple[Resource, ...]] = ("turns", "tokens", "money", "seconds")
STOP_AT: Final[Mapping[Resource, str]] = {
    "turns": "turn_limit",
    "tokens": "token_limit",
    "money": "money_limit",
    "seconds": "time_limit",
}
"""The stop reason of a run that ends because a budget is spent."""

FEWEST_TOKENS: Final = 20
"""Shorter outputs do not say how fast a model writes: they are mostly the wait before them."""
ENOUGH_TOKENS: Final = 100
"""So many tokens, or so many more than another response has, do say how fast a model writes."""
SLOWEST_GUESS: Final = 0.1
"""Seconds for each token, at the most, as long as only shorter outputs were seen."""
HIGHEST_COUNT: Final = 4.0
"""No tokenizer makes more of a text than this, measured by our estimate: a token for each byte."""

USUAL_ANSWER: Final = 800
"""Tokens of an answer, to estimate how long the last one will take."""
SLOWER: Final = 1.25
"""The last answer may take longer than the longest request so far, by this factor."""
TIME_FOR_THE_UNKNOWN: Final = 2
"""Before the first response half of the time is kept: the last answer may take as long as it. The
text of an answer gets no more than this later either: the rest is for the work before it.
"""
CLEAN_UP: Final = 2.0
"""Seconds that a tool which ignores its cancellation is waited for (`bt/core/runtime.py`)."""
SHORTEST_WITH_CLEAN_UP: Final = 4.0
"""Seconds. A shorter limit has no time to keep for a clean-up."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Limits:
    """`money` is None if a price is unknown, because the budget could not be kept."""

    turns: int = 30
    tokens: int = 400_000
    money: float | None = 1.00
    seconds: float = 300.0
    uses_of_a_tool: int = 20

    def check(self) -> Self:
        """Raise `InputError` if a value is not a limit. Called once: a run builds many `Limits`."""
        for name, limit in self.to_dict().items():
            if limit is None and name == "money":
                continue
            kinds = int | float if name in ("money", "seconds") else int
            if not isinstance(limit, kinds) or isinstance(limit, bool):
                whole = "a number" if kinds is not int else "a whole number"
                raise InputError(f"{name}: {limit!r:.60} is not a limit; give {whole}")
            if not (limit >= 0 and isfinite(limit)):
                raise InputError(
                    f"{name}: {limit} is not a limit; give a number that is not negative"
                )
        return self

    def to_dict(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.__slots__}


@dataclass(frozen=True, kw_only=True, slots=True)
class Ledger:
    """`longest_turn` is the longest request in seconds; `quickest_turn` is the quickest one, which
    had `quickest_tokens` of output. `slowest_token` is the most seconds that a token of output
    took, without the wait for the first one; `guessed_token` is used as long as that is 0.
    `counted` is how many tokens the provider counts for each one that we estimate; 0 as long as it
    has not said. `is_estimate` says that a part of `tokens` and `money` was not counted by a
    provider. `waited` are seconds before the run; only `usage` counts them. `warned` are the
    budgets that a warning was given for.
    """

    limits: Limits = field(default_factory=Limits)
    started_at: float = 0.0
    turns: int = 0
    tokens: int = 0
    money: float = 0.0
    longest_turn: float = 0.0
    quickest_turn: float = 0.0
    quickest_tokens: int = 0
    slowest_token: float = 0.0
    guessed_token: float = 0.0
    counted: float = 0.0
    uses: Mapping[str, int] = field(default_factory=dict[str, int])
    warned: tuple[Resource, ...] = ()
    is_estimate: bool = False
    waited: float = 0.0

    # -- spending ----------------------------------------------------------------------------------

    def with_turn(self) -> Self:
        return replace(self, turns=self.turns + 1)

    def with_usage(
        self, tokens: int, money: float = 0.0, seconds: float = 0.0, *, is_estimate: bool = False
    ) -> Self:
        """Add the cost of a request. The longest one is the estimate for the last one."""
        return replace(
            self,
            tokens=self.tokens + tokens,
            money=self.money + money,
            longest_turn=max(self.longest_turn, seconds),
            is_estimate=self.is_estimate or is_estimate,
        )

    def with_pace(self, output_tokens: int, seconds: float) -> Self:
        """Note how fast the model writes. The wait for the first token is not part of that.

        The wait is the same for a short and a long output. So what a response took longer than the
        quickest one is divided by the tokens that it has more.
        """
        noted = self
        more = output_tokens - self.quickest_tokens
        if self.quickest_turn and more >= ENOUGH_TOKENS:
            pace = max(0.0, seconds - self.quickest_turn) / more
            noted = replace(self, slowest_token=max(self.slowest_token, pace))
        elif output_tokens >= ENOUGH_TOKENS and not self.quickest_turn:
            noted = replace(self, slowest_token=seconds / output_tokens)
        elif output_tokens >= FEWEST_TOKENS:
            pace = min(seconds / output_tokens, SLOWEST_GUESS)
            noted = replace(self, guessed_token=max(self.guessed_token, pace))
        if not self.quickest_turn or seconds < self.quickest_turn:
            noted = replace(noted, quickest_turn=seconds, quickest_tokens=output_tokens)
        return noted

    def with_count(self, estimated: int, counted: int) -> Self:
        """Note how the provider counted an input that we had estimated."""
        ratio = min(counted / max(1, estimated), HIGHEST_COUNT)
        return replace(self, counted=max(self.counted, ratio))

    def with_use(self, tool: str) -> Self:
        return replace(self, uses={**self.uses, tool: self.uses.get(tool, 0) + 1})

    def with_warning(self, *resources: Resource) -> Self:
        return replace(self, warned=(*self.warned, *resources))

    # -- questions ---------------------------------------------------------------------------------

    def so_far(self, resource: Resource, now: float) -> str:
        """In words: "28,404 of 400,000 tokens"."""
        limit: float = getattr(self.limits, resource)
        return f"{in_digits(self.spent(resource, now))} of {in_digits(limit)} {resource}"

    def spent(self, resource: Resource, now: float) -> float:
        return now - self.started_at if resource == "seconds" else getattr(self, resource)

    def share(self, resource: Resource, now: float) -> float:
        """The spent share of a limit, from 0 up. A limit of 0 is spent from the start, except for
        money: what costs nothing fits it, and `Room` knows what a request costs.
        """
        limit, spent = getattr(self.limits, resource), self.spent(resource, now)
        if limit is None or (resource == "money" and not spent):
            return 0.0
        return spent / limit if limit > 0 else 1.0

    def warnings_due(self, now: float, share: float) -> tuple[Resource, ...]:
        """The budgets that have reached this share and had no warning yet."""
        warned = self.warned
        return tuple([r for r in RESOURCES if r not in warned and self.share(r, now) >= share])

    def tools_used_up(self) -> tuple[str, ...]:
        return tuple(tool for tool in self.uses if not self.may_use(tool))

    def exhausted(self, now: float) -> Resource | None:
        """The first budget that is fully spent, so that no request is possible."""
        # What `share` says, written out: it is asked several times in a turn.
        limits, money = self.limits, self.limits.money
        if self.turns >= limits.turns:
            return "turns"
        if self.tokens >= limits.tokens:
            return "tokens"
        if money is not None and self.money and self.money >= money:
            return "money"
        return "seconds" if now - self.started_at >= limits.seconds else None

    def may_use(self, tool: str) -> bool:
        return self.uses.get(tool, 0) < self.limits.uses_of_a_tool

    def left(self, resource: Resource, now: float) -> float:
        limit = getattr(self.limits, resource)
        if limit is None:
            return inf
        return limit - (now - self.started_at if resource == "seconds" else getattr(self, resource))

    @property
    def seconds_kept(self) -> float:
        """How long the last answer may take, judged by the responses so far, and what is lost
        before it if a tool does not stop.
        """
        if not self.longest_turn:
            return self.limits.seconds / TIME_FOR_THE_UNKNOWN
        writing = USUAL_ANSWER * (self.slowest_token or self.guessed_token)
        half = self.limits.seconds / TIME_FOR_THE_UNKNOWN
        answer = max(SLOWER * self.longest_turn, min(self.quickest_turn + writing, half))
        return answer + (CLEAN_UP if self.limits.seconds >= SHORTEST_WITH_CLEAN_UP else 0.0)

    def usage(self, now: float) -> dict[str, Any]:
        """The amounts spent, for people and for records."""
        return {
            "turns": self.turns,
            "tokens": self.tokens,
            "money": self.money,
            "seconds": round(now - self.started_at + self.waited, 3),
            "uses": dict(self.uses),
            "is_estimate": self.is_estimate,
        }

    # -- on the blackboard -------------------------------------------------------------------------

    def to_dict(self) -> dict[str, Any]:
        return {
            "limits": self.limits.to_dict(),
            "started_at": self.started_at,
            "turns": self.turns,
            "tokens": self.tokens,
            "money": self.money,
            "longest_turn": self.longest_turn,
            "quickest_turn": self.quickest_turn,
            "quickest_tokens": self.quickest_tokens,
            "slowest_token": self.slowest_token,
            "guessed_token": self.guessed_token,
            "counted": self.counted,
            "uses": dict(self.uses),
            "warned": list(self.warned),
            "is_estimate": self.is_estimate,
            "waited": self.waited,
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        return cls(
            limits=_limits(*data["limits"].values()),
            started_at=data["started_at"],
            turns=data["turns"],
            tokens=data["tokens"],
            money=data["money"],
            longest_turn=data["longest_turn"],
            quickest_turn=data["quickest_turn"],
            quickest_tokens=data["quickest_tokens"],
            slowest_token=data["slowest_token"],
            guessed_token=data["guessed_token"],
            counted=data["counted"],
            uses=data["uses"],
            warned=tuple(data["warned"]),
            # A run that began before there were these fields can be resumed.
            is_estimate=data.get("is_estimate", False),
            waited=data.get("waited", 0.0),
        )


@lru_cache(maxsize=64)
def _limits(
    turns: int, tokens: int, money: float | None, seconds: float, uses_of_a_tool: int
) -> Limits:
    """Cached: limits are read many times per turn, and are the same for all runs of a project."""
    return Limits(
        turns=turns, tokens=tokens, money=money, seconds=seconds, uses_of_a_tool=uses_of_a_tool
    )


def in_seconds(number: float) -> str:
    """`1 second`, `30 seconds`."""
    return f"{in_digits(number)} second{'' if number == 1 else 's'}"


def in_digits(number: float) -> str:
    """`1,234,567`, as everywhere on the screen; of a fraction, only what matters: `0.0125`."""
    if isinstance(number, int) or number >= 1_000:
        return f"{number:,.0f}"
    return f"{number:.4g}"
