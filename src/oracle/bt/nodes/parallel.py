"""All of them at the same time."""

from typing import Unpack

from oracle.bt.core.node import Composite, Label, Node
from oracle.bt.core.run import RunState
from oracle.bt.state.base import FAILURE, RUNNING, SKIPPED, SUCCESS, RunStatus
from oracle.errors import StructureError


class Parallel(Composite, kind="parallel"):
    """Tick every child that has not ended, until `succeed` of them succeeded: "all", "one" or a
    number.

    | children                                        | parallel                           |
    | ----------------------------------------------- | ---------------------------------- |
    | enough SUCCESS                                  | halts the rest; SUCCESS            |
    | so many FAILURE that enough cannot be reached   | halts the rest; FAILURE            |
    | neither yet                                     | RUNNING; those that ended wait     |
    | SKIPPED                                         | counts for neither side            |
    | all SKIPPED                                     | SKIPPED                            |

    "all" asks for all that were not skipped; a number asks for that many, skipped or not. Children
    are ticked in order, and as soon as the result is known those that come later are not started
    any more.
    """

    __slots__ = ("succeed",)

    def __init__(self, *children: Node, succeed: int | str = "all", **label: Unpack[Label]) -> None:
        super().__init__(*children, **label)
        if succeed == "one":
            succeed = 1
        if succeed != "all" and not (isinstance(succeed, int) and 1 <= succeed <= len(children)):
            raise StructureError(
                f"parallel: succeed is {succeed!r}; "
                f"use 'all', 'one' or a number from 1 to {len(children)}"
            )
        self.succeed = succeed

    def tick(self, run: RunState) -> RunStatus:
        statuses = run.statuses
        ended: list[int] = list(run.memory[self.index] or ())
        known = set(ended)
        for child in self.children:
            if child.index in known:
                continue
            statuses[child.index] = status = child.tick(run)
            if status is RUNNING:
                continue
            ended.append(child.index)
            verdict = self._verdict([statuses[index] for index in ended])
            if verdict is not None:
                self._halt_rest(run)
                run.memory[self.index] = None
                return verdict
        run.memory[self.index] = ended
        return RUNNING

    def _verdict(self, answers: list[RunStatus | None]) -> RunStatus | None:
        successes = answers.count(SUCCESS)
        skipped = answers.count(SKIPPED)
        possible = len(self.children) - answers.count(FAILURE) - skipped
        needed = len(self.children) - skipped if self.succeed == "all" else int(self.succeed)
        if skipped == len(self.children):
            return SKIPPED
        if successes >= needed and needed:
            return SUCCESS
        out_of_reach = possible < needed and skipped < len(answers)
        return FAILURE if out_of_reach else None

    def _halt_rest(self, run: RunState) -> None:
        for child in self.children:
            if run.statuses[child.index] is RUNNING:
                child.halt(run)
