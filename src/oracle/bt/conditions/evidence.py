"""What has been gathered, and whether it is enough for this question."""

from __future__ import annotations

import logging
from typing import Any

from oracle.bt.board import (
    OFFER,
    bb_get,
    board_of,
    classification_of,
    granted_tools,
    services_of,
)
from oracle.bt.core.context import TickContext
from oracle.bt.core.leaves import condition
from oracle.services.control.sufficiency import Evidence, Verdict, heuristic_sufficiency

log = logging.getLogger(__name__)

_WEIGHED = ("evidence", "new_by_call", "sources_tried")


@condition(reads=["evidence", "earlier_evidence", "topic_shift", "classification", "attachment"])
def backs_the_claim(ctx: TickContext) -> bool:
    """Whether a claim to know enough can be believed.

    This run gathered something, or an earlier exchange on the same topic did, or the user attached
    it, or the question needs no source.
    """
    bb = board_of(ctx)
    return (
        bool(bb_get(bb, "evidence"))
        or (bb_get(bb, "earlier_evidence") > 0 and not bb_get(bb, "topic_shift"))
        or bool(bb_get(bb, "attachment"))
        or not classification_of(bb).needs_any_source
    )


@condition(reads=["sources_tried", "evidence", "classification"])
def was_searched_for_in_vain(ctx: TickContext) -> bool:
    """Whether a question that needs sources has tried some, and none brought anything."""
    bb = board_of(ctx)
    searched = bool(bb_get(bb, "sources_tried")) and not bb_get(bb, "evidence")
    return searched and classification_of(bb).needs_any_source


@condition(reads=OFFER)
def a_reading_tool_is_on_offer(ctx: TickContext) -> bool:
    return not no_reading_tool_is_on_offer(ctx)


@condition(reads=OFFER)
def no_reading_tool_is_on_offer(ctx: TickContext) -> bool:
    """Whether no tool on offer reads anything."""
    return all(spec.writes for spec in granted_tools(board_of(ctx)))


@condition(reads=[*_WEIGHED, *OFFER])
def is_enough(ctx: TickContext) -> bool:
    return _verdict(ctx) is Verdict.ENOUGH


@condition(reads=[*_WEIGHED, *OFFER])
def was_not_found_anywhere(ctx: TickContext) -> bool:
    """Whether nothing was found, in no source on offer."""
    return _verdict(ctx) is Verdict.NOTHING


@condition(reads=["evidence", "new_by_call", "strategies_tried"])
def strategies_keep_finding_nothing(ctx: TickContext, calls: int) -> bool:
    """Whether nothing was found by this many calls for each strategy tried, and as many before."""
    bb = board_of(ctx)
    had_its_time = len(bb_get(bb, "new_by_call")) // calls > bb_get(bb, "strategies_tried")
    return had_its_time and not bb_get(bb, "evidence")


@condition(reads=["tool_results"])
def calls_have_failed(ctx: TickContext, failures: int) -> bool:
    """Whether so many calls of this run have failed, in a row or not."""
    results: list[dict[str, Any]] = bb_get(board_of(ctx), "tool_results")
    failed = sum(result["run"] and not result["success"] for result in results)
    return failed >= failures


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
