"""What an evaluation may spend: looked at before each run, and never more than is left."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from oracle.errors import InputError
from oracle.evaluation.agent_runs import Outcome
from oracle.services.control.ledger import Limits
from oracle.services.llm.protocol import Model

SHARE_THAT_SHOWS: Final = 0.5
"""From this part of its limit of money on, a run may do other things than with a higher one."""


class Purse:
    """`most` is None for no limit. `is_empty` says that a run was not asked for want of money."""

    def __init__(self, most: float | None = None, spent: float = 0.0) -> None:
        self._most = most
        self.spent = spent
        self.is_empty = False

    def check(self, model: Model) -> None:
        """Refuse a limit that could not be kept."""
        if self._most is not None and model.prices is None:
            raise InputError(
                f"--max-cost: the price of {model.name} is not known, so its cost cannot be "
                "limited; set model.input_price and model.output_price, or omit --max-cost"
            )

    def limits(self, limits: Limits, model: Model) -> Limits | None:
        """Those of the next run, which may cost no more than is left. None if nothing is left."""
        if self._most is None or _is_free(model):
            return limits
        left = self._most - self.spent
        self.is_empty = self.is_empty or left <= 0
        if self.is_empty:
            return None
        is_enough = limits.money is not None and limits.money <= left
        return limits if is_enough else replace(limits, money=left)

    def paid(self, outcome: Outcome, given: Limits, wanted: Limits) -> Outcome:
        """Book its cost. It is marked if it might have gone another way with its own limit."""
        money = outcome.facts.money or 0.0
        self.spent += money
        if given.money is None or given.money == wanted.money:
            return outcome
        is_short = outcome.facts.stop_reason == "money_limit"
        is_cut = is_short or money >= given.money * SHARE_THAT_SHOWS
        # The next one would have even less.
        self.is_empty = is_cut
        return replace(outcome, is_cut=is_cut)


def _is_free(model: Model) -> bool:
    prices = model.prices
    return prices is not None and not (prices.input or prices.output or prices.then)
