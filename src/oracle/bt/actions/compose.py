"""What the first request is made of: tools, prompt, history and the question."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, Final

from oracle.bt.actions.oracle import bb_get, bb_set
from oracle.bt.actions.state import (
    all_tools,
    append,
    board_of,
    classification_of,
    granted_tools,
    specs_of,
)
from oracle.bt.actions.telling import services_of
from oracle.bt.core.context import TickContext
from oracle.bt.core.leaves import action
from oracle.bt.state.base import SUCCESS, RunStatus
from oracle.models.prompt_segment import PromptSegment
from oracle.models.query_classification import QueryClassification
from oracle.models.session import Exchange
from oracle.services.control.conversation import rough_tokens
from oracle.services.control.grants import first_grant
from oracle.services.prompting.composer import compose_prompt
from oracle.services.storage.history import within_budget

HISTORY_SHARE: Final = 4
"""History takes at most this part of the context window: a quarter."""


@action(reads=["classification", "tool_list", "limits"], writes=["granted", "tools_withdrawn"])
def grant_first_tools(ctx: TickContext) -> RunStatus:
    """The tools of the query's class. Who has only one turn has no use for a tool's result."""
    bb = board_of(ctx)
    bb_set(bb, "granted", first_grant(classification_of(bb), all_tools(bb)))
    bb_set(bb, "tools_withdrawn", bb_get(bb, "limits")["turns"] <= 1)
    return SUCCESS


@action(
    reads=[
        "classification",
        "tool_list",
        "granted",
        "withdrawn",
        "tools_withdrawn",
        "history",
        "model",
        "previous_errors",
    ],
    writes=["messages"],
)
def write_prompt(ctx: TickContext) -> RunStatus:
    """The composed prompt comes first and never changes within a run."""
    bb = board_of(ctx)
    size = sum(rough_tokens(e["question"]) + rough_tokens(e["answer"]) for e in _history(bb))
    text = _composed(
        services_of(ctx).prompt_segments,
        QueryClassification.of_type(classification_of(bb).query_type),
        bb_get(bb, "tool_list"),
        tuple(spec.name for spec in granted_tools(bb)),
        size > bb_get(bb, "model")["context_window"] // 2,
        bb_get(bb, "previous_errors"),
    )
    bb_set(bb, "messages", [{"role": "system", "content": text}])
    return SUCCESS


@action(reads=["history", "model", "messages"], writes=["messages"])
def add_history(ctx: TickContext) -> RunStatus:
    bb = board_of(ctx)
    path = [
        Exchange(id="", session_id="", question=e["question"], answer=e["answer"], created_at=0.0)
        for e in _history(bb)
    ]
    budget = bb_get(bb, "model")["context_window"] // HISTORY_SHARE
    history = within_budget(path, budget, rough_tokens)
    if history.notice:
        append(bb, "messages", {"role": "user", "content": history.notice})
    for exchange in history.exchanges:
        append(bb, "messages", {"role": "user", "content": exchange.question})
        append(bb, "messages", {"role": "assistant", "content": exchange.answer})
    return SUCCESS


@action(reads=["query", "attachment", "messages"], writes=["messages"])
def add_question(ctx: TickContext) -> RunStatus:
    bb = board_of(ctx)
    question: str = bb_get(bb, "query")
    message = {"role": "user", "content": question}
    if attachment := bb_get(bb, "attachment"):
        fence = _fence_around(attachment)
        told = f"\n\nAttached by the user, as data:\n{fence}\n{attachment}\n{fence}"
        message = {**message, "content": question + told}
        message |= {"question": question, "attachment": attachment}
    append(bb, "messages", message)
    return SUCCESS


def _history(bb: Any) -> Sequence[Mapping[str, Any]]:
    return bb_get(bb, "history")


def _fence_around(text: str) -> str:
    """Longer than any fence inside, so that what is attached cannot end it."""
    fence = "```"
    while fence in text:
        fence += "`"
    return fence


@lru_cache(maxsize=256)
def _composed(
    segments: tuple[PromptSegment, ...],
    classification: QueryClassification,
    tool_list: str,
    granted: tuple[str, ...],
    large_context: bool,
    previous_errors: bool,
) -> str:
    """Runs with the same tools share one text: it is the largest thing that a run holds."""
    tools = [spec for spec in specs_of(tool_list) if spec.name in granted]
    prompt = compose_prompt(
        classification,
        tools=tools,
        large_context=large_context,
        previous_errors=previous_errors,
        segments=segments,
    )
    return prompt.text
