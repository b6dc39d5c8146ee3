"""What a run can spend on the parts of a broad question: tool uses, tokens, money and room.

All arithmetic on parts and the ledger is here, so that conditions and actions agree.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from oracle.services.control.conversation import rough_tokens
from oracle.services.control.ledger import Ledger, Reserve, Resource
from oracle.services.coverage.extracts import LONGEST_EXTRACT
from oracle.services.coverage.merging import MOST_TOKENS_WHOLE, tokens_of
from oracle.services.coverage.parts import ASKED_ABOUT, Part, to_read
from oracle.services.llm.protocol import Prices

SHARE_KEPT_FOR_THE_MODEL: Final = 5
"""A fifth (1 / 5) of the uses of each tool is left to the model."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Purse:
    """What a run can still spend on parts without using the reserve for its last answer."""

    ledger: Ledger
    reserve: Reserve
    prices: Prices | None
    window_left: int
    now: float

    def has_room_for(self, tokens: int) -> bool:
        """Whether that many tokens may be added to the conversation.

        They are paid twice: with the next request and with the last one.
        """
        scarce = self._scarce_after(2 * tokens, 2 * self._cost(tokens, 0))
        return tokens <= self.window_left and scarce not in ("tokens", "money")

    def can_ask_about(self, parts: Sequence[Part], prompt: str) -> bool:
        """Whether there is enough for a request about each of these parts and for their results.

        False without a prompt, because no such request can be made then.
        """
        sent = [rough_tokens(prompt + part["text"]) for part in parts]
        tokens = sum(sent) + LONGEST_EXTRACT * len(sent) + MOST_TOKENS_WHOLE
        money = sum(self._cost(n, LONGEST_EXTRACT) for n in sent)
        money += self._cost(MOST_TOKENS_WHOLE, 0)
        return bool(prompt) and self._scarce_after(tokens, money) is None

    def are_too_much(self, parts: Sequence[Part]) -> bool:
        """Whether the whole texts of the parts are too long, so that extracts are needed.

        It stays true after some of them have become extracts, which are shorter.
        """
        was_asked = any(part["state"] in ASKED_ABOUT for part in parts)
        tokens = tokens_of(parts)
        return was_asked or tokens > MOST_TOKENS_WHOLE or not self.has_room_for(tokens)

    def _cost(self, input_tokens: int, output_tokens: int) -> float:
        return 0.0 if self.prices is None else self.prices.cost(input_tokens, output_tokens)

    def _scarce_after(self, tokens: int, money: float) -> Resource | None:
        """What would be scarce then. Turns do not count: a request about a part is not a turn."""
        after = replace(self.ledger.with_usage(tokens, money), turns=0)
        return after.at_reserve(self.now, self.reserve)


def may_be_read(part: Part, ledger: Ledger) -> bool:
    most = ledger.limits.uses_of_a_tool
    most -= most // SHARE_KEPT_FOR_THE_MODEL
    return part["state"] == "open" and ledger.uses.get(part["tool"], 0) < most


def how_many_may_be_read(parts: Sequence[Part], ledger: Ledger) -> int:
    """Counted one by one, because each takes a use of its tool from the next."""
    count = 0
    for part in (parts[n] for n in to_read(parts)):
        if may_be_read(part, ledger):
            ledger = ledger.with_use(part["tool"])
            count += 1
    return count
