"""What a file defines, which names it uses, and where it explains itself."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Final

from oracle.services.index.languages import grammar, outline_query

if TYPE_CHECKING:
    from tree_sitter import Node, Parser

Captures = Mapping[str, Sequence["Node"]]
PARSE_SECONDS: Final = 1.0
LARGEST_PARSED: Final = 400_000
_BLOCK: Final = 16_384
_DEEPEST: Final = 500
"""Time grows with the square of the depth, in a query too, which cannot be stopped: `a.b().c()` is
as deep as it is long.
"""

_NO_BRACKETS: Final = bytes(set(range(256)) - set(b"()[]{}"))
_DEFINITIONS: Final = ("class", "function", "type", "module", "constant", "declaration")
_LONGEST_NAME: Final = 120
_NAME_NODES: Final = frozenset(
    {"identifier", "field_identifier", "type_identifier", "word", "name", "constant",
     "property_identifier", "destructor_name", "operator_name", "qualified_identifier",
     "namespace_identifier", "variable_name"}
)  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Symbol:
    """A definition with its lines, from 1, both included."""

    name: str
    kind: str
    start: int
    end: int
    parent: str | None = None


@dataclass(frozen=True, kw_only=True)
class Outline:
    """`remarks` are the lines of comments and docstrings, both included."""

    symbols: Sequence[Symbol] = ()
    remarks: Sequence[tuple[int, int]] = ()


def outline_of(source: bytes, language: str, *, seconds: float = PARSE_SECONDS) -> Outline | None:
    """None when it takes longer than it may, or when there is too much of it."""
    deadline = time.monotonic() + seconds
    captures = _captures(source, language, deadline)
    return None if captures is None else _outline(captures, source, deadline)


def _captures(source: bytes, language: str, deadline: float) -> Captures | None:
    """What the outline's query finds."""
    from tree_sitter import QueryCursor

    if len(source) > LARGEST_PARSED or _is_too_deep(source):
        return None
    late = False

    def read(offset: int, _: object) -> bytes:
        nonlocal late
        late = late or time.monotonic() > deadline
        return b"" if late else source[offset : offset + _BLOCK]

    tree = _parser(language).parse(read)
    cursor = QueryCursor(outline_query(language))
    cursor.set_max_start_depth(_DEEPEST)
    return None if late else cursor.captures(tree.root_node)


def _is_too_deep(source: bytes) -> bool:
    """By its brackets: some grammars cannot be stopped while they wait for closing ones."""
    depth = 0
    for bracket in source.translate(None, _NO_BRACKETS):
        depth += 1 if bracket in b"([{" else -1
        if depth > _DEEPEST:
            return True
        depth = max(depth, 0)
    return False


@cache
def _parser(language: str) -> Parser:
    from tree_sitter import Parser

    return Parser(grammar(language))


def _outline(captures: Captures, source: bytes, deadline: float) -> Outline | None:
    symbols: list[Symbol] = []
    for kind in _DEFINITIONS:
        for node in captures.get(kind, ()):
            if time.monotonic() > deadline:
                return None
            if symbol := _symbol(node, kind, source):
                symbols.append(symbol)
    remarks = sorted(
        (node.start_point[0] + 1, node.end_point[0] + 1) for node in captures.get("comment", ())
    )
    return Outline(symbols=nested(symbols), remarks=remarks)


def _symbol(node: Node, kind: str, source: bytes) -> Symbol | None:
    named = _name_node(node)
    if named is None or named.end_byte - named.start_byte > _LONGEST_NAME:
        return None
    return Symbol(
        name=source[named.start_byte : named.end_byte].decode("utf-8", "replace"),
        kind=kind,
        start=_first_line(node),
        end=node.end_point[0] + 1,
    )


def _first_line(node: Node) -> int:
    parent = node.parent
    if parent is not None and parent.type in ("decorated_definition", "export_statement"):
        return parent.start_point[0] + 1
    return node.start_point[0] + 1


def _name_node(node: Node) -> Node | None:
    """By its field; C and its heirs wrap the name in declarators, Lua in a list."""
    for _ in range(8):
        inner = (
            node.child_by_field_name("name")
            or node.child_by_field_name("declarator")
            or node.child_by_field_name("field")
            or node.child_by_field_name("method")
            or node.child_by_field_name("left")
            or node.child_by_field_name("type")
            or (node.named_children[0] if node.type == "assignment_statement" else None)
        )
        if inner is None:
            return node if node.type in _NAME_NODES else _named_child(node)
        node = inner
        if node.type in _NAME_NODES and node.type != "qualified_identifier":
            return node
    return None


def _named_child(node: Node) -> Node | None:
    return next((child for child in node.named_children[:4] if child.type in _NAME_NODES), None)


def nested(symbols: list[Symbol]) -> list[Symbol]:
    """In the order of the file, each with the name of the definition around it."""
    placed: list[Symbol] = []
    around: list[Symbol] = []
    for symbol in sorted(symbols, key=lambda each: (each.start, -each.end)):
        while around and around[-1].end < symbol.start:
            around.pop()
        parent = around[-1].name if around and around[-1].end >= symbol.end else None
        placed.append(
            Symbol(
                name=symbol.name,
                kind=symbol.kind,
                start=symbol.start,
                end=symbol.end,
                parent=parent,
            )
        )
        if symbol.kind not in ("constant", "declaration"):
            around.append(symbol)
    return placed


def reference_lines(source: bytes, language: str, name: str) -> list[int]:
    """The lines on which the grammar sees a name used, not defined or only mentioned.

    None in a file that takes longer than it may.
    """
    wanted = name.encode()
    captures = _captures(source, language, time.monotonic() + PARSE_SECONDS) or {}
    return sorted(
        {
            node.start_point[0] + 1
            for node in captures.get("reference", ())
            if source[node.start_byte : node.end_byte] == wanted
        }
    )
