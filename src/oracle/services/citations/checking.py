"""Check the citations of one answer against what its conversation has read."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, Final

from oracle.lazy_dataclass import dataclass
from oracle.services.citations.answer_quotes import find_cited
from oracle.services.citations.finding import find_citations
from oracle.services.citations.marking import Bare, mark_of, with_marks
from oracle.services.citations.record import DIGEST, KnownPlace, Lines, Record, mapped, merged
from oracle.services.citations.resolving import Resolved, resolve_all
from oracle.services.tools.answer import place

MOST_REMEMBERED: Final = 100
# Fields of a source that are remembered; the text is left out.
_KEPT: Final = ("kind", "where", "path", "start", "end", "title", "entry", "url")
# Of one map: it can show hundreds of lines, which would push out everything else.
_MOST_MAPPED: Final = 12
# Of one attachment: a long log can name thousands.
_MOST_GIVEN: Final = 40

Data = Mapping[str, Any]
"""A source, a message or a checked citation, as plain data."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Checked:
    """The answer with its marks, and the citations in it, as the `sources` chunk has them."""

    answer: str
    citations: list[dict[str, Any]]


def check_answer(
    answer: str,
    *,
    evidence: Sequence[Data] = (),
    messages: Sequence[Data] = (),
    earlier: Sequence[Data] = (),
    attachment: str = "",
    own_words: Sequence[str] = (),
    folders: Sequence[tuple[str, str]] = (),
) -> Checked:
    """`evidence` are the sources of this run; `earlier` those of earlier exchanges, oldest first.

    The evidence has only the beginning of each text. The whole text is in the sources of the
    `messages`, unless these were shortened. Places that an attachment names count as read, because
    the user gave them. `own_words` are parts of the answer that no model wrote; they cite nothing.
    `folders` are the names of the project's folder and of its further roots on disk, each with what
    the paths of files in it begin with: `("shop", "")`, `("libs", "lib/")`.
    """
    bare = Bare.of(answer)
    # The order matters: where two places disagree about a file, the record takes the later one.
    known = [KnownPlace.of(source, "", is_earlier=True) for source in earlier]
    known += _given(attachment)
    known += _read(evidence, messages)
    record = Record(known, folders)
    cited = find_cited(_without(own_words, bare.text), record.names_with_blanks())
    resolved = resolve_all(cited, record)
    marked = with_marks(answer, bare, resolved)
    citations = [_as_data(one, span) for one, span in zip(resolved, marked.spans, strict=True)]
    return Checked(answer=marked.text, citations=citations)


def _without(parts: Sequence[str], text: str) -> str:
    """Blank out the parts, so that all other places in the text stay where they are."""
    for part in filter(None, parts):
        text = text.replace(part, " " * len(part))
    return text


def lines_cited(answer: str, evidence: Sequence[Data]) -> list[str]:
    """The texts of the lines, entries and pages that the answer cites, as far as the evidence has
    them.
    """
    texts: list[str] = []
    for citation in find_citations(answer):
        for source in evidence:
            names = (source.get("path"), source.get("url"), source.get("title"))
            if citation.name not in names and citation.text != source.get("where"):
                continue
            rows, start = str(source.get("text", "")).splitlines(), int(source.get("start") or 0)
            if not start or not citation.first:
                texts += rows
            else:
                last = citation.last or citation.first
                texts += rows[max(0, citation.first - start) : max(0, last - start + 1)]
    return texts


def places_to_remember(evidence: Sequence[Data], attachment: str = "") -> list[dict[str, Any]]:
    """What later exchanges need to resolve a citation: the places without their texts.

    Ranges of one file are joined. If there are too many places, the latest are kept; lines that
    a map showed are dropped first. Places that an attachment names stay known as well.
    """
    given = [{"where": where} for where in dict.fromkeys(_named_in(attachment))]
    lines: defaultdict[tuple[str, str, str, str], list[Lines]] = defaultdict(list)
    others: dict[tuple[str, ...], dict[str, Any]] = {}
    on_maps: list[dict[str, Any]] = []
    for source in evidence:
        known = KnownPlace.of(source, "")
        if known.path and known.first and not known.entry:
            key = (known.kind, known.path, known.title, known.digest)
            lines[key].append((known.first, known.last))
        else:
            kept = {name: source[name] for name in _KEPT if source.get(name)}
            kept["digest"] = known.digest
            others[tuple(map(str, kept.values()))] = kept
            rows = islice(mapped(known), _MOST_MAPPED)
            on_maps += [_range(row.kind, row.path, "", "", row.first, row.last) for row in rows]
    files = [
        _range(*key, first, last) for key, ranges in lines.items() for first, last in merged(ranges)
    ]
    # The slice keeps the end of the list: what matters least comes first.
    return [*given[:_MOST_GIVEN], *on_maps, *others.values(), *files][-MOST_REMEMBERED:]


def holds(cited: Data) -> bool:
    """Whether a checked citation leads to what was read."""
    return cited["status"] in ("resolved", "moved")


def are_cited(evidence: Sequence[Data], citations: Sequence[Data]) -> list[bool]:
    """For each source, whether a citation that holds names it or a part of it."""
    files: defaultdict[str, list[Lines]] = defaultdict(list)
    names: set[str] = set()
    for cited in citations:
        if holds(cited):
            names.update(name for name in (cited["where"], cited["url"]) if name)
            if cited["kind"] == "file":
                files[cited["path"]].append((cited["start"], cited["end"]))
            elif cited["kind"] == "note" and cited["path"]:
                names.add(cited["path"])
    ranges = {path: merged(lines) for path, lines in files.items()}
    return [_is_cited(KnownPlace.of(source, ""), ranges, names) for source in evidence]


def _is_cited(known: KnownPlace, ranges: Mapping[str, list[Lines]], names: set[str]) -> bool:
    if not names.isdisjoint((known.where, known.url, known.path)):
        return True
    return any(
        first <= known.last and known.first <= last for first, last in ranges.get(known.path, ())
    )


def _range(kind: str, path: str, title: str, digest: str, first: int, last: int) -> dict[str, Any]:
    kept = {"kind": kind, "path": path, "start": first, "end": last, "digest": digest}
    return {**kept, "where": place(path, first, last), **({"title": title} if title else {})}


def _given(attachment: str) -> Iterator[KnownPlace]:
    for where in _named_in(attachment):
        yield KnownPlace.of({"where": where}, "")


def _named_in(attachment: str) -> Iterator[str]:
    for citation in find_citations(attachment) if attachment else ():
        if citation.kind in ("file", "url"):
            yield citation.text


def _read(evidence: Sequence[Data], messages: Sequence[Data]) -> Iterator[KnownPlace]:
    texts = {
        # Attached files are sources of the question, and belong to no call.
        (message.get("call_id", ""), source["where"]): str(source.get("text", ""))
        for message in messages
        if message.get("role") in ("tool", "user")
        for source in message.get("sources", ())
    }
    for source in evidence:
        # The same place can be read twice with other content between, so the call counts too.
        whole = texts.get((source.get("call", ""), source.get("where", "")))
        text = str(source.get("text", "")) if whole is None else whole
        is_whole = whole is not None and bool(source.get("whole"))
        known = KnownPlace.of(source, text, is_whole=is_whole)
        yield known
        yield from mapped(known)


def _as_data(resolved: Resolved, span: tuple[int, int]) -> dict[str, Any]:
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
