"""What the question needs, and whether the run has it."""

from __future__ import annotations

import logging
from typing import Any, Final

from oracle.bt.actions.oracle import bb_get
from oracle.bt.actions.state import board_of, classification_of, granted_tools
from oracle.bt.actions.telling import services_of
from oracle.bt.core.context import TickContext
from oracle.bt.core.leaves import condition
from oracle.services.control.sufficiency import (
    BARREN_CALLS,
    Evidence,
    Verdict,
    heuristic_sufficiency,
)

log = logging.getLogger(__name__)

FAILURES_BEFORE_ADVICE: Final = 2
_OFFER: Final = ("granted", "withdrawn", "tools_withdrawn", "tool_list")
_WEIGHED: Final = ("evidence", "new_by_call", "sources_tried")


@condition(reads=["evidence", "earlier_evidence", "topic_shift", "classification", "attachment"])
def has_evidence(ctx: TickContext) -> bool:
    """Say whether a claim to know enough can be believed.

    This run gathered something, or an earlier exchange on the same topic, or the user attached it,
    or the question needs nothing.
    """
    bb = board_of(ctx)
    return (
        bool(bb_get(bb, "evidence"))
        or (bb_get(bb, "earlier_evidence") > 0 and not bb_get(bb, "topic_shift"))
        or bool(bb_get(bb, "attachment"))
        or not classification_of(bb).needs_any_source
    )


@condition(reads=_OFFER)
def has_nothing_to_search_with(ctx: TickContext) -> bool:
    return all(spec.writes for spec in granted_tools(board_of(ctx)))


@condition(reads=[*_WEIGHED, *_OFFER])
def enough_is_there(ctx: TickContext) -> bool:
    return _verdict(ctx) is Verdict.ENOUGH


@condition(reads=[*_WEIGHED, *_OFFER])
def nothing_was_found(ctx: TickContext) -> bool:
    return _verdict(ctx) is Verdict.NOTHING


@condition(reads=["evidence", "new_by_call", "strategy_applied"])
def nothing_comes_of_this_strategy(ctx: TickContext) -> bool:
    """Say whether nothing was found by three calls for each strategy taken, and three before."""
    bb = board_of(ctx)
    had_its_time = len(bb_get(bb, "new_by_call")) // BARREN_CALLS > bb_get(bb, "strategy_applied")
    return had_its_time and not bb_get(bb, "evidence")


@condition(reads=["tool_results", "was_advised"])
def calls_keep_failing(ctx: TickContext) -> bool:
    """Say whether two calls of this run have failed, and the model was not advised yet."""
    bb = board_of(ctx)
    results: list[dict[str, Any]] = bb_get(bb, "tool_results")
    failed = sum(result["run"] and not result["success"] for result in results)
    return failed >= FAILURES_BEFORE_ADVICE and not bb_get(bb, "was_advised")


def _verdict(ctx: TickContext) -> Verdict:
    bb = board_of(ctx)
    evidence = Evidence(
        places=bb_get(bb, "evidence"),
        new_by_call=bb_get(bb, "new_by_call"),
        sources_offered={spec.source for spec in granted_tools(bb) if spec.source},
        sources_tried=bb_get(bb, "sources_tried"),
    )
    try:
        return Verdict(services_of(ctx).is_sufficient(evidence))
    except Exception as problem:
        log.warning("the heuristic judges, because the function in place failed: %r", problem)
        return heuristic_sufficiency(evidence)
