"""How a run ended: what `done` says, what the exchange keeps, and an answer for want of one."""

from __future__ import annotations

from collections import deque
from typing import Any, Final

from oracle.bt.core.runtime import Outcome
from oracle.bt.wrappers.recorded_tree import RecordedTree
from oracle.errors import (
    InputError,
    JournalError,
    LeaseHeld,
    SpendLimitReached,
    StoreError,
    TimedOut,
)
from oracle.models.stream_chunk import ChunkType, OracleStreamChunk
from oracle.services.ans.event import Event
from oracle.services.citations import holds, places_to_remember
from oracle.services.control.unfinished_answer import UnfinishedRun, unfinished_answer
from oracle.services.prompting.project_facts import WARNINGS
from oracle.services.signals.said import is_visible, place_in_answer

STOPS: Final[tuple[tuple[type[Exception], str], ...]] = (
    (InputError, "invalid_input"),
    (LeaseHeld, "held_elsewhere"),
    (SpendLimitReached, "spend_limit"),
    (StoreError, "store_failed"),
    (JournalError, "store_failed"),
    (TimedOut, "time_limit"),
)
"""The stop reasons of exceptions that break a run. Any other is an `internal_error`."""

SIGNALS_KEPT: Final = ("signal.received", "signal.ignored", "signal.malformed")
MOST_SIGNALS: Final = 200
"""The newest signals of a run are kept with its exchange. The events have all of them."""


class RunEnd:
    """Reads it from the board of the tree. Without a tree, the run was never begun."""

    def __init__(self) -> None:
        self.tree: RecordedTree | None = None
        self.last_words = ""
        # Also those of a recorded past, so that a resumed run keeps all of them.
        self.signals: deque[Event] = deque(maxlen=MOST_SIGNALS)

    def of(self, tree: RecordedTree) -> None:
        self.tree = tree
        tree.bus.subscribe(self.signals.append, SIGNALS_KEPT)

    def warnings(self) -> list[OracleStreamChunk]:
        """What the run says before its tree says anything."""
        told: list[str] = self.read("facts", {}).get(WARNINGS, [])
        return [
            OracleStreamChunk(type=ChunkType.SYSTEM, data={"content": each, "severity": "warning"})
            for each in told
        ]

    def words_for_the_tree(self, outcome: Outcome) -> list[OracleStreamChunk]:
        """An answer for a tree whose finish branch is missing or broken. Else there are none."""
        if self.answer or self.tree is None:
            return []
        self.last_words = self.what_there_is(self.stop_reason, outcome.detail)
        turn = self.tree.tree_run.context.turn
        said = {"content": self.last_words}
        end = {"outcome": "answer", "usage": self.read("usage", {})}
        return [
            OracleStreamChunk(type=ChunkType.CONTENT, turn=turn, data=said),
            OracleStreamChunk(type=ChunkType.TURN_END, turn=turn, data=end),
        ]

    def done(self) -> dict[str, Any]:
        """The data of `done` but for the exchange."""
        return {
            "answer": self.answer,
            "stop_reason": self.stop_reason,
            "error_kind": self.error_kind,
            "detail": self.read("stop_detail", ""),
            "caveat": self.read("caveat", None),
            "tried": self.read("tried", []),
            "missing": self.read("missing", []),
            "usage": self.read("usage", {}),
            "run_id": "" if self.tree is None else self.tree.id,
        }

    def metadata(self) -> dict[str, Any]:
        """What later exchanges should know of this one."""
        classification: dict[str, Any] = self.read("classification", None) or {}
        return {
            "stop_reason": self.stop_reason,
            "usage": self.read("usage", {}),
            "failed": self.read("failed", False),
            "attached_characters": self._attached_characters(),
            "attached": [source["where"] for source in self.read("attached", [])],
            "places_found": len(self.read("evidence", [])),
            "places": places_to_remember(self.read("evidence", []), self.read("attachment", "")),
            "sources_tried": self.read("sources_tried", []),
            "query_type": classification.get("query_type"),
            "signals": [self._signal_data(event) for event in self.signals],
            "citations": self._citations(),
        }

    def _citations(self) -> dict[str, int] | None:
        """How many the answer has, and how many of them hold; None if they were not checked."""
        found: list[dict[str, Any]] | None = self.read("citations", None)
        if found is None:
            return None
        return {"of": len(found), "hold": sum(map(holds, found))}

    def _attached_characters(self) -> int:
        """A text that shows nothing is no attachment: a later question cannot be about it."""
        texts = [self.read("attachment", ""), *(s["text"] for s in self.read("attached", []))]
        return sum(len(text) for text in texts if is_visible(text))

    def _signal_data(self, event: Event) -> dict[str, Any]:
        """A signal of the run, and its place in the answer if it was there."""
        assert self.tree is not None
        place: int | None = None
        at = event.payload["at"]
        if event.turn == self.tree.tree_run.context.turn and at is not None:
            response: dict[str, Any] = self.read("response", None) or {}
            place = place_in_answer(at, response.get("text", ""), self.answer)
        data = {"event": event.type, "turn": event.turn, **event.payload}
        return {**data, "in_answer": place}

    def broken(self, problem: Exception, told: str) -> dict[str, Any]:
        """The last chunk of a run that an error broke, with what it has."""
        stop = next((stop for kind, stop in STOPS if isinstance(problem, kind)), "internal_error")
        kind = type(problem).__name__
        done = self.done() | {"stop_reason": stop, "error_kind": kind, "detail": told}
        # Only a whole answer lacks nothing.
        lacks = "the rest of the answer" if done["answer"] else "an answer of the model"
        done["missing"] = done["missing"] or [lacks]
        done["answer"] = done["answer"] or self.what_there_is(stop, told)
        return done

    def what_there_is(self, stop: str, detail: str) -> str:
        response: dict[str, Any] = self.read("response", None) or {}
        return unfinished_answer(
            UnfinishedRun(
                stop_reason=stop,
                detail=detail,
                text=self.read("answer_so_far", "") or response.get("text", ""),
                is_cut=False,
                places=self.read("evidence", []),
                tried=self.read("tried", []),
                missing=self.read("missing", []),
            )
        )

    @property
    def answer(self) -> str:
        return self.read("answer", "") or self.last_words

    @property
    def stop_reason(self) -> str:
        if self.tree is None or self.tree.outcome is None:
            return "internal_error"
        return self.tree.ending(self.tree.outcome)[0]

    @property
    def error_kind(self) -> str | None:
        """The class of the error that ended the tree, if an error did."""
        if self.tree is None or self.tree.outcome is None:
            return None
        error: Exception | None = self.tree.outcome.error
        if error is None and self.stop_reason == "model_unavailable":
            error = self.tree.tree_run.context.failure
        return None if error is None else type(error).__name__

    def read(self, key: str, default: Any) -> Any:
        return default if self.tree is None else self.tree.read(key, default)
