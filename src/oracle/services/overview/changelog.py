"""What changed in a version, and in which version something changed, from the changelog."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from oracle.lazy_dataclass import dataclass
from oracle.patterns import lazy_pattern
from oracle.services.overview.places import Place, Reader, Section, sections_of, trimmed

_FOLDER: Final = lazy_pattern(
    r"(?:.*/)?(?:change(?:log)?s?|releases?|release[-_]?notes|whats?[-_]?new|news|history)"
    r"/(?P<stem>[^/]+)\.(?:md|rst|txt)",
    re.I,
)
_NAME: Final = lazy_pattern(
    r"(?:changelog|changes|(?:version|change|release)?[-_ ]?history|news|releases?"
    r"|release[-_ ]?notes|what'?s[-_ ]?new)"
    r"(?:\.(?:md|rst|txt|markdown|adoc))?$",
    re.I,
)
VERSION: Final = lazy_pattern(
    r"(?<![\w.])v?(?P<number>\d+(?:\.\d+){1,3}(?:[-.]?(?:rc|a|b|dev)\d*)?)(?!\w)"
)
_BARE_HEAD: Final = lazy_pattern(
    r"\*{0,2}(?:version |release )?\[?v?\d+\.\d+(?:\.\d+)*\]?(?![\w.]).{0,60}$", re.I
)
# A release in the directive of a changelog for Sphinx.
_FIELD: Final = lazy_pattern(r"\s+:version: \d")
_UNRELEASED: Final = lazy_pattern(r"\bunreleased\b|\bupcoming\b", re.I)
_NEW: Final = lazy_pattern(
    r"\b(?:add(?:s|ed)?|new|introduc\w+|support(?:s|ed)?|now|implement\w*)\b", re.I
)
_MOST_FILES: Final = 4
_MOST_LINES: Final = 40


@dataclass(frozen=True, kw_only=True, slots=True)
class _Release:
    """A version's part of a changelog; lines from 0, `end` excluded."""

    path: str
    number: str
    start: int
    end: int


def changelogs(reader: Reader) -> list[str]:
    """Changelogs, the one nearest to the root first. Files of other packages lie deeper."""
    named = [path for path in reader.paths if _NAME.fullmatch(path.rpartition("/")[2])]
    return sorted((p for p in named if p.count("/") <= 2), key=lambda p: p.count("/"))[:_MOST_FILES]


def _with_changes(reader: Reader) -> list[str]:
    """Changelogs, or a README with a section that is one."""
    if found := changelogs(reader):
        return found
    readmes = [path for path in reader.paths if re.fullmatch(r"readme\.\w+", path, re.I)]
    return [path for path in readmes if any(map(_is_log, sections_of(reader.read(path))))]


def _is_log(section: Section) -> bool:
    return bool(
        re.search(r"\b(?:change ?log|change history|changes|release notes)\b", section.title, re.I)
    )


def changes_in(reader: Reader, version: str) -> list[Place]:
    """The part of the changelog for a version; `1.6` also means `1.6.0`, else all of `1.6.x`."""
    for path in _with_changes(reader):
        found = [*_releases(reader, path)]
        exact = [
            r for r in found if r.number in (version, f"{version}.0", version.removesuffix(".0"))
        ]
        chosen = exact[:1] or [r for r in found if r.number.startswith(f"{version}.")][:3]
        if chosen:
            most = _MOST_LINES // len(chosen)
            return [_place(reader, release, most) for release in chosen]
    return _file_of(reader, version)


def _file_of(reader: Reader, version: str) -> list[Place]:
    """The beginning of the file for a version, if each version has a file: `releases/2.1.txt`."""
    for path in reader.paths:
        found = _FOLDER.fullmatch(path)
        stem = found["stem"].replace("-", ".").replace("_", ".") if found else ""
        if re.fullmatch(rf"(?:\w+\.)?v?{re.escape(version)}(?:\.0)?", stem, re.I):
            lines = reader.read(path)
            start, stop = trimmed(lines, 0, len(lines), _MOST_LINES)
            return [Place(path=path, start=start + 1, end=stop, worth=6.0)]
    return []


def latest_changes(reader: Reader) -> list[Place]:
    """What is not released yet, if there is anything, and the newest version."""
    for path in _with_changes(reader):
        found = [*_releases(reader, path)]
        filled = [r for r in found if _says_something(reader.read(path)[r.start + 1 : r.end])]
        if filled:
            unreleased = [r for r in filled[:1] if not r.number]
            numbered = [r for r in filled if r.number][:1]
            chosen = [*unreleased, *numbered]
            return [_place(reader, release, _MOST_LINES // len(chosen)) for release in chosen]
    return []


def versions_with(reader: Reader, words: Sequence[str]) -> list[Place]:
    """The release that first mentions all the words on one line: its heading and that line."""
    patterns = [re.compile(rf"(?<![^\W_]){re.escape(word)}", re.I) for word in words]
    best: tuple[float, list[Place]] = (0.0, [])
    for path in _with_changes(reader):
        lines = reader.read(path)
        # The newest release is on top, so a later one in the list is an earlier mention.
        for release in _releases(reader, path):
            for number in range(release.start + 1, release.end):
                there = all(pattern.search(lines[number]) for pattern in patterns)
                worth = (1.0 + bool(_NEW.search(lines[number]))) if there else 0.0
                if worth and worth >= best[0] and release.number:
                    spans = (release.start + 1, number + 1)
                    places = [Place(path=path, start=at, end=at, worth=6.0) for at in spans]
                    best = worth, places
    return best[1]


def _says_something(lines: Sequence[str]) -> bool:
    """Whether there is more than the line below a title."""
    return any(re.search(r"\w", line) for line in lines)


def _releases(reader: Reader, path: str) -> Iterator[_Release]:
    lines = reader.read(path)
    heads = [(s.start, s.title) for s in sections_of(lines) if _is_head(s.title)]
    if not any(VERSION.search(title) for _, title in heads):
        bare = [(n, line) for n, line in enumerate(lines) if _BARE_HEAD.match(line)]
        heads = [(n, line) for n, line in enumerate(lines) if _FIELD.match(line)] or bare or heads
    for at, (start, title) in enumerate(heads):
        end = heads[at + 1][0] if at + 1 < len(heads) else len(lines)
        found = VERSION.search(title)
        yield _Release(path=path, number=found["number"] if found else "", start=start, end=end)


def _is_head(title: str) -> bool:
    return bool(VERSION.search(title) or _UNRELEASED.search(title)) and len(title) < 100


def _place(reader: Reader, release: _Release, most: int) -> Place:
    start, stop = trimmed(reader.read(release.path), release.start, release.end, most)
    return Place(path=release.path, start=start + 1, end=stop, worth=6.0)
