"""The lines of code that use a name: not those that define it, nor comments and strings."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from oracle.patterns import lazy_pattern
from oracle.services.search.grammar_outline import (
    PARSE_SECONDS,
    Captures,
    captures_of,
    defining,
    name_node,
    parsed,
)
from oracle.services.search.languages import dialect_of

if TYPE_CHECKING:
    from tree_sitter import Node

_PROSE: Final = lazy_pattern("comment|string|text|heredoc|regex|char")
_SIGILS: Final = b":#"


def reference_lines(source: bytes, language: str, name: str) -> list[int]:
    """Every use counts, whatever its form: called, passed on, inherited, named as a type.

    A file that takes too long to parse has none.
    """
    places = _places(source, name)
    language = dialect_of(language, source)
    deadline = time.thread_time() + PARSE_SECONDS
    root = parsed(source, language, deadline) if places else None
    if root is None:
        return []
    defined = set(_defined_ends(captures_of(root, language)))
    lines: set[int] = set()
    for start, end in places:
        if time.thread_time() > deadline:
            return []
        if end not in defined and (leaf := _leaf(root, start, end, name)):
            # A leaf may have several lines, such as the body of a macro.
            lines.add(leaf.start_point[0] + 1 + source.count(b"\n", leaf.start_byte, start))
    return sorted(lines)


def _places(source: bytes, name: str) -> list[tuple[int, int]]:
    """Where the whole name occurs. Every byte that is not ASCII counts as part of a letter."""
    letter = rb"[\w\x80-\xff]"
    whole = rb"(?<!" + letter + rb")" + re.escape(name.encode()) + rb"(?!" + letter + rb")"
    return [match.span() for match in re.finditer(whole, source)]


def _defined_ends(captures: Captures) -> Iterator[int]:
    """Where the names of definitions end. Not where they begin: in Ruby that may be a colon."""
    for _, node in defining(captures):
        _, named = name_node(node)
        if named is not None:
            yield named.end_byte


def _leaf(root: Node, start: int, end: int, name: str) -> Node | None:
    """The leaf of the tree there, if it is a name. The body of a macro in C is one leaf."""
    leaf = root.descendant_for_byte_range(start, end)
    if leaf is None or leaf.child_count:
        return None
    if leaf.type == "preproc_arg":
        return leaf
    if _PROSE.search(leaf.type) or (leaf.text or b"").lstrip(_SIGILS) != name.encode():
        return None
    return None if leaf.type == "name" and _is_variable(leaf) else leaf


def _is_variable(leaf: Node) -> bool:
    """`$mailer` in PHP is not a use of something called `mailer`."""
    return leaf.parent is not None and leaf.parent.type == "variable_name"
