"""Looking on while a tree runs: changes of status, and accesses to the blackboard.

A run that nobody watches keeps its statuses in a plain list. The first subscriber exchanges it for
one that reports each assignment; so watching is not a branch in the engine and costs nothing where
nobody looks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from oracle.bt.core.run import current_leaf
from oracle.bt.state.base import RUNNING, RunStatus
from oracle.lazy_dataclass import dataclass
from oracle.logs import logger_of

if TYPE_CHECKING:
    from oracle.bt.core.context import TickContext
    from oracle.bt.core.node import Node

log = logger_of(__name__)

Subscriber: TypeAlias = Callable[[float, str, "RunStatus | None", "RunStatus | None"], None]
"""Called with (time, node path, previous status, new status); None is "not ticked yet, or halted".
"""


_assign: Callable[[list[Any], int, Any], None] = vars(list)["__setitem__"]
"""Called like this because `super()` would cost half of an assignment."""


class WatchedStatuses(list["RunStatus | None"]):
    """Reports each status of a node, except that a running node is still running."""

    def __init__(
        self, statuses: list[RunStatus | None], nodes: tuple[Node, ...], context: TickContext
    ) -> None:
        super().__init__(statuses)
        self.subscribers: list[Subscriber] = []
        self._nodes = nodes
        self._context = context

    def __setitem__(self, index: Any, status: Any) -> None:
        previous = cast("RunStatus | None", self[index])
        _assign(self, index, status)
        if status is not previous or (status is not RUNNING and status is not None):
            self._report(cast("Node", self._nodes[index]).path, previous, status)

    def _report(self, path: str, previous: RunStatus | None, status: RunStatus | None) -> None:
        for subscriber in tuple(self.subscribers):
            try:
                subscriber(self._context.now, path, previous, status)
            except Exception:
                log.exception("a subscriber failed at %s and hears no more of this run", path)
                self.subscribers.remove(subscriber)


@dataclass(frozen=True, slots=True)
class Access:
    tick: int
    node_path: str
    verb: str
    scope: str
    key: str


class AccessLog:
    """Who read and wrote what, in order."""

    def __init__(self, context: TickContext) -> None:
        self._context = context
        self._accesses: list[Access] = []

    def note(self, verb: str, scope: str, key: str) -> None:
        who = current_leaf.get() or self._context.node_path
        self._accesses.append(Access(self._context.ticks, who, verb, scope, key))

    def __iter__(self) -> Iterator[Access]:
        return iter(self._accesses)

    def __len__(self) -> int:
        return len(self._accesses)
