"""What an own tool returns, made into an answer that the model reads and can cite."""

from __future__ import annotations

import inspect
import json
import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final, cast

from oracle.errors import ToolProblem, with_article
from oracle.lazy_dataclass import dataclass
from oracle.models.source import Source
from oracle.regular_file import read_regular
from oracle.services.project.roots import Roots
from oracle.services.search.roles import kind_of
from oracle.services.tools.answer import LONGEST_CONTENT, Answer, one_line, place

# Cut before secrets are looked for, which takes time. More than a result can show: a secret that is
# cut in half here is never shown.
_LONGEST_TEXT: Final = 3 * LONGEST_CONTENT
_MOST_FOUND: Final = 100
_ONE_LINE_OF_JSON: Final = 200
_DEEPEST: Final = 6
_LARGEST_FILE: Final = 5_000_000
_SHOWN_OF_A_LINE: Final = 1_900
"""Less than a result shows of a line, so that it is not cut, and counted, once more."""
_UNSAFE: Final = re.compile("[\0\ud800-\udfff]")
_LINES: Final = re.compile(r"(?P<path>[^\n]+):(?P<start>\d{1,7})(?:-(?P<end>\d{1,7}))?")
_ADDRESS: Final = re.compile(r"https?://\S+")
OWN: Final = "tool"
"""The kind of a source that an own tool names by a title."""


@dataclass(frozen=True, slots=True)
class Found:
    """A text that a tool found, and where. An answer can cite the places.

    A place is `src/app.py:3-9`, the address of a page, or any other name, such as `OPS-12`, which
    is cited as `[[OPS-12]]`. A tool may return one `Found`, or a list of them, best first.
    """

    text: str
    places: Sequence[str] = ()

    def __post_init__(self) -> None:
        if not isinstance(self.text, str):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise TypeError(f"the text of Found is {_type_of(self.text)}; give text")
        given = [self.places] if isinstance(self.places, str) else list(self.places)
        for each in given:
            if not isinstance(each, str) or not each.strip():  # pyright: ignore[reportUnnecessaryIsInstance]
                raise TypeError(f"{each!r:.80} is not a place; give text such as 'src/app.py:3'")
        # The class is frozen, so a field can be replaced only in this way.
        object.__setattr__(self, "places", tuple(given))


def answer_of(
    name: str, value: object, *, writes: bool, printed: str = "", root: Path | Roots | None = None
) -> Answer:
    """Raises `ToolProblem` for what cannot be shown to a model.

    Places with lines are looked up below `root`. What is not there is taken as a name.
    """
    if value is None:
        return _nothing(name, writes=writes, printed=printed)
    found = _as_found(name, value)
    if not any(each.text.strip() for each in found):
        return Answer(summary=f"{name} found nothing.", empty=True)
    findings: list[Source] = []
    also: list[Source] = []
    for each in found[:_MOST_FOUND]:
        quoted, *others = _sources(name, each, root)
        findings.append(quoted)
        also += others
    return Answer(summary=_summary(name, found, also), findings=findings, also=also)


def _nothing(name: str, *, writes: bool, printed: str) -> Answer:
    if writes:
        return Answer(summary=f"{name} was run; it returned nothing.")
    hint = " It printed text instead of returning it." if printed.strip() else ""
    return Answer(summary=f"{name} returned nothing.{hint}", empty=True)


def _summary(name: str, found: Sequence[Found], also: Sequence[Source]) -> str:
    count = f"{len(found)} results" if len(found) > 1 else "a result"
    if len(found) > _MOST_FOUND:
        count += f", of which the first {_MOST_FOUND} are here"
    places = ", ".join(one_line(source["where"]) for source in also)
    return f"{name} returned {count}.{f' Also at: {places}.' if also else ''}"


def _as_found(name: str, value: object) -> list[Found]:
    if isinstance(value, Found):
        return [value]
    if isinstance(value, list | tuple) and value:
        items = cast("Sequence[object]", value)
        if all(isinstance(each, Found) for each in items):
            return list(cast("Sequence[Found]", items))
    given = cast("object", value)
    if _holds_found(given):
        raise ToolProblem(
            f"{name} returned oracle.Found inside of {_type_of(given)} with other values, where "
            "its places would be lost; it must return one Found, or a list of nothing else"
        )
    if isinstance(value, str):
        return [Found(value)]
    return [Found(_as_json(name, cast("object", value)))]


def _holds_found(value: object, depth: int = 0) -> bool:
    if isinstance(value, Found):
        return True
    if depth == _DEEPEST or not isinstance(value, dict | list | tuple):
        return False
    known = cast("dict[object, object] | Sequence[object]", value)
    inner = known.values() if isinstance(known, dict) else known
    return any(_holds_found(each, depth + 1) for each in inner)


def _as_json(name: str, value: object) -> str:
    """JSON text; empty for an empty list or object."""
    kind = _type_of(value)
    if inspect.isasyncgen(value) or isinstance(value, Iterator):
        raise ToolProblem(f"{name} returned {kind}; it must return a list or text")
    if isinstance(value, bytes | bytearray | memoryview):
        raise ToolProblem(f"{name} returned bytes; it must return text, so decode them")
    from pydantic_core import PydanticSerializationError, to_jsonable_python

    try:
        plain: Any = to_jsonable_python(value)
        if plain in ([], {}):
            return ""
        text = json.dumps(plain, ensure_ascii=False)
        # A long line would be cut. Several lines are cut between two of them.
        is_long = len(text) > _ONE_LINE_OF_JSON
        return json.dumps(plain, ensure_ascii=False, indent=1) if is_long else text
    except (PydanticSerializationError, ValueError, TypeError, RecursionError) as problem:
        raise ToolProblem(
            f"{name} returned {kind} that is not JSON ({one_line(str(problem))}); it "
            "must return text, JSON-shaped data or oracle.Found"
        ) from None


def _sources(name: str, found: Found, root: Path | Roots | None) -> list[Source]:
    """The quoted source first, then places that have no text of their own."""
    text = _UNSAFE.sub("\ufffd", _cut(found.text))
    places = [_source_at(each, text, root) for each in found.places]
    # Lines are numbered in a quotation: a text that is not the lines themselves gets no numbers.
    fits = bool(places) and places[0].get("end", 0) - places[0].get("start", 0) == text.count("\n")
    if places and (fits or "start" not in places[0]):
        first, others = places[0], places[1:]
    else:
        first, others = _titled(name, text), places
    return [first, *(_without_text(each) for each in others)]


def _cut(text: str) -> str:
    """The beginning of a long text. A line that is cut here says how long it really is."""
    if len(text) <= _LONGEST_TEXT:
        return text
    above, newline, _ = text[:_LONGEST_TEXT].rpartition("\n")
    start = len(above) + len(newline)
    end = text.find("\n", start)
    length = (len(text) if end < 0 else end) - start
    if length <= _SHOWN_OF_A_LINE:
        return text[:_LONGEST_TEXT]
    line = text[start : start + _SHOWN_OF_A_LINE]
    return f"{above}{newline}{line}… [this line has {length:,} characters]"


def _without_text(source: Source) -> Source:
    bare = source.copy()
    bare["text"] = ""
    return bare


def _source_at(where: str, text: str, root: Path | Roots | None) -> Source:
    where = _UNSAFE.sub("\ufffd", where.strip())
    if _ADDRESS.fullmatch(where):
        return Source(kind="web", where=where, text=text, url=where)
    if lines := _LINES.fullmatch(where):
        start, end = int(lines["start"]), int(lines["end"] or lines["start"])
        if 0 < start <= end and (root is None or _has_lines(root, lines["path"], end)):
            path = lines["path"]
            kind = "code" if kind_of(path) == "code" else "vault"
            where = place(path, start, end)
            return Source(kind=kind, where=where, text=text, path=path, start=start, end=end)
    return _titled(where, text)


def _has_lines(root: Path | Roots, path: str, last: int) -> bool:
    if isinstance(root, Roots):
        inside, path = root.split(path)
        root = root.main if inside is None else inside.path
    file = Path(os.path.realpath(root / path))
    if not file.is_relative_to(os.path.realpath(root)):
        return False
    try:
        content = read_regular(file, _LARGEST_FILE)
    except OSError:
        return False
    return len(content) == _LARGEST_FILE or last <= len(content.splitlines())


def _titled(title: str, text: str) -> Source:
    title = one_line(title).replace("[", "(").replace("]", ")")
    return Source(kind=OWN, where=f"[[{title}]]", text=text, title=title)


def _type_of(value: object) -> str:
    return with_article(type(value).__name__)
