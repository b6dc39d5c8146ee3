"""A tree as Mermaid, for pages such as a README."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
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


def as_mermaid(definition: TreeDefinition) -> str:
    lines = ["flowchart TD"]
    for branch in (definition.root, definition.finish):
        if branch is not None:
            lines.extend(_lines(branch))
    return "\n".join(lines) + "\n"


def _lines(node: Node) -> Iterator[str]:
    opening, closing = _shape(node)
    yield f'  n{node.index}{opening}"{_text(node)}"{closing}'
    for child in node.children:
        yield from _lines(child)
        yield f"  n{node.index} --> n{child.index}"


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
