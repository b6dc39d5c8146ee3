"""Entries of manifests and build files, by key: pyproject.toml, package.json, Makefile."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

MANIFESTS: Final = (
    "pyproject.toml",
    "package.json",
    "Cargo.toml",
    "go.mod",
    "setup.cfg",
    "setup.py",
    "composer.json",
    "pom.xml",
    "build.gradle",
    "mix.exs",
    "Gemfile",
    "PKG-INFO",
)
"""In the order in which they are believed: a PKG-INFO is made from the others."""
_MOST_LINES: Final = 30
_TABLE: Final = re.compile(r"\s*\[{1,2}(?P<name>[^\]\n]+)\]{1,2}\s*(?:#.*)?$")
_OF_THE_PROJECT: Final = re.compile(
    r"(?:project|package|workspace|metadata|options|tool\.poetry|tool\.setuptools|tool\.flit)\b",
    re.I,
)
_OPEN: Final = re.compile(r"[\[({]")
_CLOSED: Final = re.compile(r"[\])}]")
# Text in quotes, and comments, may have brackets that belong to nothing.
_QUIET: Final = re.compile(r"\"(?:[^\"\\\n]|\\.)*\"|'[^'\n]*'|(?<!:)#.*$|//.*$")


def entries(
    path: str, lines: Sequence[str], keys: str, *, of_the_project: bool = False
) -> Iterator[tuple[int, int]]:
    """The first and the last line, from 0, of each entry whose key matches the pattern `keys`.

    `of_the_project`: not those in tables that configure tools.
    """
    name = path.rpartition("/")[2]
    pattern = _key_pattern(name, keys)
    table = ""
    for number, line in enumerate(lines):
        if name.endswith((".toml", ".cfg")) and (found := _TABLE.match(line)):
            table = found["name"].strip()
        is_shown = not of_the_project or not table or _OF_THE_PROJECT.match(table)
        if is_shown and pattern.match(line):
            yield number, _end_of(lines, number)


def tables(lines: Sequence[str], names: str) -> Iterator[tuple[int, int]]:
    """The first and the last line, from 0, of each TOML or INI table whose name matches."""
    wanted = re.compile(names, re.I)
    for number, line in enumerate(lines):
        found = _TABLE.match(line)
        if found and wanted.fullmatch(found["name"].strip(" \"'")):
            end = number
            for below in range(number + 1, min(len(lines), number + _MOST_LINES)):
                if _TABLE.match(lines[below]):
                    break
                if lines[below].strip():
                    end = below
            yield number, end


def _key_pattern(name: str, keys: str) -> re.Pattern[str]:
    """Keys of a nested object have the same names, so only those near the left edge count."""
    if name.endswith(".json"):
        return re.compile(rf"(?:\t{{1,2}}| {{1,4}})\"(?:{keys})\"\s*:", re.I)
    if name == "PKG-INFO":
        return re.compile(rf"(?:{keys})\s*:", re.I)
    if name == "go.mod":
        return re.compile(rf"(?:{keys})\b", re.I)
    if name in ("Makefile", "GNUmakefile", "makefile", "justfile", "Justfile", ".justfile"):
        return re.compile(rf"(?:{keys})\s*(?:\w+\s*)*:(?!=)", re.I)
    if name.endswith(".xml"):
        return re.compile(rf"\s{{0,8}}<(?:{keys})>", re.I)
    return re.compile(rf"\s{{0,8}}[\"']?(?:{keys})[\"']?\s*[=:](?!:)", re.I)


def _end_of(lines: Sequence[str], start: int) -> int:
    """Where the entry ends: its brackets are closed, and deeper lines below belong to it."""
    depth = 0
    for number in range(start, min(len(lines), start + _MOST_LINES)):
        bare = _QUIET.sub("", lines[number])
        depth += len(_OPEN.findall(bare)) - len(_CLOSED.findall(bare))
        following = "".join(lines[number + 1 : number + 2])
        is_deeper = bool(following.strip()) and _depth(following) > _depth(lines[start])
        if depth <= 0 and not is_deeper:
            return number
    return min(len(lines), start + _MOST_LINES) - 1


def _depth(line: str) -> int:
    return len(line) - len(line.lstrip())
