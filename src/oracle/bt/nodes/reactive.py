"""Reactive sequence and selector: they start again at each tick, with one running child at most.

A child that answered RUNNING is the runner until the node ends or it is skipped. If another could
run too, the next tick would start the first one anew and halt the second, for ever: such a tree is
refused instead.
"""

from typing import ClassVar

from oracle.bt.core.node import Composite, Node
from oracle.bt.core.run import RunState
from oracle.bt.state.base import FAILURE, RUNNING, SKIPPED, SUCCESS, RunStatus
from oracle.errors import StructureError


class Reactive(Composite):
    """Tick from the first child on while each returns `goes_on_after` or SKIPPED."""

    __slots__ = ()
    goes_on_after: ClassVar[RunStatus]

    def tick(self, run: RunState) -> RunStatus:
        statuses = run.statuses
        passes = self.goes_on_after
        status = passes
        for child in self.children:
            statuses[child.index] = status = child.tick(run)
            if status is RUNNING:
                self._claim(run, child)
                return RUNNING
            if status is SKIPPED:
                if run.memory[self.index] == child.index:
                    run.memory[self.index] = None
            elif status is not passes:
                self._end(run)
                return status
        self._end(run)
        if status is SKIPPED and all(statuses[child.index] is SKIPPED for child in self.children):
            return SKIPPED
        return passes

    def _claim(self, run: RunState, child: Node) -> None:
        runner: int | None = run.memory[self.index]
        if runner is None:
            run.memory[self.index] = child.index
        elif runner != child.index:
            raise StructureError(
                f"{self.path}: {child.path!r} is running although "
                f"{run.definition.nodes[runner].path!r} ran before it; a {self.kind} takes one "
                f"running child, so use a {self.kind.removeprefix('reactive_')} below it"
            )

    def _end(self, run: RunState) -> None:
        runner: int | None = run.memory[self.index]
        if runner is not None:
            run.memory[self.index] = None
            if run.statuses[runner] is RUNNING:
                run.definition.nodes[runner].halt(run)


class ReactiveSequence(Reactive, kind="reactive_sequence"):
    """Tick the children from the first on at each tick, while they succeed.

    | child   | reactive_sequence                                                     |
    | ------- | --------------------------------------------------------------------- |
    | SUCCESS | goes on to the next child; after the last: SUCCESS                    |
    | FAILURE | halts the child that is running; FAILURE                              |
    | RUNNING | RUNNING; the next tick starts at the first child again                |
    | RUNNING | and another child ran before: an error that names both                |
    | SKIPPED | goes on to the next child; if all were skipped: SKIPPED               |
    """

    __slots__ = ()
    goes_on_after = SUCCESS


class ReactiveSelector(Reactive, kind="reactive_selector"):
    """Tick the children from the first on at each tick, until one succeeds.

    | child   | reactive_selector                                                     |
    | ------- | --------------------------------------------------------------------- |
    | SUCCESS | halts the child that is running; SUCCESS                              |
    | FAILURE | goes on to the next child; after the last: FAILURE                    |
    | RUNNING | RUNNING; the next tick starts at the first child again                |
    | RUNNING | and another child ran before: an error that names both                |
    | SKIPPED | goes on to the next child; if all were skipped: SKIPPED               |
    """

    __slots__ = ()
    goes_on_after = FAILURE
