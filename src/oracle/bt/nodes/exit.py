"""The way out of a loop."""

from collections.abc import Sequence
from typing import NoReturn, Unpack

from oracle.bt.core.node import Label, Node
from oracle.bt.core.run import RunState
from oracle.bt.state.base import SUCCESS
from oracle.errors import did_you_mean


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
    | no such loop around it  | refused when the tree is put together            |
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
                f"exit leaves the loop {self.loop!r}, but it does not stand in one of that name"
                + (did_you_mean(self.loop, names) or f"; around it: {', '.join(names) or 'none'}")
            )
        self._target = loops[self.loop]
        self._between = ancestors[: ancestors.index(self._target) : -1]

    def tick(self, run: RunState) -> NoReturn:
        run.statuses[self.index] = SUCCESS
        raise LoopLeft(self._target, self._between)
