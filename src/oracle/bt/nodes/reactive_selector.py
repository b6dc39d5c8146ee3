"""Keep doing the last, until something before it takes over."""

from oracle.bt.nodes.reactive import Reactive
from oracle.bt.state.base import FAILURE


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
