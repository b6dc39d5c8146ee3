"""What the leaves of a run may call on. All of it is exchangeable, most of it for tests."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from oracle.models.prompt_segment import PromptSegment
from oracle.models.stream_chunk import OracleStreamChunk
from oracle.services.control.sufficiency import Sufficiency, heuristic_sufficiency
from oracle.services.fallback_classifier import FallbackClassifier, heuristic_classify
from oracle.services.llm.protocol import Model
from oracle.services.prompting.segment_files import built_in_segments
from oracle.services.tools.protocol import Tools

Approve: TypeAlias = Callable[[Mapping[str, Any]], Awaitable[bool]]
"""Asks a person, with the data of an `approval` chunk, and answers yes or no."""


def _to_nobody(_: OracleStreamChunk) -> None:
    """Nobody listens."""


@dataclass(frozen=True, kw_only=True, slots=True)
class AgentServices:
    """Without a model and tools it serves a replay, which asks neither.

    Without `approve` nobody can be asked, and what needs a yes is refused.
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
