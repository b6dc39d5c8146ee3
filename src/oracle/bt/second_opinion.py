"""Ask BERT through the journal, so that a replay gets the same answer without it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, Final, cast

from oracle.bt.board import services_of
from oracle.bt.core.context import TickContext
from oracle.bt.report import report
from oracle.bt.state.schema import Json
from oracle.services.ans.event import Severity
from oracle.services.bert.bert import Bert, Use

NOT_HERE: Final = "BERT is not set up in this process"
"""A run that is resumed by another process has the settings of that one."""


async def second_opinion(
    ctx: TickContext, use: Use, asked: Json, ask: Callable[[Bert], Awaitable[dict[str, Any]]]
) -> dict[str, Any] | None:
    """What BERT says, or None with an event: then the heuristic decides alone."""

    async def effect() -> Any:
        bert = services_of(ctx).bert
        return {"problem": NOT_HERE} if bert is None else await ask(bert)

    found = cast("dict[str, Any]", await ctx.perform({"bert": use, "asked": asked}, effect))
    if "problem" not in found:
        return found
    report(ctx, "bert.unavailable", Severity.INFO, use=use, problem=found["problem"])
    return None
