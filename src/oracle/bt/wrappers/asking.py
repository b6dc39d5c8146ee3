"""One question at work: what it says, how it is cancelled, and how it ends."""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import replace
from typing import Any, Final, TypeAlias, TypeVar

from oracle.bt.core.runtime import Outcome
from oracle.bt.wrappers.agent_recipe import services_from
from oracle.bt.wrappers.recorded_run import Recipe, RecordedRun
from oracle.errors import InputError, JournalError, LeaseHeld, OracleError, StoreError
from oracle.models.stream_chunk import ChunkType, OracleStreamChunk
from oracle.services.agent_services import AgentServices
from oracle.services.citations import places_to_remember
from oracle.services.control.last_words import Remains, last_words

log = logging.getLogger(__name__)

STOPS: Final[tuple[tuple[type[Exception], str], ...]] = (
    (InputError, "invalid_input"),
    (LeaseHeld, "held_elsewhere"),
    (StoreError, "store_failed"),
    (JournalError, "store_failed"),
)
"""Why there was no run, or none to the end. Everything else is an `internal_error`."""


Prepared = TypeVar("Prepared")
Watcher: TypeAlias = Callable[[RecordedRun], object]


class Asking:
    def __init__(self, services: AgentServices, watch: Watcher | None = None) -> None:
        self.chunks = Chunks()
        self.run_id = ""
        self._services = services
        self._watch = watch
        self._run: RecordedRun | None = None
        self._outcome: Outcome | None = None
        self._cancelled: str | None = None
        self._last_words = ""
        self._preparing: asyncio.Future[Any] | None = None

    def services(self, recipe: Recipe) -> AgentServices:
        return services_from(recipe, replace(self._services, say=self.chunks.put))

    async def prepare(
        self, work: Coroutine[Any, Any, Prepared], seconds: float | None = None
    ) -> Prepared | None:
        """What comes of it; None if the question is cancelled meanwhile, or has no time for it."""
        if self._cancelled is not None:
            work.close()
            return None
        preparing = self._preparing = asyncio.ensure_future(work)
        try:
            await asyncio.wait({preparing}, timeout=seconds)
        finally:
            preparing.cancel()
        return preparing.result() if preparing.done() and not preparing.cancelled() else None

    async def settle(self, run: RecordedRun, settle: Callable[[], Awaitable[Outcome]]) -> None:
        self._run = run
        self.run_id = run.recipe.run_id
        if self._watch is not None:
            self._watch(run)
        if self._cancelled is not None:
            run.cancel(self._cancelled)
        self.note(await settle())

    def note(self, outcome: Outcome) -> None:
        """The run has ended; what there is to keep of it can be asked for."""
        if self._outcome is None:
            self._outcome = outcome
            if not self.answer:
                self._answer_for_the_tree(outcome)

    def cancel(self, reason: str) -> None:
        self._cancelled = self._cancelled or reason
        if self._preparing is not None:
            self._preparing.cancel()
        if self._run is not None:
            self._run.cancel(reason)

    def leave(self) -> None:
        """Nobody listens any more."""
        if self._cancelled is None:
            self.cancel("nobody listens any more")

    @property
    def answer(self) -> str:
        return self._board("answer", "") or self._last_words

    def metadata(self) -> dict[str, Any]:
        """What later exchanges should know of this one."""
        classification: dict[str, Any] = self._board("classification", None) or {}
        return {
            "stop_reason": self._stop_reason,
            "usage": self._board("usage", {}),
            "failed": self._board("failed", False),
            "places_found": len(self._board("evidence", [])),
            "places": places_to_remember(self._board("evidence", [])),
            "sources_tried": self._board("sources_tried", []),
            "query_type": classification.get("query_type"),
        }

    def say_done(self, context_id: str | None) -> None:
        self._say(ChunkType.DONE, **self._done(), context_id=context_id)

    def say_broken(self, problem: Exception) -> None:
        """Even here there is an answer: what the run has, or at least why it has nothing."""
        is_ours = isinstance(problem, OracleError)
        if not is_ours:
            log.error("run %s broke", self.run_id, exc_info=problem)
        told = str(problem) if is_ours else f"{type(problem).__name__}: {problem}"
        self._say(ChunkType.ERROR, content=told)
        stop = next((stop for kind, stop in STOPS if isinstance(problem, kind)), "internal_error")
        done = self._done() | {"stop_reason": stop, "detail": told}
        if not done["answer"]:
            done["answer"] = self._what_there_is(stop, told)
        self._say(ChunkType.DONE, **done, context_id=None)

    def _done(self) -> dict[str, Any]:
        """The data of `done` but for the exchange."""
        return {
            "answer": self.answer,
            "stop_reason": self._stop_reason,
            "error_kind": None,
            "detail": self._board("stop_detail", ""),
            "caveat": self._board("caveat", None),
            "tried": self._board("tried", []),
            "missing": self._board("missing", []),
            "usage": self._board("usage", {}),
            "run_id": self.run_id,
        }

    @property
    def _stop_reason(self) -> str:
        if self._run is None or self._outcome is None:
            return "internal_error"
        return self._run.ending(self._outcome)[0]

    def _answer_for_the_tree(self, outcome: Outcome) -> None:
        """A tree whose finish branch is missing, or broke, has not said a word."""
        self._last_words = self._what_there_is(self._stop_reason, outcome.detail)
        self._say(ChunkType.CONTENT, content=self._last_words)
        self._say(ChunkType.TURN_END, outcome="answer", usage=self._board("usage", {}))

    def _what_there_is(self, stop: str, detail: str) -> str:
        response: dict[str, Any] = self._board("response", None) or {}
        return last_words(
            Remains(
                stop_reason=stop,
                detail=detail,
                text=self._board("answer_so_far", "") or response.get("text", ""),
                is_cut=False,
                places=self._board("evidence", []),
                tried=self._board("tried", []),
                missing=self._board("missing", []),
            )
        )

    def _board(self, key: str, default: Any) -> Any:
        """What the run has there; a tree of somebody's own need not have all our keys."""
        if self._run is None or key not in self._run.board:
            return default
        return self._run.board.get(key)

    def _say(self, type_: ChunkType, **data: Any) -> None:
        turn = 0 if self._run is None else self._run.tree_run.context.turn
        self.chunks.put(OracleStreamChunk(type=type_, turn=turn, data=data))


class Chunks:
    """From the run to whoever listens, without a limit: a slow reader must not stop the tree."""

    def __init__(self) -> None:
        self._waiting: deque[OracleStreamChunk] = deque()
        self._news: asyncio.Future[None] | None = None
        self._is_closed = False

    def put(self, chunk: OracleStreamChunk) -> None:
        self._waiting.append(chunk)
        self._tell()

    def close(self) -> None:
        self._is_closed = True
        self._tell()

    async def get(self) -> OracleStreamChunk | None:
        while not self._waiting and not self._is_closed:
            self._news = asyncio.get_running_loop().create_future()
            await self._news
        return self._waiting.popleft() if self._waiting else None

    def _tell(self) -> None:
        if self._news is not None and not self._news.done():
            self._news.set_result(None)
