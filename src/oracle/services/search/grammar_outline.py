"""The outline of a file by the grammar of its language, within bounds of time and depth."""

from __future__ import annotations

import re
import time
from bisect import bisect
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate
from operator import attrgetter
from typing import TYPE_CHECKING, Final

from oracle.services.search.languages import dialect_of, grammar, outline_query
from oracle.services.search.symbols import Outline, Symbol, nested

if TYPE_CHECKING:
    from tree_sitter import Node

Captures = Mapping[str, Sequence["Node"]]
PARSE_SECONDS: Final = 1.0
"""Of CPU time, so that a busy machine finds the same definitions as an idle one."""
LARGEST_PARSED: Final = 400_000
"""Larger sources are not parsed, which bounds time and memory."""
_BLOCK: Final = 16_384
"""How much the parser reads at once. The deadline is checked before each block."""
_DEEPEST: Final = 500
"""Time grows with the square of the depth, and a query cannot be stopped. `a.b().c()` is as deep as
it is long.
"""
_MOST_BEGUN: Final = 1_000
_UNTIMED: Final = 50
# `a = b = c = …`, 500 times: nested like brackets, but without any.
_LONGEST_CHAIN: Final = 500
_CHAIN: Final = re.compile(rb"(?<![\w.])(?:[\w.]{1,120}[ \t\r\n]{0,9}=[ \t\r\n]{0,9}){500}")
_NO_BRACKETS: Final = bytes(set(range(256)) - set(b"()[]{}"))
_ROUND: Final = bytes.maketrans(b"[]{}", b"()()")
_OPENS: Final = ord("(")
_USUALLY_DEEPEST: Final = 30
_DEFINITIONS: Final = ("class", "function", "type", "module", "constant", "declaration")
_LONGEST_NAME: Final = 120
_NAME_NODES: Final = frozenset(
    {"identifier", "field_identifier", "type_identifier", "word", "name", "constant",
     "property_identifier", "destructor_name", "operator_name", "qualified_identifier",
     "namespace_identifier", "variable_name", "simple_symbol", "private_property_identifier",
     "string_content"}
)  # fmt: skip
_NAME_FIELDS: Final = (
    "name", "declarator", "field", "property", "key", "method", "left", "type",
)  # fmt: skip
_OWNER_FIELDS: Final = ("object", "scope", "table")
_UNFIELDED: Final = frozenset({"parenthesized_declarator", "reference_declarator"})
_NO_OWNERS: Final = frozenset({"exports", "module", "this", "self", "window", "globalThis"})


def grammar_outline(
    source: bytes, language: str, *, seconds: float = PARSE_SECONDS
) -> Outline | None:
    """None if the source is too large or too deep, or if parsing takes longer than `seconds`.

    To be called by one thread of a process at a time, as `grammar_pool` does.
    """
    deadline = time.thread_time() + seconds
    language = dialect_of(language, source)
    root = parsed(source, language, deadline)
    captures = captures_of(root, language) if root else None
    return None if captures is None else _outline(captures, source, deadline)


def captures_of(root: Node, language: str) -> Captures:
    """What the query for the outline finds, within bounds, because a query cannot be stopped.

    One bound is the depth, the other the number of unfinished matches. Without the second, nested
    expressions would take quadratic time.
    """
    from tree_sitter import QueryCursor

    cursor = QueryCursor(outline_query(language), match_limit=_MOST_BEGUN)
    cursor.set_max_start_depth(_DEEPEST)
    return cursor.captures(root)


def parsed(source: bytes, language: str, deadline: float) -> Node | None:
    """The root of the tree; None if the source is too large or too deep, or time ran out."""
    if len(source) > LARGEST_PARSED or _is_too_deep(source):
        return None
    late = False

    def read(offset: int, _: object) -> bytes:
        nonlocal late
        late = late or time.thread_time() > deadline
        # An empty block is the end of the source: the only way to stop the parser.
        return b"" if late else source[offset : offset + _BLOCK]

    from tree_sitter import Parser

    # A parser of its own: `read` lets other threads run while the parser is at work.
    tree = Parser(grammar(language)).parse(read)
    return None if late else tree.root_node


def _is_too_deep(source: bytes) -> bool:
    """Judged by brackets and chains before parsing: some grammars do not read on while they search
    for closing brackets, so the deadline cannot stop them.
    """
    if source.count(b"=") >= _LONGEST_CHAIN and _CHAIN.search(source):
        return True
    brackets = source.translate(_ROUND, _NO_BRACKETS)
    # What is real is a few levels deep, and this is known sooner by taking innermost pairs away.
    left = brackets
    for level in range(_USUALLY_DEEPEST):
        if b"()" not in left:
            if level + left.count(b"(") <= _DEEPEST:
                return False
            break
        left = left.replace(b"()", b"")
    depth = 0
    for bracket in brackets:
        depth += 1 if bracket == _OPENS else -1
        if depth > _DEEPEST:
            return True
        depth = max(depth, 0)
    return False


def _outline(captures: Captures, source: bytes, deadline: float) -> Outline | None:
    """A name counts once on a line: `f = function f() {}` defines one f."""
    # Asking a node for its line takes several times as long as asking it for its first byte.
    starts = [0, *accumulate(len(line) + 1 for line in source.split(b"\n"))]
    symbols: dict[tuple[str, int], Symbol] = {}
    for number, (kind, node) in enumerate(defining(captures)):
        # Asking for the time takes as long as a symbol.
        if number % _UNTIMED == 0 and time.thread_time() > deadline:
            return None
        if symbol := _symbol(node, kind, source, starts):
            symbols.setdefault((symbol.name, symbol.start), symbol)
    remarks = sorted(
        (bisect(starts, node.start_byte), bisect(starts, node.end_byte))
        for node in captures.get("comment", ())
    )
    return Outline(symbols=nested(list(symbols.values())), remarks=remarks)


def defining(captures: Captures) -> Iterator[tuple[str, Node]]:
    """By kind, then in the order of the file. The captures themselves come in any order."""
    for kind in _DEFINITIONS:
        for node in sorted(captures.get(kind, ()), key=attrgetter("start_byte")):
            yield kind, node


def _symbol(node: Node, kind: str, source: bytes, starts: Sequence[int]) -> Symbol | None:
    holder, named = name_node(node)
    # In a text that is cut off, a grammar goes on as if a name were there.
    length = 0 if named is None else named.end_byte - named.start_byte
    if named is None or not 0 < length <= _LONGEST_NAME:
        return None
    return Symbol(
        name=_text(named, source).lstrip(":#"),
        kind=kind,
        start=bisect(starts, _first_byte(node)),
        end=bisect(starts, node.end_byte),
        parent=_owner(node, holder, source),
    )


def _text(node: Node, source: bytes) -> str:
    return source[node.start_byte : node.end_byte].decode("utf-8", "replace")


def _owner(node: Node, holder: Node, source: bytes) -> str | None:
    """The owner that the name itself states, as in `Shelf.prototype.put` and `Shelf::put`."""
    owner = _owning_node(node, holder)
    if owner is None or owner.end_byte - owner.start_byte > _LONGEST_NAME:
        return None
    whole = _text(owner, source).partition("<")[0].removesuffix(".prototype")
    name = whole.replace("::", ".").rpartition(".")[2]
    return name if name.isidentifier() and name not in _NO_OWNERS else None


def _owning_node(node: Node, holder: Node) -> Node | None:
    if receiver := node.child_by_field_name("receiver"):
        return _received(receiver)
    # A member of an object literal belongs to the variable that the object is assigned to.
    if node.type != "pair":
        return _first_field(holder, _OWNER_FIELDS)
    around = node.parent and node.parent.parent
    return around and _first_field(around, ("name", "left"))


def _received(receiver: Node) -> Node | None:
    """The type in the receiver of a method in Go, without pointer and parameters."""
    inner = receiver.named_children[0] if receiver.named_children else None
    while inner is not None and inner.type != "type_identifier":
        inner = inner.child_by_field_name("type") or (
            inner.named_children[0] if inner.type == "pointer_type" else None
        )
    return inner


def _first_field(node: Node, fields: Sequence[str]) -> Node | None:
    for field in fields:
        if (found := node.child_by_field_name(field)) is not None:
            return found
    return None


def _first_byte(node: Node) -> int:
    # The definition begins with its decorators, and with `export`.
    parent = node.parent
    if parent is not None and parent.type in ("decorated_definition", "export_statement"):
        return parent.start_byte
    return node.start_byte


def name_node(node: Node) -> tuple[Node, Node | None]:
    """The node that holds the name, and the name, found by following fields.

    C and C++ wrap the name in declarators, Lua in a list. Of a qualified name it is the last part.
    """
    holder = node
    # A bound for hostile sources: real names are only a few levels down.
    for _ in range(10):
        inner = _first_field(node, _NAME_FIELDS) or _first_inside(node)
        if inner is None:
            return (holder, node) if node.type in _NAME_NODES else (node, _named_child(node))
        holder, node = node, inner
        if node.type in _NAME_NODES and node.type != "qualified_identifier":
            return holder, node
    return holder, None


def _first_inside(node: Node) -> Node | None:
    if node.type == "assignment_statement":
        return node.named_children[0]
    return node.named_children[-1] if node.type in _UNFIELDED and node.named_children else None


def _named_child(node: Node) -> Node | None:
    return next((child for child in node.named_children[:4] if child.type in _NAME_NODES), None)
