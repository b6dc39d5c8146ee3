"""The messages of a run: their estimated size, their identity and their order.

Each message is measured once. The result is a few numbers on the blackboard, so a turn does not
cost more because of the turns before it. Only what is sent to a provider is measured: contents and
calls, not the structured data beside them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from hashlib import sha256
from math import ceil
from typing import Any, Final, Self

from oracle.lazy_dataclass import dataclass
from oracle.services.prompting.tokens import estimate_tokens

TOKENS_OF_A_CHARACTER: Final = 0.3
"""English and code have 3 to 4 characters per token, so this is on the safe side."""
QUICK_CHARACTERS: Final = 300
"""Up to this length ASCII is estimated by its length alone: the error is a few tokens."""
EXACT_CHARACTERS: Final = 1_200
"""Up to this length a text is estimated as a whole."""
SAMPLES: Final = 12
SAMPLE_CHARACTERS: Final = 100
"""How many samples are taken of a longer text, and the length of each."""
TOKENS_AROUND_A_MESSAGE: Final = 6
"""The role and the separators that providers add to each message, rounded up."""
_SENT: Final = ("role", "content", "tool_calls", "call_id", "name", "success")


@dataclass(frozen=True, kw_only=True, slots=True)
class Weight:
    """The first `count` messages: their estimated tokens, and a digest that identifies them."""

    count: int = 0
    tokens: int = 0
    digest: str = ""

    def with_all(self, messages: Sequence[Mapping[str, Any]]) -> Self:
        """Add the messages after the first `count`. Messages are only ever appended."""
        tokens, digest = self.tokens, self.digest
        for message in messages[self.count :]:
            content: str = message["content"]
            # Each digest contains the one before it, so it identifies the whole conversation.
            identity = f"{digest}\n{message['role']}\n{content}"
            tokens += tokens_of(message)
            if message.get("tool_calls"):
                identity += f"\n{json.dumps(message['tool_calls'])}"
            digest = sha256(identity.encode(errors="surrogatepass")).hexdigest()[:16]
        return type(self)(count=len(messages), tokens=tokens, digest=digest)

    def to_dict(self) -> dict[str, Any]:
        return {"count": self.count, "tokens": self.tokens, "digest": self.digest}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        return cls(**data)


def tokens_of(message: Mapping[str, Any]) -> int:
    """The weight of a conversation is the sum of these, so a part of it needs no new count."""
    calls = message.get("tool_calls")
    content: str = message["content"]
    tokens = TOKENS_AROUND_A_MESSAGE + rough_tokens(content)
    return tokens + rough_tokens(json.dumps(calls)) if calls else tokens


def with_result(
    messages: Sequence[Mapping[str, Any]], result: Mapping[str, Any]
) -> list[Mapping[str, Any]]:
    """Insert a tool's result before the system messages that the tree has added at the end.

    Providers accept a result only directly after its call.
    """
    place = len(messages)
    while place and messages[place - 1]["role"] == "system":
        place -= 1
    return [*messages[:place], result, *messages[place:]]


def rough_tokens(text: str) -> int:
    """A quick estimate, exact enough for a reserve. It is needed for every message.

    Of a long text only samples are read. Base64, digits and other dense text have up to three times
    the tokens of prose, so the length alone is not enough.
    """
    length = len(text)
    by_length = ceil(length * TOKENS_OF_A_CHARACTER) if text.isascii() else 0
    if by_length and length <= QUICK_CHARACTERS:
        return by_length
    if length <= EXACT_CHARACTERS:
        return max(by_length, estimate_tokens(text))
    step = (length - SAMPLE_CHARACTERS) / (SAMPLES - 1)
    starts = (int(step * number) for number in range(SAMPLES))
    found = sum(estimate_tokens(text[at : at + SAMPLE_CHARACTERS]) for at in starts)
    return max(by_length, found * length // (SAMPLES * SAMPLE_CHARACTERS))


def without_data(messages: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Only what was sent to a provider: after a run nothing else is needed."""
    return [{key: value for key, value in message.items() if key in _SENT} for message in messages]
