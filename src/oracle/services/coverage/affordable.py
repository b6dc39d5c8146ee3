"""What a run can spend on the parts of a broad question: tool uses, tokens, money and room.

All arithmetic on parts and the ledger is here, so that conditions and actions agree.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from oracle.lazy_dataclass import dataclass
from oracle.services.control.conversation import rough_tokens
from oracle.services.control.ledger import Ledger, Resource
from oracle.services.control.room import Room, Sent
from oracle.services.coverage.extracts import LONGEST_EXTRACT
from oracle.services.coverage.merging import MOST_TOKENS_WHOLE, tokens_of
from oracle.services.coverage.parts import ASKED_ABOUT, Part, to_read

SHARE_KEPT_FOR_THE_MODEL: Final = 5
"""A fifth (1 / 5) of the uses of each tool is left to the model."""

MOST_AROUND: Final = 700
"""Estimated tokens of the question in a request about a part. It is cut to 2,000 characters."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Purse:
    """What a run can still spend on parts without using the reserve for its last answer."""

    room: Room
    window_left: int

    def has_room_for(self, tokens: int) -> bool:
        """Whether that many tokens may be added to the conversation.

        They are paid twice: with the next request and with the last one.
        """
        return tokens <= self.window_left and self._lacks_after(tokens) is None

    def can_ask_about(self, parts: Sequence[Part], prompt: str) -> bool:
        """Whether there is enough for a request about each of these parts and for their results.

        False without a prompt, because no such request can be made then.
        """
        asked = [
            Sent(rough_tokens(prompt) + rough_tokens(part["text"]) + MOST_AROUND, LONGEST_EXTRACT)
            for part in parts
        ]
        is_in_time = self.room.ledger.left("seconds", self.room.now) > self.room.ledger.seconds_kept
        return (
            bool(prompt)
            and is_in_time
            and self._lacks_after(LONGEST_EXTRACT * len(parts), *asked) is None
        )

    def are_too_much(self, parts: Sequence[Part]) -> bool:
        """Whether the whole texts of the parts are too long, so that extracts are needed.

        It stays true after some of them have become extracts, which are shorter.
        """
        was_asked = any(part["state"] in ASKED_ABOUT for part in parts)
        tokens = tokens_of(parts)
        return was_asked or tokens > MOST_TOKENS_WHOLE or not self.has_room_for(tokens)

    def _lacks_after(self, tokens: int, *asked: Sent) -> Resource | None:
        """What cannot be paid: these requests, then a turn and the last answer with the tokens."""
        longer = replace(self.room, messages=self.room.messages + tokens)
        return longer.lacks(*asked, *longer.turn_and_last())


def may_be_read(part: Part, ledger: Ledger) -> bool:
    most = ledger.limits.uses_of_a_tool
    most -= most // SHARE_KEPT_FOR_THE_MODEL
    return part["state"] == "open" and ledger.uses.get(part["tool"], 0) < most


def which_may_be_read(parts: Sequence[Part], ledger: Ledger, most: int) -> list[int]:
    """Their numbers. Counted one by one, because each takes a use of its tool from the next."""
    found: list[int] = []
    for number in to_read(parts, most):
        if may_be_read(parts[number], ledger):
            ledger = ledger.with_use(parts[number]["tool"])
            found.append(number)
    return found
