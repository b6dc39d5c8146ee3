"""All of them, one after the other."""

from oracle.bt.nodes.resuming import Resuming
from oracle.bt.state.base import SUCCESS


class Sequence(Resuming, kind="sequence"):
    """Tick the children in order while they succeed; go on at the running child.

    | child   | sequence                                                   |
    | ------- | ---------------------------------------------------------- |
    | SUCCESS | goes on to the next child; after the last: SUCCESS         |
    | FAILURE | FAILURE; starts at the first child the next time           |
    | RUNNING | RUNNING; the next tick goes on at this child               |
    | SKIPPED | goes on to the next child; if all were skipped: SKIPPED    |
    """

    __slots__ = ()
    goes_on_after = SUCCESS
