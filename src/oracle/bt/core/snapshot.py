"""A run as JSON, between two ticks, and a run that goes on from there.

An async leaf that was at work starts anew: its task cannot be written down. Moments are by the
clock of the run, so whoever restores it brings a clock that goes on from the one before.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from oracle.bt.core.runtime import TreeRun
from oracle.bt.state.base import RunStatus
from oracle.errors import StructureError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from oracle.bt.core.context import TickContext
    from oracle.bt.core.definition import TreeDefinition


def take_snapshot(run: TreeRun) -> dict[str, Any]:
    nodes = run.definition.nodes
    board = run.context.blackboard
    return {
        "tree": run.definition.name,
        "ticks": run.context.ticks,
        "turn": run.context.turn,
        "statuses": {
            n.path: s.value for n, s in zip(nodes, run.statuses, strict=True) if s is not None
        },
        "memory": {n.path: m for n, m in zip(nodes, run.memory, strict=True) if m is not None},
        "deadlines": {nodes[index].path: moment for index, moment in run.deadlines.items()},
        "blackboard": {} if board is None else board.snapshot(),
        "scopes": {nodes[index].path: scope.snapshot() for index, scope in run.scopes.items()},
    }


def restore_run(
    definition: TreeDefinition, snapshot: Mapping[str, Any], context: TickContext
) -> TreeRun:
    """Build a run that stands where the snapshot was taken; another tree's is refused."""
    _check_paths(definition, snapshot)
    run = TreeRun(definition, context)
    assert context.blackboard is not None
    context.ticks, context.turn = snapshot["ticks"], snapshot["turn"]
    context.blackboard.restore(snapshot["blackboard"])
    for path, status in snapshot["statuses"].items():
        run.statuses[definition[path].index] = RunStatus(status)
    for path, remembered in snapshot["memory"].items():
        run.memory[definition[path].index] = remembered
    for path, moment in snapshot["deadlines"].items():
        run.deadlines[definition[path].index] = moment
    for path, values in _outermost_first(snapshot["scopes"]):
        node: Any = definition[path]
        enclosing = [
            run.scopes[i] for i in run.scopes if path.startswith(f"{definition.nodes[i].path}/")
        ]
        scope = node.open_scope(run, (enclosing or [context.blackboard])[-1])
        scope.restore(values)
    return run


def _check_paths(definition: TreeDefinition, snapshot: Mapping[str, Any]) -> None:
    if snapshot["tree"] != definition.name:
        raise StructureError(
            f"a snapshot of {snapshot['tree']!r} is not one of {definition.name!r}"
        )
    for part in ("statuses", "memory", "deadlines", "scopes"):
        for path in snapshot[part]:
            definition[path]


def _outermost_first(scopes: Mapping[str, Any]) -> Iterable[tuple[str, Any]]:
    return sorted(scopes.items(), key=lambda item: item[0].count("/"))
