"""The services that a run of the agent uses. All of them can be replaced, for example in tests."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Any, Protocol, TypeAlias

from oracle.lazy_dataclass import dataclass
from oracle.models.prompt_segment import PromptSegment
from oracle.models.query_classification import QueryClassification
from oracle.models.stream_chunk import OracleStreamChunk
from oracle.services.bert.bert import Bert
from oracle.services.classification.classifier import classify_query
from oracle.services.control.sufficiency import Sufficiency, heuristic_sufficiency
from oracle.services.fallback_classifier import FallbackClassifier, heuristic_classify
from oracle.services.llm.protocol import Model
from oracle.services.prompting.segment_files import built_in_segments
from oracle.services.tools.protocol import Tools

Approve: TypeAlias = Callable[[dict[str, Any]], Awaitable[bool] | bool]
"""Asks a person, with the data of an `approval` chunk. Returns whether the person approves. A plain
function is called in a thread, so it may wait for a keyboard.
"""


class QueryClassifier(Protocol):
    def __call__(
        self,
        query: str,
        conversation_history: Iterable[object] = (),
        known_terms: Mapping[str, int] | None = None,
        /,
    ) -> QueryClassification: ...


class Sources(Protocol):
    """What the agent needs from a project before it answers a question."""

    def at_hand(self) -> AbstractAsyncContextManager[None]:
        """Keeps the index up to date with the files inside the block. It never raises."""
        ...

    async def known(self, terms: Sequence[str]) -> Mapping[str, int] | None:
        """The terms that name something in the project, and the number of files that have each;
        None if that cannot be found out. The project's own name has the number 0.
        """
        ...


def _ignore(_: OracleStreamChunk) -> None:
    """Ignore the chunk: nobody listens."""


@dataclass(frozen=True, kw_only=True, slots=True)
class AgentServices:
    """The services of the tree's leaves. A replay needs neither a model nor tools.

    `say` puts a chunk into the stream. Without `approve` there is no person to ask, and whatever
    needs approval is refused. `bert` gives a second opinion, for what its `uses` say.
    """

    model: Model | None = None
    tools: Tools | None = None
    say: Callable[[OracleStreamChunk], None] = _ignore
    approve: Approve | None = None
    segments: tuple[PromptSegment, ...] = ()
    classify: QueryClassifier = classify_query
    classify_fallback: FallbackClassifier = heuristic_classify
    is_sufficient: Sufficiency = heuristic_sufficiency
    bert: Bert | None = None

    @property
    def prompt_segments(self) -> tuple[PromptSegment, ...]:
        return self.segments or built_in_segments()
