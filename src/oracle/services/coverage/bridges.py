"""Bridges: files between the parts of a flow. They use one part and are imported by another.

Such a file may have no word of the question, so no search finds it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from oracle.models.tool_spec import ToolSpec
from oracle.services.coverage.listing import SourceData, part_around
from oracle.services.coverage.order import code_of
from oracle.services.coverage.parts import Part
from oracle.services.coverage.uses import imported_by, module_of, owners_of, uses_among
from oracle.services.quoting.kinds_of_lines import is_opening
from oracle.services.quoting.passages import IN_TESTS, is_dull

MOST_FOLLOWED: Final = 3
MOST_BRIDGES: Final = 4


def names_to_follow(parts: Sequence[Part]) -> list[str]:
    """Names that the parts define: those that another part uses, then classes, then others."""
    texts = [text for text in map(code_of, parts) if text]
    used = [
        name for uses in uses_among(texts).values() for names in uses.values() for name in names
    ]
    offered = sorted(owners_of(texts), key=lambda name: not _is_class(name))
    return list(dict.fromkeys([*used, *offered]))[:MOST_FOLLOWED]


def bridges_in(
    sources: Sequence[SourceData], parts: Sequence[Part], tools: Sequence[ToolSpec]
) -> list[Part]:
    """Places that use a name of a part, in files that another part imports."""
    texts = [text for text in map(code_of, parts) if text]
    known = {text[0].path for text in texts}
    imported = {module for text in texts for module in imported_by(text)}
    found: dict[str, Part] = {}
    for source in sources:
        path = str(source.get("path", ""))
        line = str(source.get("text", ""))
        is_new = path and path not in known and not IN_TESTS.search(path)
        # An import or a definition mentions the name too, but nothing happens there.
        is_use = not is_dull(line) and not is_opening(line)
        is_between = is_new and is_use and module_of(path) in imported
        if is_between and path not in found and (part := part_around(source, tools)):
            found[path] = part
    return list(found.values())[:MOST_BRIDGES]


def with_bridges(parts: Sequence[Part], bridges: Sequence[Part]) -> list[Part]:
    """Put the bridges before the parts that are still open. If a search has found a place in the
    same file, that place is better.

    Parts that were read keep their numbers, because their calls are named by them (`id_of`).
    """
    files = [bridge["file"] for bridge in bridges]
    left = [part for part in parts if part["state"] == "open"]
    first = [part for part in left if part["file"] in files]
    listed = {part["file"] for part in first}
    new = [bridge for bridge in bridges if bridge["file"] not in listed]
    following = iter([*first, *new, *(part for part in left if part not in first)])
    placed = [next(following) if part["state"] == "open" else part for part in parts]
    return [*placed, *following]


def _is_class(name: str) -> bool:
    return name[:1].isupper() and not name.isupper()
