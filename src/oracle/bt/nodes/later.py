"""Asked for now, done later: `BT.later("task")` here, `BT.deferred("task", …)` where it is done."""

from collections.abc import Sequence
from typing import Unpack

from oracle.bt.core.node import Decorator, Label, Node
from oracle.bt.core.run import RunState
from oracle.bt.state.base import RUNNING, SKIPPED, SUCCESS, RunStatus
from oracle.errors import MisplacedNodeError, did_you_mean


class Deferred(Decorator, kind="deferred"):
    """Play the child when `BT.later` has asked for this task since it was last done.

    | child                    | deferred                                     |
    | ------------------------ | -------------------------------------------- |
    | not asked for            | SKIPPED, and it is not ticked                |
    | SUCCESS, FAILURE, SKIPPED | the same; it waits until it is asked for again |
    | RUNNING                  | RUNNING                                      |
    | halted                   | the request is forgotten                     |
    | a second one for its task | refused when the tree is built               |
    """

    __slots__ = ("task",)
    positional = "task"

    def __init__(self, child: Node, *, task: str, **label: Unpack[Label]) -> None:
        super().__init__(child, **{"name": task, **label})
        self.task = task

    def link(self, nodes: Sequence[Node]) -> None:
        for node in nodes:
            if isinstance(node, Deferred) and node.task == self.task and node is not self:
                raise self.complaint(f"the task {self.task!r} has two BT.deferred; keep one")

    def tick(self, run: RunState) -> RunStatus:
        if not run.memory[self.index]:
            return SKIPPED
        child = self.child
        run.statuses[child.index] = status = child.tick(run)
        if status is not RUNNING:
            run.memory[self.index] = None
        return status


class Later(Node, kind="later"):
    """Ask for the task of a `BT.deferred` elsewhere in the tree. Asking twice is asking once.

    | tick                       | later                                |
    | -------------------------- | ------------------------------------ |
    | any                        | SUCCESS, and the task is asked for   |
    | no such task in the tree   | refused when the tree is built |
    """

    __slots__ = ("_target", "task")
    positional = "task"

    def __init__(self, *, task: str, **label: Unpack[Label]) -> None:
        super().__init__(**{"name": f"later {task}", **label})
        self.task = task
        self._target: Node = self

    def link(self, nodes: Sequence[Node]) -> None:
        tasks = {node.task: node for node in nodes if isinstance(node, Deferred)}
        if self.task not in tasks:
            known = did_you_mean(self.task, tasks) or f"; there are: {', '.join(tasks) or 'none'}"
            problem = f"no BT.deferred has the task {self.task!r}{known}"
            raise self.complaint(problem, MisplacedNodeError)
        self._target = tasks[self.task]

    def tick(self, run: RunState) -> RunStatus:
        run.memory[self._target.index] = True
        return SUCCESS
