"""Entities on the board: read as what they are, written as the JSON that a board holds."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from oracle.bt.actions.oracle import bb_get, bb_set
from oracle.bt.core.context import TickContext
from oracle.bt.state.blackboard import TypedBlackboard
from oracle.models.agent_state import AgentState
from oracle.models.query_classification import QueryClassification, QueryType
from oracle.models.tool_spec import ToolSpec
from oracle.services.control.grants import specs_from
from oracle.services.control.ledger import Ledger

AGENT_KEYS = (
    "signals",
    "turns_without_signal",
    "tool_results",
    "sources_tried",
    "sources_empty",
    "evidence",
    "strategy",
)


def board_of(ctx: TickContext) -> TypedBlackboard:
    assert ctx.blackboard is not None, "the leaves of the agent need a blackboard"
    return ctx.blackboard


_last_ledger: tuple[object, Ledger] = (None, Ledger())


def ledger_of(bb: TypedBlackboard) -> Ledger:
    """Asked a dozen times in a turn, mostly for the same one: so the last one is remembered."""
    global _last_ledger
    data = bb_get(bb, "ledger")
    if data is not _last_ledger[0]:
        _last_ledger = (data, Ledger.from_dict(data))
    return _last_ledger[1]


def set_ledger(bb: TypedBlackboard, ledger: Ledger) -> None:
    global _last_ledger
    data = ledger.to_dict()
    _last_ledger = (data, ledger)
    bb_set(bb, "ledger", data)


def as_data(classification: QueryClassification) -> dict[str, Any]:
    data: dict[str, Any] = {**vars(classification), "query_type": classification.query_type.value}
    runner_up = classification.runner_up
    data["runner_up"] = None if runner_up is None else runner_up.value
    return {**data, "keywords_matched": [*classification.keywords_matched]}


def classification_of(bb: TypedBlackboard) -> QueryClassification:
    data: dict[str, Any] = dict(bb_get(bb, "classification"))
    data["query_type"] = QueryType(data["query_type"])
    data["keywords_matched"] = tuple(data["keywords_matched"])
    if data["runner_up"] is not None:
        data["runner_up"] = QueryType(data["runner_up"])
    return QueryClassification(**data)


def all_tools(bb: TypedBlackboard) -> Sequence[ToolSpec]:
    return specs_of(bb_get(bb, "tool_list"))


def granted_tools(bb: TypedBlackboard) -> list[ToolSpec]:
    """Those that go into the next request: granted, and neither all withdrawn nor this one."""
    if bb_get(bb, "tools_withdrawn"):
        return []
    granted: list[str] = bb_get(bb, "granted")
    withdrawn: list[str] = bb_get(bb, "withdrawn")
    return [s for s in all_tools(bb) if s.name in granted and s.name not in withdrawn]


@lru_cache(maxsize=32)
def specs_of(text: str) -> Sequence[ToolSpec]:
    return tuple(specs_from(json.loads(text)))


def append(bb: TypedBlackboard, key: str, *values: Any) -> None:
    """Values are replaced, never changed in place."""
    bb_set(bb, key, [*bb_get(bb, key), *values])


def agent_state(ctx: TickContext) -> AgentState:
    bb = board_of(ctx)
    results: list[dict[str, Any]] = bb_get(bb, "tool_results")
    return AgentState(
        turn=ctx.turn,
        signals=tuple(signal["type"] for signal in bb_get(bb, "signals")),
        turns_without_signal=bb_get(bb, "turns_without_signal"),
        tools_tried=tuple(dict.fromkeys(result["name"] for result in results)),
        tools_failed=tuple(
            dict.fromkeys(result["name"] for result in results if not result["success"])
        ),
        sources_tried=tuple(bb_get(bb, "sources_tried")),
        sources_empty=tuple(bb_get(bb, "sources_empty")),
        places_found=len(bb_get(bb, "evidence")),
        strategy=bb_get(bb, "strategy"),
    )
