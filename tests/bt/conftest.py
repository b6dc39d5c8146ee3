"""A small world for node tests: scripts in, the tick table out."""

from collections.abc import Callable
from dataclasses import dataclass

import pytest

from oracle.bt.core.context import TickContext
from oracle.bt.core.definition import TreeDefinition
from oracle.bt.core.node import Node
from oracle.bt.core.runtime import TreeRun
from oracle.bt.nodes import Selector
from oracle.bt.state.base import SUCCESS, RunStatus
from oracle.testing import ManualClock, ScriptedNode


@dataclass
class Stage:
    """A run of one node, below a selector that lets each of its answers pass."""

    node: Node
    run: TreeRun
    clock: ManualClock

    def tick(self, seconds: float = 0) -> RunStatus | None:
        self.clock.advance(seconds)
        self.run.tick()
        return self.run.statuses[self.node.index]

    def ticks(self, count: int) -> list[RunStatus | None]:
        return [self.tick() for _ in range(count)]

    def halt(self) -> None:
        self.node.halt(self.run)

    def status(self, node: Node) -> RunStatus | None:
        return self.run.statuses[node.index]


@pytest.fixture
def stage() -> Callable[[Node], Stage]:
    def build(node: Node) -> Stage:
        clock = ManualClock()
        root = Selector(node, ScriptedNode(*[SUCCESS] * 99))
        run = TreeRun(TreeDefinition("stage", root), TickContext(clock=clock))
        return Stage(node, run, clock)

    return build
