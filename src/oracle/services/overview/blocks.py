"""Blocks of declarations in C, Go, Rust and TypeScript: enums, structs, `const ( … )`.

Such a block may have no name of its own: a `typedef` names it at its end, Go names the type of its
first constant, and others only say in the comment above what it holds.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from oracle.patterns import lazy_pattern
from oracle.services.overview.members import FEWEST, Group, Wanted, fit
from oracle.services.overview.places import Place, Reader
from oracle.services.project.identifiers import parts_of

_OPENS: Final = lazy_pattern(
    r"(?P<before>(?:pub(?:\([^)]*\))?|export|declare|typedef|static|const)\s+)*"
    r"(?:(?P<kind>enum(?:\s+(?:class|struct))?|struct|union|interface)\b\s*(?P<name>\w+)?[^;({]*\{?\s*$"
    r"|(?:type|var)\s+(?P<go>\w+)\s+(?:struct|interface)\s*\{\s*$"
    r"|(?P<group>const|var)\s*\(\s*$)"
)
_TYPED: Final = lazy_pattern(r"\s*\w+\s+(?P<type>[A-Za-z]\w*)\s*=")
_CLOSES: Final = lazy_pattern(r"[})]\s*(?P<name>\w+)?")
_COMMENT: Final = lazy_pattern(r"\s*(?://+!?|/\*+|\*+/?|#)\s*(?P<text>.*?)\s*(?:\*/)?$")
_NO_MEMBER: Final = lazy_pattern(r"\s*(?://|/\*|\*|#|[{}()\]]|$)")
_MOST_LINES: Final = 130
_LONGEST_COMMENT: Final = 6
"""Words. A longer comment says more than what the block is called."""
_OF_A_LIST, _OF_FIELDS = 0.95, 0.8
_PER_WORD: Final = 0.1
_MOST_FURTHER: Final = 2
_ENDINGS: Final = (".c", ".h", ".cc", ".cpp", ".hpp", ".go", ".rs", ".ts", ".cs", ".java", ".swift")


def blocks(reader: Reader, names: Mapping[str, Sequence[str]], asked: Wanted) -> Iterator[Group]:
    """The blocks whose name, or the comment above them, has the words."""
    wanted = [asked.words, asked.whole] if asked.whole else [asked.words]
    for path in (path for path in names if path.endswith(_ENDINGS)):
        lines = reader.read(path)
        for number, line in enumerate(lines):
            opened = _OPENS.match(line)
            end = _end_of(lines, number) if opened else None
            if opened is None or end is None:
                continue
            members = [n for n in range(number + 1, end) if not _NO_MEMBER.match(lines[n])]
            called = _names_of(lines, opened, number, end)
            further = [
                extra
                for name in called
                for words in wanted
                if (extra := _extra(name, words)) is not None
            ]
            if len(members) >= FEWEST and further and min(further) <= _MOST_FURTHER:
                is_list = bool(opened["group"] or (opened["kind"] or "").startswith("enum"))
                worth = (_OF_A_LIST if is_list else _OF_FIELDS) - _PER_WORD * min(further)
                place = Place(path=path, start=number + 1, end=end + 1)
                yield Group(what=f"what `{called[0]}` holds", places=[place], worth=worth)


def _extra(name: str, words: Sequence[str]) -> int | None:
    """How many further words a name has; letters such as the `t` of `error_type_t` do not count."""
    extra = fit(name, words)
    return None if extra is None else extra - sum(len(part) == 1 for part in parts_of(name))


def _end_of(lines: Sequence[str], start: int) -> int | None:
    """The line that closes the block; None if it is long, or not a block."""
    depth = len(lines[start]) - len(lines[start].lstrip())
    for number in range(start + 1, min(len(lines), start + _MOST_LINES)):
        line = lines[number]
        if len(line) - len(line.lstrip()) <= depth and line.strip() and _CLOSES.match(line.strip()):
            return number
        if line.strip() and len(line) - len(line.lstrip()) <= depth and line.strip() != "{":
            return None
    return None


def _names_of(lines: Sequence[str], opened: re.Match[str], start: int, end: int) -> list[str]:
    """Its own name, that of a `typedef`, the type of Go's constants, and a short comment above."""
    closed = _CLOSES.match(lines[end].strip())
    typed = _TYPED.match(lines[start + 1]) if opened["group"] else None
    found = [
        opened["name"],
        opened["go"],
        closed["name"] if closed else "",
        typed["type"] if typed else "",
    ]
    above = next((n for n in range(start - 1, -1, -1) if lines[n].strip()), None)
    said = _COMMENT.match(lines[above]) if above is not None else None
    # A comment may have a blank line below it, but not more.
    if (
        said
        and above is not None
        and start - above <= 2
        and len(said["text"].split()) <= _LONGEST_COMMENT
    ):
        found.append(said["text"].rstrip(".:"))
    return [name for name in found if name]
