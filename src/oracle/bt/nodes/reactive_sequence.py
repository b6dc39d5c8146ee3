"""Keep doing the last, as long as all before it hold."""

from oracle.bt.nodes.reactive import Reactive
from oracle.bt.state.base import SUCCESS


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
