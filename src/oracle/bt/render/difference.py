"""What changed between two versions of some trees, by node path."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from oracle.bt.core.definition import TreeDefinition
from oracle.bt.core.node import Node


def difference(
    before: Mapping[str, TreeDefinition], after: Mapping[str, TreeDefinition]
) -> list[str]:
    """One line a change, in the order of the trees: `oracle-agent: + turn/ask (action)`."""
    lines: list[str] = []
    for name in sorted(before.keys() | after.keys()):
        if name not in after:
            lines.append(f"{name}: removed")
        elif name not in before:
            lines.append(f"{name}: added")
        else:
            lines.extend(f"{name}: {line}" for line in _changes(before[name], after[name]))
    return lines


def _changes(before: TreeDefinition, after: TreeDefinition) -> Iterator[str]:
    for path, node in before.by_path.items():
        if path not in after.by_path:
            yield f"- {path} ({node.kind})"
    for path, node in after.by_path.items():
        if path not in before.by_path:
            yield f"+ {path} ({node.kind})"
        else:
            yield from _node_changes(before.by_path[path], node)
    if [*before.by_path] != [*after.by_path] and before.by_path.keys() == after.by_path.keys():
        yield "~ the order of the nodes"
    if before.schema != after.schema:
        yield "~ the keys of the blackboard"


def _node_changes(before: Node, after: Node) -> Iterator[str]:
    if before.kind != after.kind:
        yield f"~ {after.path}: {before.kind} → {after.kind}"
        return
    if before.declares() != after.declares():
        yield f"~ {after.path}: its own keys"
    old, new = before.options(), after.options()
    for option in sorted(old.keys() | new.keys()):
        if old.get(option) != new.get(option):
            yield f"~ {after.path}: {option} {old.get(option)!r} → {new.get(option)!r}"
