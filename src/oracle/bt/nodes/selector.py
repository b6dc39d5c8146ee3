"""The first of them that works."""

from oracle.bt.nodes.resuming import Resuming
from oracle.bt.state.base import FAILURE


class Selector(Resuming, kind="selector"):
    """Tick the children in order until one succeeds; go on at the running child.

    | child   | selector                                                   |
    | ------- | ---------------------------------------------------------- |
    | SUCCESS | SUCCESS; starts at the first child the next time           |
    | FAILURE | goes on to the next child; after the last: FAILURE         |
    | RUNNING | RUNNING; the next tick goes on at this child               |
    | SKIPPED | goes on to the next child; if all were skipped: SKIPPED    |
    """

    __slots__ = ()
    goes_on_after = FAILURE
