"""The state of one run, as nodes see it."""

from __future__ import annotations

import asyncio
from contextvars import ContextVar, copy_context
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from oracle.bt.state.base import RUNNING, RunStatus

if TYPE_CHECKING:
    from collections.abc import Coroutine

    from oracle.bt.core.context import TickContext
    from oracle.bt.core.definition import TreeDefinition
    from oracle.bt.core.node import Node
    from oracle.bt.state.blackboard import TypedBlackboard

NOTHING: Final = -1
current_leaf: ContextVar[str] = ContextVar("current_leaf", default="")
"""The path of the async leaf whose code is executing; empty outside of one."""


class RunState:
    """Statuses and memory by node index, and the tasks of async leaves.

    `memory` is a node's own between two ticks of one activation; it is JSON-shaped, and None when
    there is nothing to remember. `deadlines` are moments at which a node wants to be ticked even if
    nothing happens. Finished tasks are delivered one a tick, in the order in which they finished: a
    replay that finishes them in the same order goes through the same ticks.
    """

    __slots__ = (
        "closing",
        "context",
        "deadlines",
        "definition",
        "delivered",
        "finished",
        "memory",
        "scopes",
        "statuses",
        "tasks",
    )

    def __init__(self, definition: TreeDefinition, context: TickContext) -> None:
        self.definition = definition
        self.context = context
        self.statuses: list[RunStatus | None] = [None] * len(definition.nodes)
        self.memory: list[Any] = [None] * len(definition.nodes)
        self.deadlines: dict[int, float] = {}
        self.scopes: dict[int, TypedBlackboard] = {}
        self.tasks: dict[int, tuple[asyncio.Task[Any], TickContext]] = {}
        self.finished: list[int] = []
        self.delivered = NOTHING
        self.closing: list[asyncio.Task[Any]] = []

    def start(self, node: Node, bound: TickContext, work: Coroutine[Any, Any, Any]) -> None:
        """Begin the work of an async leaf; the run is woken when it is done."""
        context = copy_context()
        context.run(current_leaf.set, node.path)
        task = asyncio.get_running_loop().create_task(work, name=node.path, context=context)
        self.tasks[node.index] = task, bound
        task.add_done_callback(partial(self._on_done, node.index))

    def is_started(self, node: Node) -> bool:
        return node.index in self.tasks

    def take(self, node: Node) -> tuple[asyncio.Task[Any], TickContext] | None:
        """Hand over the node's task and context, if it is the one that this tick delivers."""
        return self.tasks.pop(node.index) if self.delivered == node.index else None

    def abandon(self, node: Node) -> None:
        """Cancel the node's task, unless it is done."""
        if node.index not in self.tasks:
            return
        task, _ = self.tasks.pop(node.index)
        if node.index in self.finished:
            self.finished.remove(node.index)
        if not task.done():
            self.close(task)
        elif not task.cancelled():
            task.exception()

    def close(self, task: asyncio.Task[Any]) -> None:
        """Cancel it at once; the runtime awaits its end before the next tick."""
        task.cancel()
        self.closing.append(task)

    def has_something_at(self, node: Node) -> bool:
        """Say whether there is anything to halt at a node or below it: most of a tree is at rest.

        A loop that is left from inside passes over nodes that hold a task, a scope or a deadline
        and have no status yet.
        """
        first, end = node.index, node.end
        held = (*self.tasks, *self.scopes, *self.deadlines)
        is_running = RUNNING in self.statuses[first:end]
        return is_running or any(first <= index < end for index in held)

    def has_news_below(self, node: Node) -> bool:
        """Say whether a leaf below has finished, which a later tick will deliver."""
        return any(node.index < leaf < node.end for leaf in self.finished)

    def running_leaves(self) -> list[Node]:
        """The innermost nodes that are running: what a run is waiting for."""
        running = [node for node in self.definition.nodes if self.statuses[node.index] is RUNNING]
        inner = {parent.path for parent in running for child in running if child in parent.children}
        return [node for node in running if node.path not in inner]

    def _on_done(self, index: int, task: asyncio.Task[Any]) -> None:
        if index in self.tasks and self.tasks[index][0] is task:
            self.finished.append(index)
            self.context.wake()
