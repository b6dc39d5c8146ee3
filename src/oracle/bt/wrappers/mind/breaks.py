"""Holds a run before a node, so that somebody can look at its board.

A tick is a plain function call and cannot be stopped half-way. What can wait is an effect: a
request to the model, a call of a tool, a question to a person. So a run is held before the first
effect that a node leads to, and nothing is sent until it may go on. For the tree, and for its
record, that effect just takes longer: the clock runs on, limits of time count, and a replay goes
the same way without being held.

The port is put in when the first break is set. A run without breaks has none.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from typing import Any, Final, TypeAlias, cast

from oracle.bt.core.effects import Effect, EffectKey, Effects, Writing
from oracle.bt.state.base import RUNNING, RunStatus
from oracle.bt.wrappers.recorded_tree import RecordedTree
from oracle.errors import InputError, did_you_mean
from oracle.services.project.redaction import redacted

Say: TypeAlias = Callable[[str, Mapping[str, Any]], None]

LONGEST_TEXT: Final = 2_000
MOST_ITEMS: Final = 30
DEEPEST: Final = 6


class Breaks:
    """`say` takes what is to be seen: `held` with the board, and `released`."""

    def __init__(self, tree: RecordedTree, say: Say) -> None:
        self._tree = tree
        self._say = say
        self._paths: set[str] = set()
        self._reached: set[str] = set()
        self._is_stepping = False
        self._held = ""
        self._may_go_on = asyncio.Event()
        context = tree.tree_run.context
        # Effects that are under way keep the port that they have begun with.
        context.effects = HeldEffects(self, context.effects)
        tree.tree_run.subscribe(self._note)

    @property
    def paths(self) -> Sequence[str]:
        return sorted(self._paths)

    @property
    def held(self) -> str | None:
        """The leaf that waits, if the run is held."""
        return self._held or None

    def add(self, path: str) -> None:
        known = self._tree.tree_run.definition.by_path
        if path not in known:
            raise InputError(
                f"this run has no node {path[:200]!r}{did_you_mean(path, known)}; GET its mind for "
                "the paths of all nodes"
            )
        self._paths.add(path)

    def remove(self, path: str | None = None) -> None:
        """One of them, or all. A run that is held stays so."""
        gone = self._paths if path is None else {path}
        self._paths, self._reached = self._paths - gone, self._reached - gone

    def go_on(self, *, step: bool = False) -> None:
        """Let it go on: to the next break, or with `step` to the next effect."""
        self._is_stepping = step
        self._release()

    async def wait_at(self, path: str) -> None:
        """Before an effect of the leaf at `path`. Others that are asked for meanwhile wait too."""
        because = self._reason(path)
        is_first = not self._held and because is not None
        if is_first:
            self._hold(path, because)
        if self._held:
            try:
                await self._may_go_on.wait()
            finally:
                # It was halted while it was held, most often because the run was cancelled.
                if is_first and self._held == path:
                    self._release()

    def _reason(self, path: str) -> str | None:
        """The break that holds it; empty for a step, None if it may go on."""
        below = (each for each in self._reached if path == each or path.startswith(f"{each}/"))
        found = next(below, None) or next(iter(self._reached), None)
        return "" if found is None and self._is_stepping else found

    def _hold(self, path: str, because: str | None) -> None:
        self._held, self._is_stepping = path, False
        self._reached.clear()
        self._may_go_on.clear()
        tree = self._tree
        now = {"at": tree.seconds, "turn": tree.tree_run.context.turn}
        board = shown(redacted(tree.board.contents()))
        # The ledger counts the seconds of the clock, and nobody has stopped that.
        self._say(
            "held",
            {**now, "path": path, "because": because or None, "clock_runs": True, "board": board},
        )

    def _release(self) -> None:
        if self._held:
            path, self._held = self._held, ""
            tree = self._tree
            now = {"at": tree.seconds, "turn": tree.tree_run.context.turn}
            self._say("released", {**now, "path": path})
        self._may_go_on.set()

    def _note(self, time: float, path: str, old: RunStatus | None, new: RunStatus | None) -> None:
        """It is reached when it begins to run, or if it ends at once. The end of a node that was
        running was reached before.
        """
        if path in self._paths and new is not None and (new is RUNNING or old is not RUNNING):
            self._reached.add(path)


class HeldEffects:
    """Waits inside of the effect, so that the journal takes the wait for a part of it."""

    def __init__(self, breaks: Breaks, inner: Effects) -> None:
        self._breaks = breaks
        self._inner = inner

    async def perform(
        self, key: EffectKey, request: Any, effect: Effect, *, writes: bool | Writing = False
    ) -> Any:
        async def when_free() -> Any:
            await self._breaks.wait_at(key.node_path)
            return await effect()

        return await self._inner.perform(key, request, when_free, writes=writes)

    def stream(
        self, key: EffectKey, request: Any, source: Callable[[], AsyncIterator[Any]]
    ) -> AsyncIterator[Any]:
        async def when_free() -> AsyncIterator[Any]:
            await self._breaks.wait_at(key.node_path)
            async for part in source():
                yield part

        return self._inner.stream(key, request, when_free)


def shown(value: Any, depth: int = 0) -> Any:
    """A value of the board, short enough to be looked at: what is left out is counted."""
    if isinstance(value, str):
        left = len(value) - LONGEST_TEXT
        return value if left <= 0 else f"{value[:LONGEST_TEXT]}… ({left:,} more characters)"
    if isinstance(value, list | dict) and depth >= DEEPEST:
        return f"… ({len(cast('list[Any]', value)):,} items)"
    if isinstance(value, list):
        items = cast("list[Any]", value)
        rest = [f"… ({len(items) - MOST_ITEMS:,} more)"] if len(items) > MOST_ITEMS else []
        return [*(shown(item, depth + 1) for item in items[:MOST_ITEMS]), *rest]
    if isinstance(value, dict):
        entries = cast("dict[str, Any]", value)
        return {name: shown(item, depth + 1) for name, item in entries.items()}
    return value
