"""The one way for leaves to read and write the state of a run."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from oracle.bt.state.blackboard import TypedBlackboard
from oracle.bt.state.schema import Json

bb_get: Final[Callable[[TypedBlackboard, str], Any]] = TypedBlackboard.get
bb_set: Final[Callable[[TypedBlackboard, str, Json], None]] = TypedBlackboard.set


def add_pending_chunk(bb: TypedBlackboard, chunk: dict[str, Json]) -> None:
    """Have something said to the user; the wrapper takes it from here."""
    bb_set(bb, "_pending_chunks", [*(bb_get(bb, "_pending_chunks") or []), chunk])


def add_system_message(bb: TypedBlackboard, text: str) -> None:
    """Tell the model something before its next turn."""
    message: dict[str, Json] = {"role": "system", "content": text}
    bb_set(bb, "messages", [*(bb_get(bb, "messages") or []), message])
