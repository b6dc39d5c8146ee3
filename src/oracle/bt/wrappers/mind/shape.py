"""A tree as the page draws it: a flat list of its nodes, in depth-first order."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from functools import lru_cache
from hashlib import sha256
from typing import Any, Final

from oracle.bt.core.definition import TreeDefinition
from oracle.bt.core.leaves import leaf_of
from oracle.bt.core.node import Node

_LENGTH_OF_A_HASH: Final = 12


def tree_data(
    definition: TreeDefinition, sources: Mapping[str, str], *, is_current: bool
) -> dict[str, Any]:
    """`is_current` says whether the next run would have the same tree."""
    return {
        "name": definition.name,
        "description": definition.description,
        "hash": hash_of(sources),
        "is_current": is_current,
        "files": sorted(sources),
        "nodes": _nodes(definition),
    }


def hash_of(sources: Mapping[str, str]) -> str:
    """The same for the same files, so that two runs of one tree are known as such."""
    digest = sha256()
    for file, text in sorted(sources.items()):
        digest.update(f"{file}\0{text}\0".encode("utf-8", "replace"))
    return digest.hexdigest()[:_LENGTH_OF_A_HASH]


# A definition is immutable, and thousands of runs share it.
@lru_cache(maxsize=8)
def _nodes(definition: TreeDefinition) -> list[dict[str, Any]]:
    parents = {child.path: node.path for node in definition.nodes for child in node.children}
    return [_node(node, parents.get(node.path)) for node in definition.nodes]


def _node(node: Node, parent: str | None) -> dict[str, Any]:
    fn: Any = getattr(node, "fn", None)
    leaf = None if fn is None else leaf_of(fn)
    file, line = node.place or (None, None)
    keys = sorted(node.keys())
    options = {name: value for name, value in node.options().items() if name != "fn"}
    return {
        "path": node.path,
        "name": node.name or node.path.rpartition("/")[2],
        "kind": node.kind,
        "parent": parent,
        "leaf": None if leaf is None else leaf.name,
        "description": node.description or _about(None if leaf is None else leaf.fn),
        "reads": keys if leaf is None else sorted(leaf.reads),
        "writes": [] if leaf is None else sorted(leaf.writes),
        "file": file,
        "line": line,
        "expression": getattr(fn, "source", None) if leaf is None else None,
        "options": options,
    }


def _about(fn: Any) -> str:
    """The first paragraph of the leaf's documentation, for a node that has no description."""
    return " ".join((inspect.getdoc(fn) or "").split("\n\n")[0].split()) if fn else ""
