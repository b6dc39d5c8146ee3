"""Check the answer's citations against what was read, and show the sources next to them."""

from __future__ import annotations

from typing import Any

from oracle.bt.board import bb_get, bb_set, board_of
from oracle.bt.core.context import TickContext
from oracle.bt.core.leaves import action
from oracle.bt.report import say
from oracle.bt.state.base import SUCCESS, RunStatus
from oracle.bt.state.blackboard import TypedBlackboard
from oracle.models.stream_chunk import ChunkType
from oracle.services.citations import are_cited, check_answer
from oracle.services.control.conversation import without_data
from oracle.services.control.unfinished_answer import UnfinishedRun, own_words
from oracle.services.coverage.parts import as_results, without_texts
from oracle.services.prompting.project_facts import folders_of

_WORDED = ["stop_reason", "stop_detail", "tried", "missing"]


@action(
    reads=["answer", "evidence", "messages", "parts", "history", "attachment", "facts", *_WORDED],
    writes=["answer", "citations"],
)
def check_citations(ctx: TickContext) -> RunStatus:
    """Mark those that do not resolve. Only the board is read, so a replay marks the same ones."""
    bb = board_of(ctx)
    history: list[dict[str, Any]] = bb_get(bb, "history")
    checked = check_answer(
        bb_get(bb, "answer"),
        evidence=bb_get(bb, "evidence"),
        messages=[*bb_get(bb, "messages"), *as_results(bb_get(bb, "parts"))],
        earlier=[place for said in history for place in said["metadata"].get("places", ())],
        attachment=bb_get(bb, "attachment"),
        own_words=_own_words(bb),
        folders=folders_of(bb_get(bb, "facts")),
    )
    bb_set(bb, "answer", checked.answer)
    bb_set(bb, "citations", checked.citations)
    return SUCCESS


@action(
    reads=["evidence", "citations", "messages", "parts"],
    writes=["messages", "parts"],
)
def say_sources(ctx: TickContext) -> RunStatus:
    """Send the places that were found or read, each cited or not; null if nothing was checked.

    Nothing after this needs the data of the results. It is dropped here, because the record of the
    end holds the board, and the results are on record already.
    """
    bb = board_of(ctx)
    evidence: list[dict[str, Any]] = bb_get(bb, "evidence")
    citations: list[dict[str, Any]] | None = bb_get(bb, "citations")
    cited = [None] * len(evidence) if citations is None else are_cited(evidence, citations)
    sources = [{**_shown(place), "cited": c} for place, c in zip(evidence, cited, strict=True)]
    say(ctx, ChunkType.SOURCES, sources=sources, citations=citations)
    if messages := bb_get(bb, "messages"):
        bb_set(bb, "messages", without_data(messages))
    if parts := bb_get(bb, "parts"):
        bb_set(bb, "parts", without_texts(parts))
    return SUCCESS


def _own_words(bb: TypedBlackboard) -> list[str]:
    """What the tree said in an answer that it wrote in the model's place."""
    return own_words(
        UnfinishedRun(
            stop_reason=bb_get(bb, "stop_reason"),
            detail=bb_get(bb, "stop_detail"),
            tried=bb_get(bb, "tried"),
            missing=bb_get(bb, "missing"),
        )
    )


def _shown(place: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in place.items() if name not in ("name", "call", "listed")}
