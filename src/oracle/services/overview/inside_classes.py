"""What one class has: its methods, its fields, and the classes that inherit from it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from oracle.lazy_dataclass import dataclass
from oracle.patterns import lazy_pattern
from oracle.services.overview.members import ASSIGNED, FEWEST, OPENS, Group, depth_of
from oracle.services.overview.places import Place, Reader

_HEIRS: Final = lazy_pattern(r"\b(?:subclass|deriv|child|inherit|extend|implement|descend)", re.I)
_METHODS: Final = lazy_pattern(r"\b(?:method|function|call)", re.I)
_OF_A_CLASS: Final = lazy_pattern(
    r"\b(?:method|function|call|field|attribute|propert|member|option|setting|parameter|value"
    r"|constant|argument|state|status)",
    re.I,
)
# A field that has only a type. In a docstring, words before a colon look the same.
_TYPED: Final = lazy_pattern(r"\s+(?:pub\s+|readonly\s+|public\s+)?(?P<name>[a-z_]\w*)\??\s*:\s*\S")
_QUOTES: Final = lazy_pattern(r"\"\"\"|\'\'\'")
_CLASS: Final = lazy_pattern(
    r"\s*(?:export\s+|abstract\s+|default\s+)*class\s+(?P<name>\w+)\s*(?:\(|extends\s)(?P<bases>[^){\n]*)"
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Body:
    """The lines of a class, `start` to `end`, from 1, both included."""

    name: str
    path: str
    start: int
    end: int


def inside_class(reader: Reader, body: Body, of: str, paths: Sequence[str]) -> Iterator[Group]:
    """The methods, the fields or the subclasses, whatever `of` asks for."""
    if _HEIRS.search(of):
        if below := _heirs(reader, body.name, paths):
            yield Group(what=f"subclasses of `{body.name}`", places=below, worth=1.0)
        return
    # Who asks which signals a class sends does not ask for its fields.
    if not _OF_A_CLASS.search(of):
        return
    numbers = _methods(reader, body) if _METHODS.search(of) else _fields(reader, body)
    members = [Place(path=body.path, start=n + 1, end=n + 1) for n in numbers]
    if len(members) >= FEWEST:
        yield Group(what=f"what `{body.name}` has", places=members, worth=1.0)


def _heirs(reader: Reader, name: str, paths: Sequence[str]) -> list[Place]:
    """Classes that inherit from it, directly or not, in the order of the files."""
    classes = [
        (Place(path=path, start=number, end=number), at["name"], re.findall(r"\w+", at["bases"]))
        for path in paths
        for number, line in enumerate(reader.read(path), 1)
        if (at := _CLASS.match(line))
    ]
    family = {name}
    is_growing = True
    while is_growing:
        more = {heir for _, heir, bases in classes if family.intersection(bases)} - family
        family |= more
        is_growing = bool(more)
    return [place for place, heir, _ in classes if heir in family and heir != name]


def _own_lines(reader: Reader, body: Body) -> list[int]:
    """Lines of the class itself, from 0: not of its docstrings, and not of what is deeper."""
    lines = reader.read(body.path)
    found: list[int] = []
    is_quoted = False
    for number in range(body.start, min(body.end, len(lines))):
        marks = len(_QUOTES.findall(lines[number]))
        if not is_quoted and not marks and lines[number].strip():
            found.append(number)
        is_quoted ^= marks % 2 == 1
    depth = min((depth_of(lines[n]) for n in found), default=0)
    return [n for n in found if depth_of(lines[n]) == depth]


def _methods(reader: Reader, body: Body) -> list[int]:
    return _public(reader, body, (OPENS,))


def _fields(reader: Reader, body: Body) -> list[int]:
    return _public(reader, body, (ASSIGNED, _TYPED))


def _public(reader: Reader, body: Body, patterns: Sequence[re.Pattern[str]]) -> list[int]:
    lines = reader.read(body.path)
    matched = (
        (n, next(filter(None, (pattern.match(lines[n]) for pattern in patterns)), None))
        for n in _own_lines(reader, body)
    )
    return [n for n, at in matched if at and not at["name"].startswith("_")]
