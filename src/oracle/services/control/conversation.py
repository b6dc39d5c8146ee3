"""The messages of a run: their estimated size, their identity, and how to shorten them.

Each message is measured once. The result is a few numbers on the blackboard, so a turn does not
cost more because of the turns before it. Only what is sent to a provider is measured: contents and
calls, not the structured data beside them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Final, Self

from oracle.services.prompting.tokens import estimate_tokens

CHARACTERS_OF_A_TOKEN: Final = 3
"""For output that no provider has counted. Lower than usual, so the estimate is not too small."""

EXACT_CHARACTERS: Final = 1_200
"""Up to this length a text is estimated as a whole."""
SAMPLE_CHARACTERS: Final = 400
"""The length of each of the three samples of a longer text."""
TOKENS_AROUND_A_MESSAGE: Final = 6
"""The role and the separators that providers add to each message, rounded up."""
KEPT_RESULTS: Final = 4
"""The newest tool results, which compaction leaves whole: the model is still working with them."""
KEPT_CHARACTERS: Final = 200
"""What compaction keeps of an older result: enough to see what it was."""
_SENT: Final = ("role", "content", "tool_calls", "call_id", "name", "success")
DATA_OF_A_CONTENT: Final = ("sources", "more_uses")
"""Keys that repeat the content as data. They are removed together with the content."""


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
            tokens += TOKENS_AROUND_A_MESSAGE + rough_tokens(content)
            if message.get("tool_calls"):
                calls = json.dumps(message["tool_calls"])
                tokens += rough_tokens(calls)
                identity += f"\n{calls}"
            digest = sha256(identity.encode(errors="surrogatepass")).hexdigest()[:16]
        return type(self)(count=len(messages), tokens=tokens, digest=digest)

    def to_dict(self) -> dict[str, Any]:
        return {"count": self.count, "tokens": self.tokens, "digest": self.digest}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        return cls(**data)


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

    Other text than ASCII is estimated from its words. Of a long one only the beginning, the middle
    and the end are read.
    """
    length = len(text)
    # English and code have 3 to 4 characters per token. 0.3 tokens per character, rounded up, is
    # on the safe side.
    if text.isascii():
        return (length * 3 + 9) // 10
    if length <= EXACT_CHARACTERS:
        return estimate_tokens(text)
    middle = length // 2
    sample = text[:SAMPLE_CHARACTERS] + text[-SAMPLE_CHARACTERS:]
    sample += text[middle : middle + SAMPLE_CHARACTERS]
    return estimate_tokens(sample) * length // len(sample)


@dataclass(frozen=True, kw_only=True, slots=True)
class Compacted:
    messages: list[dict[str, Any]]
    shortened: int


def compacted(messages: Sequence[Mapping[str, Any]]) -> Compacted:
    """Cut old tool results to their beginning, with a note that says so."""
    results = [place for place, message in enumerate(messages) if message["role"] == "tool"]
    old = set(results[:-KEPT_RESULTS])
    shortened = [
        _shortened(message) if place in old else dict(message)
        for place, message in enumerate(messages)
    ]
    changed = sum(after != before for after, before in zip(shortened, messages, strict=True))
    return Compacted(messages=shortened, shortened=changed)


def without_data(messages: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Only what was sent to a provider: after a run nothing else is needed."""
    return [{key: value for key, value in message.items() if key in _SENT} for message in messages]


def _shortened(message: Mapping[str, Any]) -> dict[str, Any]:
    content: str = message["content"]
    if len(content) <= 2 * KEPT_CHARACTERS:
        return dict(message)
    note = f"[shortened by the tree: {len(content) - KEPT_CHARACTERS} more characters were here]"
    # The model does not see these sources any more, so it must not quote from them either.
    kept = {key: value for key, value in message.items() if key not in DATA_OF_A_CONTENT}
    return {**kept, "content": f"{content[:KEPT_CHARACTERS]}\n{note}"}
