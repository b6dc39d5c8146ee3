"""A run as JSON, between two ticks, and a run that goes on from there.

An async leaf that was at work starts anew: its task cannot be written down. Moments are by the
clock of the run, so a restored run needs a clock that continues from the one before.
"""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING, Any

from oracle.bt.core.runtime import Outcome, TreeRun
from oracle.bt.state.base import RunStatus
from oracle.errors import StructureError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from oracle.bt.core.context import TickContext
    from oracle.bt.core.definition import TreeDefinition
    from oracle.bt.state.blackboard import TypedBlackboard


def take_snapshot(run: TreeRun) -> dict[str, Any]:
    nodes, context = run.definition.nodes, run.context
    board = context.blackboard
    return {
        "tree": run.definition.name,
        "nodes": _digest(run.definition),
        "branch": run.branch.path,
        "outcome": None if context.outcome is None else _outcome_as_json(context.outcome),
        "ticks": context.ticks,
        "turn": context.turn,
        "statuses": {
            node.path: status.value
            for node, status in zip(nodes, run.statuses, strict=True)
            if status is not None
        },
        "memory": {n.path: m for n, m in zip(nodes, run.memory, strict=True) if m is not None},
        "deadlines": {nodes[index].path: moment for index, moment in run.deadlines.items()},
        "blackboard": {} if board is None else board.snapshot(),
        "scopes": {nodes[index].path: scope.snapshot() for index, scope in run.scopes.items()},
    }


def restore_run(
    definition: TreeDefinition, snapshot: Mapping[str, Any], context: TickContext
) -> TreeRun:
    """Build a run in the state of the snapshot; a snapshot of another tree is refused."""
    if snapshot["tree"] != definition.name or snapshot["nodes"] != _digest(definition):
        raise StructureError(
            f"a snapshot of {snapshot['tree']!r} does not fit {definition.name!r} as it is now"
        )
    run = TreeRun(definition, context)
    run.branch = definition[snapshot["branch"]]
    _restore_context(context, snapshot)
    for path, status in snapshot["statuses"].items():
        run.statuses[definition[path].index] = RunStatus(status)
    for path, remembered in snapshot["memory"].items():
        run.memory[definition[path].index] = remembered
    for path, moment in snapshot["deadlines"].items():
        run.deadlines[definition[path].index] = moment
    for path, values in _outermost_first(snapshot["scopes"]):
        _open_scope(run, path).restore(values)
    return run


def _restore_context(context: TickContext, snapshot: Mapping[str, Any]) -> None:
    assert context.blackboard is not None
    context.ticks, context.turn = snapshot["ticks"], snapshot["turn"]
    context.blackboard.restore(snapshot["blackboard"])
    if (outcome := snapshot["outcome"]) is not None:
        context.outcome = Outcome(
            status=RunStatus(outcome["status"]), stop=outcome["stop"], detail=outcome["detail"]
        )


def _open_scope(run: TreeRun, path: str) -> TypedBlackboard:
    nodes = run.definition.nodes
    around = [run.scopes[i] for i in run.scopes if path.startswith(f"{nodes[i].path}/")]
    node: Any = run.definition[path]
    return node.open_scope(run, (around or [run.context.blackboard])[-1])


def _outcome_as_json(outcome: Outcome) -> dict[str, str]:
    """An error is kept in words; the exception itself belonged to the process."""
    return {"status": outcome.status.value, "stop": outcome.stop, "detail": outcome.detail}


def _digest(definition: TreeDefinition) -> str:
    paths = "\n".join(node.path for node in definition)
    return sha256(paths.encode()).hexdigest()


def _outermost_first(scopes: Mapping[str, Any]) -> Iterable[tuple[str, Any]]:
    return sorted(scopes.items(), key=lambda item: item[0].count("/"))
