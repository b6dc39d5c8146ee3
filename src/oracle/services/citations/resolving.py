"""Compare each citation with the record. Quotations count more than line numbers.

| status | meaning |
| --- | --- |
| resolved | the place was read, and what is quoted from it is not found elsewhere |
| moved | the quotation is in the same file or thread, but at another place, which is given |
| otherwise | the lines were read, and they give another value to the quoted name |
| stale | the lines were read, but the file has changed since |
| unread | the file or thread was read, but not this part of it; or the note has no such heading |
| unknown | nothing of that name was read or found |
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, Literal

from oracle.lazy_dataclass import dataclass
from oracle.services.citations.answer_quotes import AnswerQuote, Cited
from oracle.services.citations.claims import value_in
from oracle.services.citations.finding import Citation
from oracle.services.citations.forms import same_page
from oracle.services.citations.record import (
    FileRecord,
    KnownPlace,
    Lines,
    Record,
    covers,
    folded,
)
from oracle.services.tools.answer import place

Status = Literal["resolved", "moved", "otherwise", "stale", "unread", "unknown"]

# A citation may fit several files of the same name. The one that fits best counts.
_BEST: Final[Mapping[Status, int]] = {
    "resolved": 0,
    "moved": 1,
    "otherwise": 2,
    "stale": 3,
    "unread": 4,
    "unknown": 5,
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Resolved:
    """`where` is the place as it should be cited; empty if it was not found. `quoted` says whether
    the words that the answer quotes were found there; None if it quotes nothing.
    """

    citation: Citation
    status: Status
    where: str = ""
    path: str = ""
    first: int = 0
    last: int = 0
    entry: str = ""
    url: str = ""
    digest: str = ""
    quoted: bool | None = None
    is_earlier: bool = False


def resolve_all(found: Sequence[Cited], record: Record) -> list[Resolved]:
    """In the order of the text, without those that turn out not to be citations."""
    taken = _taken(found, record)
    resolved: list[Resolved] = []
    last_end = 0
    for cited in found:
        citation = cited.citation
        if citation.start < last_end:
            continue
        made = _resolve(cited, record, taken)
        # A source that was read may cite something. An answer that quotes it does not vouch for it.
        if made.status != "resolved" and record.says(cited.inside):
            continue
        if citation.certain or made.status != "unknown":
            resolved.append(made)
            last_end = citation.end
    return resolved


def _resolve(cited: Cited, record: Record, taken: set[int]) -> Resolved:
    citation = cited.citation
    if citation.kind == "file":
        files = record.files_of(citation.name)
        found = [_in_file(cited, file, taken) for file in files]
        return min(found, key=lambda one: _BEST[one.status], default=_unknown(citation))
    if citation.entry:
        return _among_entries(cited, record)
    if citation.kind == "url":
        return _page(citation, record)
    return _note(citation, record)


def _taken(found: Sequence[Cited], record: Record) -> set[int]:
    """Quotations found where a citation near them says: they do not belong to another citation."""
    return {
        quotation.at
        for cited in found
        if cited.citation.kind == "file" and cited.quotations
        for file in record.files_of(cited.citation.name)
        for quotation in cited.quotations
        if _is_at(file.find(quotation), cited.citation)
    }


def _is_at(lines: Sequence[Lines], citation: Citation) -> bool:
    return any(
        first <= cited_last and cited_first <= last
        for first, last in lines
        for cited_first, cited_last in citation.ranges
    )


def _in_file(cited: Cited, file: FileRecord, taken: set[int]) -> Resolved:
    """Lines that were read are refuted only by a strong quotation right next to the citation.

    Other quotations and single names are too weak: the sentence may speak of another place.
    """
    citation = cited.citation
    is_read = all(covers(file.current, *lines) for lines in citation.ranges)
    confirmed = [q for q in cited.quotations if _is_at(file.find(q), citation)]
    quoted = bool(confirmed) if cited.quotations else None
    if is_read and confirmed:
        return _at(file, citation, "resolved", (citation.first, citation.last), quoted)
    searched = [q for q in cited.attached if q.strong] if is_read else cited.quotations
    lines = _only_place(searched, file, taken, confirmed)
    if lines is not None:
        return _at(file, citation, "moved", lines, True)
    if is_read:
        is_refuted = any(_is_contradicted(each, file, citation) for each in cited.said)
        status: Status = "otherwise" if is_refuted else "resolved"
        return _at(file, citation, status, (citation.first, citation.last), quoted)
    is_old = all(covers(file.ever, *lines) for lines in citation.ranges)
    status = "stale" if is_old else "unread"
    return Resolved(
        citation=citation, status=status, path=file.path, digest=file.digest, quoted=quoted
    )


def _is_contradicted(quotation: AnswerQuote, file: FileRecord, citation: Citation) -> bool:
    """Whether it is nowhere in the file, and the cited lines give its name another plain value."""
    quoted = value_in(quotation.text)
    if quoted is None or file.find(quotation):
        return False
    lines = [line for first, last in citation.ranges for line in file.lines(first, last)]
    values = [found[1] for line in lines if (found := value_in(line)) and found[0] == quoted[0]]
    return bool(values) and quoted[1] not in values


def _only_place(
    quotations: Sequence[AnswerQuote],
    file: FileRecord,
    taken: set[int],
    confirmed: Sequence[AnswerQuote],
) -> Lines | None:
    """The lines of the nearest quotation that the file has exactly once."""
    for quotation in quotations:
        if quotation.at in taken and quotation not in confirmed:
            continue
        places = file.find(quotation)
        if len(places) == 1:
            return places[0]
    return None


def _at(
    file: FileRecord, citation: Citation, status: Status, lines: Lines, quoted: bool | None
) -> Resolved:
    first, last = lines
    return Resolved(
        citation=citation,
        status=status,
        where=place(file.path, first, last),
        path=file.path,
        first=first,
        last=last,
        digest=file.digest,
        quoted=quoted,
        is_earlier=file.is_earlier(first, last),
    )


def _among_entries(cited: Cited, record: Record) -> Resolved:
    citation = cited.citation
    entries = record.entries.get((citation.kind, folded(citation.name)), [])
    # A time may be cited shortened, such as only the date.
    wanted = citation.entry.rstrip("Z")
    for known in entries:
        if known.entry.startswith(wanted):
            return _of(citation, known, "resolved")
    for quotation in cited.quotations:
        holding = [known for known in entries if quotation.text in " ".join(known.text.split())]
        if len({known.entry for known in holding}) == 1:
            return _of(citation, holding[0], "moved")
    return Resolved(citation=citation, status="unread" if entries else "unknown")


def _page(citation: Citation, record: Record) -> Resolved:
    known = record.pages.get(same_page(citation.name))
    if known is not None:
        return _of(citation, known, "resolved")
    # That a file mentions a local address does not make it a page.
    if citation.certain and record.mentions(citation.name):
        return Resolved(citation=citation, status="resolved", url=citation.name, quoted=True)
    return _unknown(citation)


def _note(citation: Citation, record: Record) -> Resolved:
    known = record.notes.get(folded(citation.name))
    if known is None:
        return _unknown(citation)
    file = record.files.get(known.path)
    if citation.heading and file is not None and file.lacks(citation.heading):
        return Resolved(citation=citation, status="unread", path=known.path)
    return _of(citation, known, "resolved")


def _of(citation: Citation, known: KnownPlace, status: Status) -> Resolved:
    return Resolved(
        citation=citation,
        status=status,
        where=known.where,
        path=known.path if known.first else "",
        first=known.first,
        last=known.last,
        entry=known.entry,
        url=known.url,
        digest=known.digest,
        is_earlier=known.is_earlier,
    )


def _unknown(citation: Citation) -> Resolved:
    return Resolved(citation=citation, status="unknown")
