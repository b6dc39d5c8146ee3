"""Check the citations of one answer against what its session has read."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final

from oracle.services.citations.answer_quotes import find_cited
from oracle.services.citations.finding import find_citations
from oracle.services.citations.marking import Bare, mark_of, with_marks
from oracle.services.citations.record import DIGEST, KnownPlace, Lines, Record, mapped, merged
from oracle.services.citations.resolving import Resolved, resolve_all
from oracle.services.tools.answer import place

MOST_REMEMBERED: Final = 100
_KEPT: Final = ("kind", "where", "path", "start", "end", "title", "entry", "url")
_MOST_MAPPED: Final = 12

Place = Mapping[str, Any]


@dataclass(frozen=True, kw_only=True, slots=True)
class Checked:
    """The answer with its marks, and the citations in it, as the `sources` chunk has them."""

    answer: str
    citations: list[dict[str, Any]]


def check_answer(
    answer: str,
    *,
    evidence: Sequence[Place] = (),
    messages: Sequence[Place] = (),
    earlier: Sequence[Place] = (),
    attachment: str = "",
) -> Checked:
    """`evidence` are the places of this run, `earlier` those of the exchanges before, oldest first.

    The evidence has the beginning of each text; the whole is in the sources of the `messages`, as
    far as these were not shortened. What an attachment names was given by the user and counts as
    read.
    """
    bare = Bare.of(answer)
    readings = [KnownPlace.of(known, "", is_earlier=True) for known in earlier]
    readings += _given(attachment)
    readings += _read(evidence, messages)
    record = Record(readings)
    resolved = resolve_all(find_cited(bare.text, record.names_with_blanks()), record)
    marked = with_marks(answer, bare, resolved)
    told = [_told(one, span) for one, span in zip(resolved, marked.spans, strict=True)]
    return Checked(answer=marked.text, citations=told)


def places_to_remember(evidence: Sequence[Place]) -> list[dict[str, Any]]:
    """What later exchanges need of the evidence to resolve a citation: places, but no texts.

    Lines of one file are put together; of very many places the latest are kept, and the lines
    that a map showed are the first to go.
    """
    lines: defaultdict[tuple[str, str, str, str], list[Lines]] = defaultdict(list)
    others: dict[tuple[str, ...], dict[str, Any]] = {}
    shown: list[KnownPlace] = []
    for known in evidence:
        reading = KnownPlace.of(known, "")
        if reading.path and reading.first and not reading.entry:
            key = (reading.kind, reading.path, reading.title, reading.digest)
            lines[key].append((reading.first, reading.last))
        else:
            kept = {name: known[name] for name in _KEPT if known.get(name)}
            kept["digest"] = reading.digest
            others[tuple(map(str, kept.values()))] = kept
            shown.extend(islice(mapped(reading), _MOST_MAPPED))
    drawn = [_range(r.kind, r.path, "", "", r.first, r.last) for r in shown]
    files = [
        _range(*key, first, last) for key, ranges in lines.items() for first, last in merged(ranges)
    ]
    return [*drawn, *others.values(), *files][-MOST_REMEMBERED:]


def are_cited(evidence: Sequence[Place], citations: Sequence[Place]) -> list[bool]:
    """Which of the places the answer rests on, as far as its citations hold."""
    files: defaultdict[str, list[Lines]] = defaultdict(list)
    names: set[str] = set()
    for cited in citations:
        if cited["status"] in ("resolved", "moved"):
            names.update(name for name in (cited["where"], cited["url"]) if name)
            if cited["kind"] == "file":
                files[cited["path"]].append((cited["start"], cited["end"]))
            elif cited["kind"] == "note" and cited["path"]:
                names.add(cited["path"])
    ranges = {path: merged(lines) for path, lines in files.items()}
    return [_is_cited(KnownPlace.of(known, ""), ranges, names) for known in evidence]


def _is_cited(reading: KnownPlace, ranges: Mapping[str, list[Lines]], names: set[str]) -> bool:
    if not names.isdisjoint((reading.where, reading.url, reading.path)):
        return True
    return any(
        first <= reading.last and reading.first <= last
        for first, last in ranges.get(reading.path, ())
    )


def _range(kind: str, path: str, title: str, digest: str, first: int, last: int) -> dict[str, Any]:
    kept = {"kind": kind, "path": path, "start": first, "end": last, "digest": digest}
    return {**kept, "where": place(path, first, last), **({"title": title} if title else {})}


def _given(attachment: str) -> Iterator[KnownPlace]:
    for citation in find_citations(attachment) if attachment else ():
        if citation.kind in ("file", "url"):
            yield KnownPlace.of({"where": citation.text}, "")


def _read(evidence: Sequence[Place], messages: Sequence[Place]) -> Iterator[KnownPlace]:
    texts = {
        (message["call_id"], source["where"]): str(source.get("text", ""))
        for message in messages
        if message.get("role") == "tool"
        for source in message.get("sources", ())
    }
    for known in evidence:
        whole = texts.get((known.get("call", ""), known.get("where", "")))
        text = str(known.get("text", "")) if whole is None else whole
        is_whole = whole is not None and bool(known.get("whole"))
        read = KnownPlace.of(known, text, is_whole=is_whole)
        yield read
        yield from mapped(read)


def _told(resolved: Resolved, span: tuple[int, int]) -> dict[str, Any]:
    citation = resolved.citation
    return {
        "text": citation.text,
        "kind": citation.kind,
        "span": [*span],
        "status": resolved.status,
        "mark": mark_of(resolved).strip(),
        "where": resolved.where,
        "path": resolved.path,
        "start": resolved.first,
        "end": resolved.last,
        "url": resolved.url,
        "digest": resolved.digest[:DIGEST],
        "quoted": resolved.quoted,
        "earlier": resolved.is_earlier,
    }
