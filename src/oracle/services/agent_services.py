"""What a run of the agent may call on. All of it can be replaced, most of it for tests."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

from oracle.models.prompt_segment import PromptSegment
from oracle.models.stream_chunk import OracleStreamChunk
from oracle.services.control.sufficiency import Sufficiency, heuristic_sufficiency
from oracle.services.fallback_classifier import FallbackClassifier, heuristic_classify
from oracle.services.llm.protocol import Model
from oracle.services.prompting.segment_files import built_in_segments
from oracle.services.tools.protocol import Tools

Approve: TypeAlias = Callable[[Mapping[str, Any]], Awaitable[bool]]
"""Asks a person, with the data of an `approval` chunk; returns whether the answer is yes."""


class Sources(Protocol):
    """What the agent asks of a project before a question begins."""

    def at_hand(self) -> AbstractAsyncContextManager[None]:
        """Up to date with the files while a question is answered. It never fails."""
        ...

    async def known(self, terms: Sequence[str]) -> Sequence[str] | None:
        """The terms that name something in the project; None where that is not known."""
        ...


def _to_nobody(_: OracleStreamChunk) -> None:
    """Nobody listens."""


@dataclass(frozen=True, kw_only=True, slots=True)
class AgentServices:
    """What the leaves call on. Without a model and tools it serves a replay, which asks neither.

    `say` puts a chunk into the stream. Without `approve` there is no person to ask, and what needs
    a yes is refused.
    """

    model: Model | None = None
    tools: Tools | None = None
    say: Callable[[OracleStreamChunk], None] = _to_nobody
    approve: Approve | None = None
    segments: tuple[PromptSegment, ...] = ()
    classify_fallback: FallbackClassifier = heuristic_classify
    is_sufficient: Sufficiency = heuristic_sufficiency

    @property
    def prompt_segments(self) -> tuple[PromptSegment, ...]:
        return self.segments or built_in_segments()
