"""For a terminal of any kind, and for diffs."""

from __future__ import annotations

from collections.abc import Iterator

from oracle.bt.core.definition import TreeDefinition
from oracle.bt.core.node import Node


def as_ascii(definition: TreeDefinition) -> str:
    lines = [on_one_line(f"{definition.name}: {definition.description}").removesuffix(":")]
    branches = [branch for branch in (definition.root, definition.finish) if branch is not None]
    for branch in branches:
        lines.extend(_lines(branch, "", last=branch is branches[-1]))
    return "\n".join(lines) + "\n"


def _lines(node: Node, indent: str, *, last: bool) -> Iterator[str]:
    yield f"{indent}{'`-- ' if last else '|-- '}{label(node)}"
    for child in node.children:
        below = indent + ("    " if last else "|   ")
        yield from _lines(child, below, last=child is node.children[-1])


def label(node: Node) -> str:
    """`call [retry] attempts=3`: the name if there is one, the kind, and what was set."""
    options = [_shown(name, value) for name, value in node.options().items() if value != node.name]
    return on_one_line(" ".join([node.name or "", f"[{node.kind}]", *options]))


def on_one_line(text: str) -> str:
    """Names may hold anything; a line break or a control character would spoil a drawing."""
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())


def _shown(name: str, value: object) -> str:
    return str(value) if name == "fn" else f"{name}={value}"
