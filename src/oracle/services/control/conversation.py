"""The messages of a run: how large they are, how they are told apart, how they are made smaller.

Each message is weighed once. The weight is a few numbers on the blackboard, so that the cost of a
turn does not grow with the turns before it. Only what is sent to a provider has weight: content and
calls, not the data beside them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Final, Self

from oracle.services.prompting.tokens import estimate_tokens

CHARACTERS_OF_A_TOKEN: Final = 3
"""For output that no provider has counted. Fewer than usual, so that it is not underestimated."""

EXACT_CHARACTERS: Final = 1_200
SAMPLE_CHARACTERS: Final = 400
TOKENS_AROUND_A_MESSAGE: Final = 6
KEPT_RESULTS: Final = 4
KEPT_CHARACTERS: Final = 200
_SENT: Final = ("role", "content", "tool_calls", "call_id", "name", "success")
DATA_OF_A_CONTENT: Final = ("sources", "more_uses")
"""Keys that repeat the content as data, and go where it goes."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Weight:
    """Of the first `count` messages: their estimated tokens, and a digest that identifies them."""

    count: int = 0
    tokens: int = 0
    digest: str = ""

    def with_all(self, messages: Sequence[Mapping[str, Any]]) -> Self:
        """Add those that came since; messages are only ever appended."""
        tokens, digest = self.tokens, self.digest
        for message in messages[self.count :]:
            content: str = message["content"]
            told = f"{digest}\n{message['role']}\n{content}"
            tokens += TOKENS_AROUND_A_MESSAGE + rough_tokens(content)
            if message.get("tool_calls"):
                calls = json.dumps(message["tool_calls"])
                tokens += rough_tokens(calls)
                told += f"\n{calls}"
            digest = sha256(told.encode(errors="surrogatepass")).hexdigest()[:16]
        return type(self)(count=len(messages), tokens=tokens, digest=digest)

    def to_dict(self) -> dict[str, Any]:
        return {"count": self.count, "tokens": self.tokens, "digest": self.digest}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        return cls(**data)


def with_result(
    messages: Sequence[Mapping[str, Any]], result: Mapping[str, Any]
) -> list[Mapping[str, Any]]:
    """Put a tool's result right after the call that it answers, before what the tree has said
    since: providers take it nowhere else.
    """
    place = len(messages)
    while place and messages[place - 1]["role"] == "system":
        place -= 1
    return [*messages[:place], result, *messages[place:]]


def rough_tokens(text: str) -> int:
    """Exact enough for a reserve, and quick: it is asked for every message.

    Plain English and code have three to four characters a token. Other text is estimated, a long
    one by its beginning, middle and end.
    """
    length = len(text)
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
    """Old tool results cut to their beginning, visibly; the newest stay whole."""
    results = [place for place, message in enumerate(messages) if message["role"] == "tool"]
    old = set(results[:-KEPT_RESULTS])
    shortened = [
        _shortened(message) if place in old else dict(message)
        for place, message in enumerate(messages)
    ]
    changed = sum(after != before for after, before in zip(shortened, messages, strict=True))
    return Compacted(messages=shortened, shortened=changed)


def without_data(messages: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Only what was sent: of a run that is over nothing else is needed."""
    return [{key: value for key, value in message.items() if key in _SENT} for message in messages]


def _shortened(message: Mapping[str, Any]) -> dict[str, Any]:
    content: str = message["content"]
    if len(content) <= 2 * KEPT_CHARACTERS:
        return dict(message)
    note = f"[shortened by the tree: {len(content) - KEPT_CHARACTERS} more characters were here]"
    # Sources that the model does not see any more cannot be quoted from either.
    kept = {key: value for key, value in message.items() if key not in DATA_OF_A_CONTENT}
    return {**kept, "content": f"{content[:KEPT_CHARACTERS]}\n{note}"}
