"""The way out of a loop."""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

from oracle.bt.core.node import Node
from oracle.bt.state.base import SUCCESS
from oracle.errors import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Sequence

    from oracle.bt.core.run import RunState


class LoopLeft(Exception):  # noqa: N818 - it steers, it does not report
    """Unwinds to its loop. No decorator in between can turn it into something else."""

    def __init__(self, loop: Node) -> None:
        super().__init__(loop.path)
        self.loop = loop


class Exit(Node, kind="exit"):
    """End the nearest loop around it that has the name `loop`, with SUCCESS.

    | tick                    | exit                                             |
    | ----------------------- | ------------------------------------------------ |
    | any                     | SUCCESS, and the loop is left before it is seen  |
    | no such loop around it  | refused when the tree is put together            |
    """

    __slots__ = ("loop", "target")
    positional = "loop"

    def __init__(self, *, loop: str, description: str = "") -> None:
        super().__init__(description=description)
        self.loop = loop
        self.target: Node = self

    def bind(self, ancestors: Sequence[Node]) -> None:
        loops = {node.name: node for node in ancestors if node.kind == "loop"}
        if self.loop not in loops:
            names = [name for name in loops if name]
            raise self.complaint(
                f"exit leaves the loop {self.loop!r}, but it does not stand in one of that name"
                + (did_you_mean(self.loop, names) or f"; around it: {', '.join(names) or 'none'}")
            )
        self.target = loops[self.loop]

    def tick(self, run: RunState) -> NoReturn:
        run.statuses[self.index] = SUCCESS
        raise LoopLeft(self.target)

    def options(self) -> dict[str, object]:
        return {"loop": self.loop}
