"""A loop, and the way out of it."""

from collections.abc import Sequence
from typing import NoReturn, Unpack

from oracle.bt.core.node import Decorator, Label, Node
from oracle.bt.core.run import RunState
from oracle.bt.nodes.rounds import checked_count, play_on
from oracle.bt.state.base import FAILURE, SUCCESS, RunStatus
from oracle.errors import BoundReached, MisplacedNodeError, did_you_mean


class Loop(Decorator, kind="loop"):
    """Play the child round after round, at most `max` times, one round a tick.

    | child                       | loop                                            |
    | --------------------------- | ----------------------------------------------- |
    | `exit` with this loop's name | halts what is running below; SUCCESS           |
    | SUCCESS                     | RUNNING, then the next round                    |
    | SUCCESS in the last round   | FAILURE, with BoundReached as its cause         |
    | FAILURE                     | FAILURE: a failure never means "one more round" |
    | RUNNING                     | RUNNING                                         |
    | SKIPPED                     | SKIPPED                                         |
    """

    __slots__ = ("max",)

    def __init__(
        self,
        child: Node,
        *,
        max: int,  # noqa: A002 - it is the word that trees use
        **label: Unpack[Label],
    ) -> None:
        super().__init__(child, **label)
        self.max = checked_count("loop", "max", max)

    def tick(self, run: RunState) -> RunStatus:
        child = self.child
        try:
            run.statuses[child.index] = status = child.tick(run)
        except LoopLeft as left:
            if left.loop is not self:
                raise
            child.halt(run)
            for node in left.between:
                run.statuses[node.index] = SUCCESS
            run.memory[self.index] = None
            return SUCCESS
        if status is not SUCCESS:
            return play_on(self, run, status)
        rounds = (run.memory[self.index] or 0) + 1
        if rounds < self.max:
            return play_on(self, run, status, rounds)
        run.memory[self.index] = None
        run.context.failure = BoundReached(f"{self.path}: not left after {self.max} rounds")
        return FAILURE


class LoopLeft(Exception):  # noqa: N818 - it steers, it does not report
    """Unwinds to its loop. No decorator in between can turn it into something else."""

    def __init__(self, loop: Node, between: Sequence[Node]) -> None:
        super().__init__(loop.path)
        self.loop = loop
        self.between = between


class Exit(Node, kind="exit"):
    """End the nearest loop around it that has the name `loop`, with SUCCESS.

    | tick                    | exit                                             |
    | ----------------------- | ------------------------------------------------ |
    | any                     | SUCCESS, and the loop is left before it is seen  |
    | no such loop around it  | refused when the tree is built            |
    """

    __slots__ = ("_between", "_target", "loop")
    positional = "loop"

    def __init__(self, *, loop: str, **label: Unpack[Label]) -> None:
        super().__init__(**label)
        self.loop = loop
        self._target: Node = self
        self._between: Sequence[Node] = ()

    def bind(self, ancestors: Sequence[Node]) -> None:
        loops = {node.name: node for node in ancestors if node.kind == "loop"}
        if self.loop not in loops:
            names = [name for name in loops if name]
            raise self.complaint(
                f"exit leaves the loop {self.loop!r}, but no loop of that name is around it"
                + (did_you_mean(self.loop, names) or f"; around it: {', '.join(names) or 'none'}"),
                MisplacedNodeError,
            )
        self._target = loops[self.loop]
        self._between = ancestors[: ancestors.index(self._target) : -1]

    def tick(self, run: RunState) -> NoReturn:
        run.statuses[self.index] = SUCCESS
        raise LoopLeft(self._target, self._between)
