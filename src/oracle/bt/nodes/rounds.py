"""What loop, repeat and retry share: they count rounds and play one a tick.

Between two rounds the node answers RUNNING and wakes the run at once. So the guards above it are
asked before each round, and a tree that would go round for ever spends the tick budget instead of
the process.
"""

from oracle.bt.core.node import Node
from oracle.bt.core.run import RunState
from oracle.bt.state.base import RUNNING, RunStatus
from oracle.errors import StructureError


def play_on(node: Node, run: RunState, status: RunStatus, rounds: int | None = None) -> RunStatus:
    """Begin another round if `rounds` says how many were played; else hand the status on."""
    if rounds is not None:
        run.memory[node.index] = rounds
        run.context.wake()
        return RUNNING
    if status is not RUNNING:
        run.memory[node.index] = None
    return status


def checked_count(kind: str, option: str, value: int) -> int:
    if value < 1:
        raise StructureError(f"{kind}: {option} is {value}; use 1 or more")
    return value
