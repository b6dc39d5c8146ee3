"""A tree that is ready to run: immutable, checked, shared by all of its runs."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Final

from oracle.bt.core.node import UNBOUND, Node
from oracle.errors import StructureError, did_you_mean
from oracle.patterns import lazy_pattern

if TYPE_CHECKING:
    from oracle.bt.state.schema import Key

_NAME: Final = lazy_pattern(r"[A-Za-z0-9_][A-Za-z0-9_. -]*")


class TreeDefinition:
    """Nodes with their ids, and the keys that their blackboard declares.

    A node's id is its path: names joined by `/`; a node without a name goes by its kind and its
    number among the unnamed siblings of that kind (`turn/sequence#2/ask`). `finish`, if there is
    one, is played after the root whatever ended it, like a `finally`.
    """

    def __init__(
        self,
        name: str,
        root: Node,
        *,
        finish: Node | None = None,
        schema: Mapping[str, Key] | None = None,
        description: str = "",
    ) -> None:
        self.name = name
        self.description = description
        self.root = root
        self.finish = finish
        self.schema = schema
        bound: list[Node] = []
        for branch in (root, finish):
            if branch is not None:
                _bind(branch, _segment(branch, {}), [], bound)
        self.nodes: tuple[Node, ...] = tuple(bound)
        self.by_path: Mapping[str, Node] = _by_unique_path(self.nodes)
        for node in self.nodes:
            node.link(self.nodes)
        for branch in (root, finish):
            if branch is not None:
                _check_keys(branch, schema)

    def __getitem__(self, path: str) -> Node:
        if path not in self.by_path:
            raise StructureError(
                f"tree {self.name!r} has no node {path!r}{did_you_mean(path, self.by_path)}"
            )
        return self.by_path[path]

    def part(self, name: str, root: Node) -> TreeDefinition:
        """The tree below a node, under another name."""
        part = copy.copy(self)
        part.name, part.root, part.finish, part.description = name, root, None, ""
        return part

    def __iter__(self) -> Iterator[Node]:
        return iter(self.nodes)

    def __len__(self) -> int:
        return len(self.nodes)

    def with_nodes(self, replacements: Mapping[str, Node]) -> TreeDefinition:
        """Build the same tree with other nodes at the given paths. This tree does not change."""
        for path in replacements:
            self[path]
            for other in replacements:
                if path.startswith(f"{other}/"):
                    raise StructureError(f"{path!r} lies below {other!r}, which is replaced too")
        return TreeDefinition(
            self.name,
            _rebuilt(self.root, replacements),
            finish=None if self.finish is None else _rebuilt(self.finish, replacements),
            schema=self.schema,
            description=self.description,
        )


def _bind(node: Node, path: str, ancestors: list[Node], bound: list[Node]) -> None:
    if node.index != UNBOUND:
        raise StructureError(f"{node!r} is in a tree already; build a second node")
    node.index = len(bound)
    node.path = path
    bound.append(node)
    node.bind(ancestors)
    ancestors.append(node)
    numbers: dict[str, int] = {}
    for child in node.children:
        _bind(child, f"{path}/{_segment(child, numbers)}", ancestors, bound)
    ancestors.pop()
    node.end = len(bound)


def _segment(node: Node, numbers: dict[str, int]) -> str:
    if node.segment is not None:
        return node.segment
    if node.name is not None:
        if not _NAME.fullmatch(node.name):
            raise node.complaint(
                f"{node.name!r} cannot be the name of a node; use letters, digits, spaces, '-', "
                "'_' and '.'"
            )
        return node.name
    numbers[node.kind] = numbers.get(node.kind, 0) + 1
    return f"{node.kind}#{numbers[node.kind]}"


def _by_unique_path(nodes: tuple[Node, ...]) -> Mapping[str, Node]:
    by_path: dict[str, Node] = {}
    for node in nodes:
        if node.path in by_path:
            raise node.complaint(f"two nodes have the path {node.path!r}; rename one of them")
        by_path[node.path] = node
    return by_path


def _check_keys(node: Node, visible: Mapping[str, Key] | None) -> None:
    if visible is not None:
        for key in sorted(node.keys() - visible.keys()):
            raise node.complaint(
                f"{node.path!r} uses the key {key!r}, which is not declared"
                + did_you_mean(key, visible)
            )
    below = node.keys_below(visible)
    for child in node.children:
        _check_keys(child, below)


def _rebuilt(node: Node, replacements: Mapping[str, Node]) -> Node:
    if node.path in replacements:
        rebuilt = replacements[node.path]
    else:
        rebuilt = copy.copy(node)
        rebuilt.index = UNBOUND
        rebuilt.adopt(tuple(_rebuilt(child, replacements) for child in node.children))
    rebuilt.segment = node.path.rpartition("/")[2]
    return rebuilt
