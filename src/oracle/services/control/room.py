"""What the next requests of a run may hold: by its ledger, and by the model's context window.

A request is sent only if it can be paid for. A request with tools is sent only if the last answer
can be paid for as well, after this turn has made the conversation longer.

Sizes of text are estimates of our own. What a provider counts is what is paid. It may be more, so
an estimate is multiplied by what this provider has counted so far in this run.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from math import ceil
from typing import Final, Literal, NamedTuple

from oracle.lazy_dataclass import dataclass
from oracle.services.control.ledger import Ledger, Resource
from oracle.services.llm.protocol import Prices
from oracle.services.prompting.tokens import TOKENS_OF_THE_DENSEST_CHARACTER

FIRST_GUESS: Final = 1.6
"""What a provider may count for a token that we estimate, before its first report. Our estimates
follow o200k, and no tokenizer in use makes more than this of English and code.
"""
MARGIN: Final = 1.1
"""On what the provider has counted so far: the text to come may be denser."""
SHORTEST_ANSWER: Final = 300
"""Tokens. With less room than this a request is not worth its price."""
SHARE_FOR_AN_ANSWER: Final = 8
"""A budget of tokens or money keeps one part in eight of its limit for the text of an answer."""
WINDOW_FOR_AN_ANSWER: Final = 4
"""The answer takes up to this part of the context window: a quarter."""
NOTES: Final = 100
"""Estimated tokens for what the tree itself tells the model in a turn."""
LEAST_MESSAGES: Final = 600
"""Estimated tokens that a prompt and a question need at the least."""
LEAST_RESULTS: Final = 500
"""Estimated tokens of results that make a turn with tools worth while."""
USUAL_TURN: Final = 500
"""Tokens of a response with tool calls. One that gets longer may use what is not reserved."""
ENDLESS: Final = 20_000
TIMES_TOO_LONG: Final = 4
"""An output of so many tokens, or so many times the longest, is stopped even if it can be paid."""


class Sent(NamedTuple):
    """A request: the estimated tokens of its input, and the tokens of its output."""

    input: int
    output: int


class Reserve(NamedTuple):
    """What is kept for the last answer, of each budget but the turns."""

    tokens: int
    money: float
    seconds: float


@dataclass(frozen=True, kw_only=True, slots=True)
class Room:
    """`messages` and `tools` are the estimated tokens of the next request.

    `window` and `longest_output` are the model's, in tokens as the provider counts them.
    """

    ledger: Ledger
    prices: Prices | None
    window: int
    longest_output: int
    messages: int
    tools: int
    now: float

    # -- what can be paid --------------------------------------------------------------------------

    def counted(self, estimate: float) -> int:
        """What the provider will count at most."""
        known = self.ledger.counted
        return ceil(estimate * (max(1.0, known) * MARGIN if known else FIRST_GUESS))

    def money_for(self, sent: Sent) -> float:
        return 0.0 if self.prices is None else self.prices.cost(self.counted(sent[0]), sent[1])

    def lacks(self, *requests: Sent) -> Resource | None:
        """The budget that cannot pay for these requests together; None if all can."""
        ledger, prices = self.ledger, self.prices
        most = ledger.limits.money
        tokens, money = 0, 0.0
        # Both in one loop, because it is asked a dozen times in a turn.
        for estimate, output in requests:
            counted = self.counted(estimate)
            tokens += counted + output
            if prices is not None and most is not None:
                money += prices.cost(counted, output)
        if tokens > ledger.limits.tokens - ledger.tokens:
            return "tokens"
        return "money" if most is not None and money > most - ledger.money else None

    @property
    def shortest_output(self) -> int:
        return min(self.longest_output, SHORTEST_ANSWER)

    @property
    def planned_output(self) -> int:
        """The length of an answer that is planned for. It may be longer if there is room."""
        limits, most = (
            self.ledger.limits,
            [self.longest_output, self.window // WINDOW_FOR_AN_ANSWER],
        )
        most.append(limits.tokens // SHARE_FOR_AN_ANSWER)
        if self.prices is not None and limits.money is not None:
            price = self.prices.cost(0, 1_000_000) / 1_000_000
            share = limits.money / SHARE_FOR_AN_ANSWER
            most.append(int(share / price) if price else self.longest_output)
        return max(self.shortest_output, min(most))

    def scarce(self) -> Resource | None:
        """The budget that cannot pay for a turn with tools and for the last answer after it."""
        if self.ledger.left("turns", self.now) <= 1:
            return "turns"
        if lacking := self.lacks(*self.turn_and_last()):
            return lacking
        needed = self.ledger.longest_turn + self.ledger.seconds_kept
        return "seconds" if self.ledger.left("seconds", self.now) <= needed else None

    def spent(self) -> Resource | None:
        """The budget that cannot pay for any request, however short its answer."""
        return self.ledger.exhausted(self.now) or self.lacks(self._shortest())

    def smallest_limit(self, resource: Literal["tokens", "money"]) -> float:
        """The limit with which the next request could have been sent, rounded up."""
        shortest = self._shortest()
        if resource == "tokens":
            return self.ledger.tokens + self.counted(shortest.input) + shortest.output
        return ceil((self.ledger.money + self.money_for(shortest)) * 1e6) / 1e6

    def pays_less_in_money(self) -> bool:
        """Whether the money allows less output than the tokens do. Either may be overdrawn."""
        money = self.ledger.left("money", self.now)
        price = 0.0
        if self.prices is not None:
            read = self._counted_input()
            price = self.prices.cost(read, 1_000_000) - self.prices.cost(read, 0)
        if price > 0:
            return money / price * 1_000_000 < self.ledger.left("tokens", self.now)
        return money < 0

    def reserve(self) -> Reserve:
        """What is kept for the last answer."""
        last = Sent(self.messages, self.planned_output)
        return Reserve(
            tokens=self.counted(last.input) + last.output,
            money=self.money_for(last),
            seconds=self.ledger.seconds_kept,
        )

    def _shortest(self) -> Sent:
        return Sent(self.messages + NOTES, self.shortest_output)

    def turn_and_last(self, output: int | None = None) -> tuple[Sent, Sent]:
        """A request with tools, and the last one after it: longer by its output and its results."""
        output = min(USUAL_TURN, self.planned_output) if output is None else output
        longer = self.messages + output + LEAST_RESULTS + NOTES
        return Sent(self.messages + self.tools, output), Sent(longer, self.planned_output)

    # -- what a request may hold -------------------------------------------------------------------

    def in_window(self, tokens: int) -> int:
        """The estimated tokens that fill that many tokens of the window.

        Before the first report the estimate counts as it is: a provider that refuses a request
        because of its size takes nothing for it, and the request is made smaller.
        """
        return int(tokens / (max(1.0, self.ledger.counted * MARGIN)))

    def payable_output(self, *, is_last: bool) -> int:
        """The output that can be paid for. Only the last request may use up the reserve."""

        def fits(output: int) -> bool:
            if is_last:
                return self.lacks(Sent(self.messages, output)) is None
            return self.lacks(*self.turn_and_last(output)) is None

        return max(1, largest(max(ENDLESS, TIMES_TOO_LONG * self.longest_output), fits))

    def longest_within(self, payable: int) -> int:
        """The longest output to ask for: of the model, of the window, and of what can be paid."""
        least = min(self.shortest_output, self.window // WINDOW_FOR_AN_ANSWER)
        beside = max(least, self.window - self._counted_input())
        return min(self.longest_output, payable, beside)

    def filled_window(self, payable: int) -> int:
        """What the next request takes of the window: its input, and its longest output."""
        return min(self.window, self._counted_input() + self.longest_within(payable))

    def _counted_input(self) -> int:
        return ceil((self.messages + self.tools) * max(1.0, self.ledger.counted))

    def characters_left(self, payable: int, written: float) -> int:
        """How many more characters of output can be paid for, after so many estimated tokens.

        The text to come may be denser than what there is: Chinese after English. So this is as many
        as surely fit. Where not even one does, it is one: nobody knows before it has arrived.
        """
        # Without the first guess: a provider keeps to the length that it was given, and an answer
        # must not be cut on a mere suspicion.
        ratio = max(1.0, self.ledger.counted) * MARGIN
        left = payable / ratio - written
        return max(1, int(left / TOKENS_OF_THE_DENSEST_CHARACTER)) if left > 0 else 0

    @property
    def tools_fit(self) -> bool:
        """Whether the descriptions of the tools leave room for a question and an answer."""
        return not self.tools or self.held_beside(self.planned_output) >= LEAST_MESSAGES

    def held_beside(self, output: int) -> int:
        """The estimated tokens of messages that the window holds beside the tools and an output."""
        return max(0, self.in_window(self.window - output) - self.tools)

    def for_messages(self, output: int | None = None) -> int:
        """The estimated tokens that the messages may have, so that an answer fits beside them."""
        length = self.planned_output if output is None else output
        held = self.held_beside(length)
        return largest(held, lambda size: self.lacks(Sent(size + NOTES, length)) is None)

    def for_results(self) -> int:
        """The estimated tokens that the results of a turn may have together.

        Half of the window at most, and a quarter even if less is free: older results make room. If
        another turn with tools can be paid for after them, it stays possible.
        """
        held = self.held_beside(self.planned_output)
        most = min(held // 2, max(held - self.messages, held // 4))
        output = self.planned_output

        def leaves_a_turn(size: int) -> bool:
            longer = replace(self, messages=self.messages + size + NOTES)
            return longer.lacks(*longer.turn_and_last()) is None

        def leaves_the_answer(size: int) -> bool:
            return self.lacks(Sent(self.messages + size + NOTES, output)) is None

        generous = largest(most, leaves_a_turn)
        return generous if generous >= LEAST_RESULTS else largest(most, leaves_the_answer)


def largest(most: int, fits: Callable[[int], bool]) -> int:
    """The largest size up to `most` that fits; 0 if none does."""
    if fits(most):
        return most
    low, high = 0, most
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low
