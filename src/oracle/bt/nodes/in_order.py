"""One child after the other: sequence and selector."""

from typing import ClassVar

from oracle.bt.core.node import Composite, Node
from oracle.bt.core.run import RunState
from oracle.bt.state.base import FAILURE, RUNNING, SKIPPED, SUCCESS, RunStatus


class InOrder(Composite):
    """Tick the children in order while each returns `goes_on_after` or SKIPPED.

    A run remembers the place of the running child. `_after[i]` are the children after the i-th, cut
    once for all runs. `_passes` is an instance attribute because it is read faster than one of the
    class.
    """

    __slots__ = ("_after", "_passes")
    goes_on_after: ClassVar[RunStatus]

    def adopt(self, children: tuple[Node, ...]) -> None:
        super().adopt(children)
        self._after = tuple(children[place + 1 :] for place in range(len(children)))
        self._passes = self.goes_on_after

    def tick(self, run: RunState) -> RunStatus:
        statuses = run.statuses
        passes = status = self._passes
        children = self.children
        runner: int | None = run.memory[self.index]
        if runner is not None:
            child = children[runner]
            statuses[child.index] = status = child.tick(run)
            if status is RUNNING:  # most ticks of a run that waits end here
                return RUNNING
            run.memory[self.index] = None
            if status is not passes and status is not SKIPPED:
                return status
            children = self._after[runner]
        for child in children:
            statuses[child.index] = status = child.tick(run)
            if status is passes or status is SKIPPED:
                continue
            if status is RUNNING:
                run.memory[self.index] = self.children.index(child)
            return status
        if status is SKIPPED and all(statuses[child.index] is SKIPPED for child in self.children):
            return SKIPPED
        return passes


class Sequence(InOrder, kind="sequence"):
    """Tick the children in order while they succeed; go on at the running child.

    | child   | sequence                                                   |
    | ------- | ---------------------------------------------------------- |
    | SUCCESS | goes on to the next child; after the last: SUCCESS         |
    | FAILURE | FAILURE; starts at the first child the next time           |
    | RUNNING | RUNNING; the next tick goes on at this child               |
    | SKIPPED | goes on to the next child; if all were skipped: SKIPPED    |
    """

    __slots__ = ()
    goes_on_after = SUCCESS


class Selector(InOrder, kind="selector"):
    """Tick the children in order until one succeeds; go on at the running child.

    | child   | selector                                                   |
    | ------- | ---------------------------------------------------------- |
    | SUCCESS | SUCCESS; starts at the first child the next time           |
    | FAILURE | goes on to the next child; after the last: FAILURE         |
    | RUNNING | RUNNING; the next tick goes on at this child               |
    | SKIPPED | goes on to the next child; if all were skipped: SKIPPED    |
    """

    __slots__ = ()
    goes_on_after = FAILURE
