"""What the tree's actions do."""

import asyncio
from pathlib import Path

from oracle.bt.core.context import TickContext
from oracle.bt.core.leaves import action
from oracle.bt.state.base import SUCCESS, RunStatus

SHELF = Path(__file__).parent / "shelf"


@action(reads=["question", "shelf", "found"], writes=["shelf", "found"])
async def open_next(ctx: TickContext) -> RunStatus:
    """Reading takes a while, and the tree stays awake meanwhile."""
    board = ctx.blackboard
    title, *rest = board.get("shelf")
    await asyncio.sleep(0.05)
    text = (SHELF / title).read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if board.get("question") in line]
    board.set("shelf", rest)
    board.set("found", board.get("found") + [f"{title}: {line}" for line in lines])
    ctx.mark_progress()
    return SUCCESS


@action(reads=["question", "shelf", "found"])
def answer(ctx: TickContext) -> RunStatus:
    board = ctx.blackboard
    found = board.get("found") or [f"nothing about {board.get('question')!r}"]
    print("\n".join(found) + f"\n(left unread: {len(board.get('shelf'))})")
    return SUCCESS
