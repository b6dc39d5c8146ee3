"""A node that plays a script; put it in the place of any other by its path.

ask = ScriptedNode(RUNNING, SUCCESS)
definition = definition.with_nodes({"turn/ask": ask})
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Unpack

from oracle.bt.core.node import Label, Node
from oracle.bt.state.base import RUNNING, RunStatus

if TYPE_CHECKING:
    from oracle.bt.core.run import RunState


class ScriptedNode(Node):
    """Answers the given statuses in order. It belongs to one run and counts its ticks and halts.

    A tick after the last status fails the test, and so does `check_played_out` before it.
    """

    __slots__ = ("_script", "halts", "ticks")

    def __init__(self, *script: RunStatus, **label: Unpack[Label]) -> None:
        super().__init__(**label)
        self._script = script
        self.ticks = 0
        self.halts = 0

    def tick(self, run: RunState) -> RunStatus:
        if self.ticks == len(self._script):
            raise AssertionError(
                f"{self.path}: ticked more often than the {self.ticks} times scripted"
            )
        self.ticks += 1
        return self._script[self.ticks - 1]

    def halt(self, run: RunState) -> None:
        self.halts += run.statuses[self.index] is RUNNING
        super().halt(run)

    def check_played_out(self) -> None:
        left = self._script[self.ticks :]
        assert not left, f"{self.path}: never asked for {[status.name for status in left]}"
