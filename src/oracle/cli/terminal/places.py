"""The places that an answer rests on, merged by file: `a.py:3-20, 40-52`."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, Final

from oracle.cli.terminal.safe_text import printable
from oracle.lazy_dataclass import dataclass

MOST_RANGES: Final = 4

Source = Mapping[str, Any]


@dataclass(frozen=True, kw_only=True, slots=True)
class Place:
    """A file with its ranges of lines, or another source. `texts` are its parts in order, each
    with a source that has the target of its link.
    """

    texts: Sequence[tuple[str, Source]]
    left: int = 0
    """The number of ranges that are not in `texts`."""

    def __str__(self) -> str:
        return ", ".join(text for text, _ in self.texts)

    @property
    def count(self) -> int:
        return len(self.texts) + self.left

    @property
    def is_cited(self) -> bool:
        return any(source.get("cited") for _, source in self.texts)


def places(
    sources: Sequence[Source],
    tools: Collection[str] = (),
    *,
    most_ranges: int = MOST_RANGES,
    answer: str = "",
) -> list[Place]:
    """Each file once, cited ones first, in the order of the answer. What is not a place is left
    out.

    A map, a list and the result of a tool have names too, such as `.` or the tool's name. A reader
    cannot look there.
    """
    files: dict[str, list[Source]] = {}
    others: dict[str, Place] = {}
    order: dict[str, None] = {}
    for source in sorted(sources, key=lambda source: _rank(source, answer)):
        name = _file_of(source)
        if name is not None:
            files.setdefault(name, []).append(source)
        elif _is_place(source, tools):
            name = printable(str(source["where"]))
            others.setdefault(name, Place(texts=[(name, source)]))
        if name is not None:
            order[name] = None
    return [
        _merged(name, files[name], most_ranges) if name in files else others[name] for name in order
    ]


def _rank(source: Source, answer: str) -> tuple[bool, int]:
    at = answer.find(str(source.get("path") or source["where"]))
    is_cited = bool(source.get("cited"))
    return not is_cited, at if is_cited and at >= 0 else len(answer)


def _file_of(source: Source) -> str | None:
    has_lines = isinstance(source.get("start"), int) and isinstance(source.get("end"), int)
    is_file = bool(source.get("path")) and has_lines and not source.get("entry")
    return printable(str(source["path"])) if is_file else None


def _is_place(source: Source, tools: Collection[str]) -> bool:
    if source.get("url") or source.get("entry"):
        return True
    where = str(source["where"])
    return not source.get("path") and where not in (".", *tools) and len(where.split()) == 1


def _merged(name: str, sources: Sequence[Source], most: int) -> Place:
    """Ranges that overlap or touch are one. Of many, the first are shown."""
    ranges = [(start, end, given) for start, end, given in _ranges(sources) if start > 0]
    if not ranges:
        return Place(texts=[(name, sources[0])])
    shown = ranges[:most]
    texts = [(_lines(start, end), {**given, "start": start}) for start, end, given in shown]
    first, *rest = texts
    return Place(texts=[(f"{name}:{first[0]}", first[1]), *rest], left=max(0, len(ranges) - most))


def _ranges(sources: Sequence[Source]) -> Iterator[tuple[int, int, Source]]:
    last: tuple[int, int, Source] | None = None
    for source in sorted(sources, key=lambda source: (source["start"], source["end"])):
        start, end = source["start"], max(source["start"], source["end"])
        if last is not None and start <= last[1] + 1:
            given = {**last[2], "cited": True} if source.get("cited") else last[2]
            last = (last[0], max(last[1], end), given)
            continue
        if last is not None:
            yield last
        last = (start, end, source)
    if last is not None:
        yield last


def _lines(start: int, end: int) -> str:
    return str(start) if start == end else f"{start}-{end}"
