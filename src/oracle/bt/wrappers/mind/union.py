"""Two trees as one shape: a node has the same place in both, and says which of them has it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from oracle.bt.core.definition import TreeDefinition
from oracle.bt.core.node import Node


def union(first: TreeDefinition, second: TreeDefinition) -> list[dict[str, Any]]:
    """All nodes in depth-first order. One that only the second has comes after the sibling that is
    before it there.
    """
    merged = [_row(node, "both" if node.path in second.by_path else "a") for node in first]
    parents = {**_parents(second), **_parents(first)}
    last_child: dict[str, str] = {}
    for node in second:
        parent = parents.get(node.path, "")
        if node.path not in first.by_path:
            at = _end_of(merged, last_child.get(parent), parent)
            merged.insert(at, _row(node, "b"))
        last_child[parent] = node.path
    return [{**row, "parent": parents.get(row["path"])} for row in merged]


def _end_of(merged: list[dict[str, Any]], sibling: str | None, parent: str) -> int:
    """The place after a sibling and all that is below it, or right after the parent."""
    if sibling is None:
        places = [at for at, row in enumerate(merged) if row["path"] == parent]
    else:
        below = f"{sibling}/"
        places = [
            at
            for at, row in enumerate(merged)
            if row["path"] == sibling or row["path"].startswith(below)
        ]
    return places[-1] + 1 if places else len(merged)


def _parents(definition: TreeDefinition) -> Mapping[str, str]:
    return {child.path: node.path for node in definition for child in node.children}


def _row(node: Node, where: Literal["both", "a", "b"]) -> dict[str, Any]:
    name = node.name or node.path.rpartition("/")[2]
    return {"path": node.path, "name": name, "kind": node.kind, "in": where}
