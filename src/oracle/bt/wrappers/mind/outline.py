"""A tree at rest, in about a dozen rows: the branches that somebody new should know."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from oracle.bt.core.definition import TreeDefinition
from oracle.bt.core.node import Node

_MEANINGS: Final[Mapping[str, str]] = {
    "open ledger": "What this run may spend.",
    "assess": "What kind of question is it?",
    "compose": "Which tools it gets, and which prompt.",
    "broad question": "Then every part is read first.",
    "turns": "As many as the ledger allows.",
    "budget": "At the reserve the tools are withdrawn.",
    "response": "The model writes; the guards stay live.",
    "fallback": "When its signal is missing or weak.",
    "decide": "What its signal leads to.",
    "work": "Tool calls, screened and weighed.",
    "finish": "Always an answer, and why it ended.",
}
"""For our own trees. Another tree says it in the descriptions of its nodes."""

_BRANCHES: Final = ("subtree", "selector", "sequence", "reactive_selector", "reactive_sequence")
_FEWEST_NODES: Final = 4
"""A smaller branch of a turn is a detail."""


def outline(definition: TreeDefinition) -> list[dict[str, Any]]:
    return [_row(node, depth) for node, depth in _chosen(definition)]


def _chosen(definition: TreeDefinition) -> Iterator[tuple[Node, int]]:
    for node in _body(definition.root).children or (definition.root,):
        yield node, 0
        if node.kind == "loop":
            # Its child is the turn, most often as a subtree.
            branches = (each for each in _body(node.children[0]).children if _is_branch(each))
            yield from ((each, 1) for each in branches)
    if definition.finish is not None:
        yield definition.finish, 0


def _body(node: Node) -> Node:
    """The first node below that has several children, or none."""
    while len(node.children) == 1:
        node = node.children[0]
    return node


def _is_branch(node: Node) -> bool:
    return node.kind in _BRANCHES and _size(node) >= _FEWEST_NODES


def _size(node: Node) -> int:
    return node.end - node.index


def _row(node: Node, depth: int) -> dict[str, Any]:
    name = node.name or node.path.rpartition("/")[2]
    return {
        "path": node.path,
        "name": name,
        "kind": node.kind,
        "depth": depth,
        "nodes": _size(node),
        "description": node.description or _MEANINGS.get(name, ""),
    }
