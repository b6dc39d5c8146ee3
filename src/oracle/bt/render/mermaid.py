"""A tree as Mermaid, for pages such as a README."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Final

from oracle.bt.core.definition import TreeDefinition
from oracle.bt.core.node import Node
from oracle.bt.render.ascii import on_one_line

_SYMBOLS: Final[Mapping[str, str]] = {
    "sequence": "→",
    "reactive_sequence": "↻→",
    "selector": "?",
    "reactive_selector": "↻?",
    "parallel": "⇉",
    "loop": "⟳",
}


_CHANGED: Final = "fill:#fde2e1,stroke:#c62828,stroke-width:3px,color:#000"
_ON_THE_WAY: Final = "stroke:#c62828,stroke-width:2px"


def changed_as_mermaid(definition: TreeDefinition, changed: Collection[str]) -> str:
    """The nodes at these paths, marked, with the way to them and what is beside it.

    The rest is left out: the tree of an agent has more nodes than Mermaid draws.
    """
    marked = [definition.by_path[path] for path in changed if path in definition.by_path]
    way = {node.index for node in definition.nodes if any(_holds(node, each) for each in marked)}
    lines = ["flowchart TD"]
    for branch in (definition.root, definition.finish):
        if branch is not None and branch.index in way:
            lines.extend(_lines_along(branch, way))
    changed_at = {node.index for node in marked}
    lines += [f"  classDef changed {_CHANGED}", f"  classDef way {_ON_THE_WAY}"]
    lines += [f"  class n{index} changed" for index in sorted(changed_at)]
    lines += [f"  class n{index} way" for index in sorted(way - changed_at)]
    return "\n".join(lines) + "\n"


def _holds(node: Node, other: Node) -> bool:
    return node.index <= other.index < node.end


def _lines_along(node: Node, way: Collection[int]) -> Iterator[str]:
    yield _line(node)
    for child in node.children if node.index in way else ():
        yield from _lines_along(child, way)
        # A thick line leads to what has changed.
        yield f"  n{node.index} {'==>' if child.index in way else '-->'} n{child.index}"


def as_mermaid(definition: TreeDefinition) -> str:
    lines = ["flowchart TD"]
    for branch in (definition.root, definition.finish):
        if branch is not None:
            lines.extend(_lines(branch))
    return "\n".join(lines) + "\n"


def _lines(node: Node) -> Iterator[str]:
    yield _line(node)
    for child in node.children:
        yield from _lines(child)
        yield f"  n{node.index} --> n{child.index}"


def _line(node: Node) -> str:
    opening, closing = _shape(node)
    return f'  n{node.index}{opening}"{_text(node)}"{closing}'


def _shape(node: Node) -> tuple[str, str]:
    if node.kind == "condition":
        return "([", "])"
    if not node.children:
        return "[", "]"
    return ("{{", "}}") if len(node.children) == 1 else ("[/", "/]")


def _text(node: Node) -> str:
    name = node.name or str(node.options().get("fn", ""))
    symbol = _SYMBOLS.get(node.kind, "" if node.kind in ("action", "condition") else node.kind)
    return _escaped(f"{symbol} {name}".strip() or node.kind)


def _escaped(text: str) -> str:
    """Write as a number what would mean something to Mermaid."""
    return "".join(f"#{ord(c)};" if c in '"#<>&`' else c for c in on_one_line(text))
