"""The options of a command line: where code declares them, and where a text lists them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from oracle.patterns import lazy_pattern
from oracle.services.overview.members import FEWEST, Group, Wanted, same
from oracle.services.overview.places import Place, Reader, sections_of

_WORDS: Final = ("option", "flag", "switch", "argument", "parameter")
# A call or a decorator whose first string begins with a dash: `add_argument("--watch")`. The
# string may be on the next line.
_CALLS: Final = lazy_pattern(
    r".{0,120}\b(?:add_argument|add_option|option|Option|flag|arg|addArgument|addOption)\(\s*"
)
_DASHED: Final = lazy_pattern(r"\s*[\"'`]-{1,2}\w")
# Where a program reads a variable of its environment, in the usual languages.
_READS: Final = lazy_pattern(
    r"\b(?:getenv|Getenv|LookupEnv|GetEnvironmentVariable|env_var|std::env::var(?:_os)?|env::var(?:_os)?"
    r"|environ\.(?:get|pop|setdefault))\s*\(\s*[\"'][A-Za-z_]\w*[\"']"
    r"|\benviron\s*\[\s*[\"'][A-Za-z_]\w*[\"']|[\"'][A-Z_]{3,}[\"']\s+(?:not\s+)?in\s+os\.environ"
    r"|\bprocess\.env(?:\.[A-Za-z_]\w*|\[[\"'])|\bENV(?:\.fetch\(|\[)\s*[\"']\w+"
)
_ENVIRONMENT: Final = lazy_pattern(r"^\W*(?:the )?environment(?: variables?)?\W*$", re.I)
_VARIABLE: Final = lazy_pattern(r"\benvironment variables?\b", re.I)
# `NAME`, $NAME; in a section about the environment also NAME at the start of an item.
_MARKED: Final = lazy_pattern(r"(?:`|\$\{?)([A-Z][A-Z0-9_]{2,})\b")
_BOLD: Final = lazy_pattern(r"(?:^\W*|^\.B[IR]? |^#+ |`|\$\{?)([A-Z][A-Z0-9_]{2,})\b(?![a-z])")
_LISTED: Final = lazy_pattern(r"\s*(?:[-*+|]\s+)?[`\"*]{0,3}-{1,2}[A-Za-z][\w-]*\b.*\s\S")
_IN_DOCUMENTS: Final = (".md", ".rst", ".txt", ".adoc", ".markdown")
_FEWEST_LISTED: Final = 3
_MOST_APART: Final = 30
"""Lines between two options of one list."""


def command_options(
    reader: Reader, source: Sequence[str], documents: Sequence[str], asked: Wanted
) -> Iterator[Group]:
    """None unless options, flags or switches are asked for."""
    if not any(same(word, known) for word in asked.words[-1:] for known in _WORDS):
        return
    for path in source:
        found = _declared(reader.read(path))
        if len(found) >= FEWEST:
            yield Group(
                what=f"options that `{path}` declares", places=_places(path, found), worth=0.8
            )
    for path in documents:
        if path.endswith(_IN_DOCUMENTS) and (listed := _longest(reader.read(path))):
            worth = 0.85 if any(known in path.lower() for known in _WORDS) else 0.76
            yield Group(
                what=f"options that `{path}` lists", places=_places(path, listed), worth=worth
            )


def environment_variables(
    reader: Reader, source: Sequence[str], documents: Sequence[str], asked: Wanted
) -> Iterator[Group]:
    """Each variable once, where the code first reads it; then those that only documents name: a
    library may read them. Without a reading in the code it is not sure that these are all. None
    unless they are asked for.
    """
    if not any(same(word, "environment") for word in asked.words):
        return
    found: dict[str, Place] = {}
    for path in source:
        for number, line in enumerate(reader.read(path), 1):
            if read := _READS.search(line):
                found.setdefault(read[0], Place(path=path, start=number, end=number))
    if found:
        what = "where the code reads a variable of its environment"
        yield Group(what=what, places=[*found.values()], worth=0.9)
    known = " ".join(found)
    named: dict[str, Place] = {}
    for path in documents:
        for number, name in _named_in(reader.read(path)):
            if not re.search(rf"\b{name}\b", known):
                named.setdefault(name, Place(path=path, start=number, end=number))
    if named:
        what = "variables of the environment that documents name"
        places = [*dict.fromkeys(named.values())]
        yield Group(what=what, places=places, worth=0.9 if found else 0.7)


def _named_in(lines: Sequence[str]) -> Iterator[tuple[int, str]]:
    """Line, from 1, and name: in a section about the environment, or on a line that says so."""
    about = [section for section in sections_of(lines) if _ENVIRONMENT.search(section.title)]
    inside = {number for section in about for number in range(section.start, section.end)}
    for number, line in enumerate(lines):
        pattern = _BOLD if number in inside else _MARKED if _VARIABLE.search(line) else None
        yield from ((number + 1, name[1]) for name in (pattern.finditer(line) if pattern else ()))


def _declared(lines: Sequence[str]) -> list[int]:
    """The lines, from 1, that have the name of an option that is declared."""
    found: list[int] = []
    for number, line in enumerate(lines):
        if called := _CALLS.match(line):
            is_next = called.end() == len(line)
            name = "".join(lines[number + 1 : number + 2]) if is_next else line[called.end() :]
            found += [number + 1 + is_next] if _DASHED.match(name) else []
    return found


def _longest(lines: Sequence[str]) -> list[int]:
    """The longest run of lines, from 1, that each name an option; empty if it is short."""
    runs: list[list[int]] = [[]]
    for number, line in enumerate(lines, 1):
        if _LISTED.match(line):
            if runs[-1] and number - runs[-1][-1] > _MOST_APART:
                runs.append([])
            runs[-1].append(number)
    best = max(runs, key=len)
    return best if len(best) >= _FEWEST_LISTED else []


def _places(path: str, numbers: Sequence[int]) -> list[Place]:
    return [Place(path=path, start=number, end=number) for number in numbers]
