"""The text index: passages on tantivy, found by their terms.

A passage has four fields of terms (its text, what it defines, its path, its comments) and three
numbers (its file, first and last line). Each file has one more passage, its card: the path, all
definitions and the beginning. Texts are not stored: a hit is read from disk.
"""

from __future__ import annotations

import json
from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from math import log
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from oracle.lazy_dataclass import dataclass

if TYPE_CHECKING:
    import tantivy

FIELDS: Final = ("body", "names", "place", "remarks", "card")
_WRITER_BYTES: Final = 60_000_000
_SMALL_WRITER_BYTES: Final = 15_000_000
"""The least that tantivy accepts, and enough for a small update."""

_MOST_COVERING: Final = 200
"""Passages that are compared to find out how much of a question a file covers."""

Phrase = tuple[str, ...]
"""Terms that follow one another in a text."""
TermsByField = Mapping[str, Mapping[str, float]]
"""Terms with their weights, by the field that they are searched in."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Statistics:
    """How many passages there are, and how many of them have each term in each field."""

    passages: int
    having: Mapping[tuple[str, str], int]

    def __add__(self, other: Statistics) -> Statistics:
        """Those of two indexes together."""
        having = dict(self.having)
        for key, count in other.having.items():
            having[key] = having.get(key, 0) + count
        return Statistics(passages=self.passages + other.passages, having=having)

    def rarity(self, field: str, term: str) -> float:
        """What BM25 multiplies the score of a term with, as tantivy computes it."""
        having = self.having.get((field, term), 0)
        # Removed passages are still counted for their terms until segments are merged.
        others = max(0, self.passages - having)
        return log(1 + (others + 0.5) / (having + 0.5))


@dataclass(frozen=True, kw_only=True, slots=True)
class Passage:
    file: int
    start: int
    end: int
    kind: str
    body: str = ""
    names: str = ""
    place: str = ""
    remarks: str = ""
    card: str = ""


def pack(passages: Sequence[Passage]) -> str:
    return json.dumps([asdict(passage) for passage in passages])


def unpack(packed: str) -> list[Passage]:
    return [Passage(**values) for values in json.loads(packed)]


class Match(NamedTuple):
    """A tuple, because a search makes hundreds of them."""

    file: int
    start: int
    end: int
    score: float


class Passages:
    """Without a `folder` they are kept in memory."""

    def __init__(self, folder: Path | None) -> None:
        import tantivy

        if folder is not None:
            folder.mkdir(parents=True, exist_ok=True)
        self._meta = folder and folder / "meta.json"
        self._index = tantivy.Index(_schema(), str(folder) if folder else None)
        plain = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.whitespace()).build()
        self._index.register_tokenizer("plain", plain)
        self._schema = self._index.schema
        self._seen = self._stamp()

    def _stamp(self) -> tuple[int, int]:
        # tantivy replaces this file with each commit, so its inode changes even within one tick of
        # the file system's clock.
        state = self._meta and self._meta.stat()
        return (state.st_mtime_ns, state.st_ino) if state else (0, 0)

    def reload(self) -> None:
        """Show what any process has committed since the last call."""
        stamp = self._stamp()
        if stamp != self._seen:
            self._index.reload()
            self._seen = stamp

    @contextmanager
    def writing(self, *, small: bool) -> Generator[PassageWriter]:
        """Only one at a time: the caller holds the lock of the index."""
        size = _SMALL_WRITER_BYTES if small else _WRITER_BYTES
        # One thread: each makes a segment of its own, and a search visits every segment.
        writer = PassageWriter(self._index.writer(size, 1), self._schema)
        try:
            yield writer
        finally:
            writer.close()
            self._index.reload()
            self._seen = self._stamp()

    def search(
        self,
        weights: TermsByField,
        *,
        phrases: Mapping[Phrase, float] | None = None,
        kind: str | None,
        limit: int,
        files: Sequence[int] | None = None,
        among: Statistics | None = None,
    ) -> list[Match]:
        """The best passages for terms with a weight in each field, and for phrases in the body.

        With `files`, only passages of those files. With `among`, a term is as rare as it is in
        several indexes together, so that the scores of these indexes can be compared.
        """
        import tantivy

        if among is not None:
            weights, phrases = self._as_rare_as(among, weights, phrases or {})
        query = tantivy.Query
        clauses = [
            (
                tantivy.Occur.Should,
                query.boost_query(query.term_query(self._schema, field, term, "freq"), weight),
            )
            for field, terms in weights.items()
            for term, weight in terms.items()
        ]
        clauses += [
            (
                tantivy.Occur.Should,
                query.boost_query(query.phrase_query(self._schema, "body", list(phrase)), weight),
            )
            for phrase, weight in (phrases or {}).items()
        ]
        if not clauses:
            return []
        wanted = query.boolean_query(clauses)
        filters = [query.term_query(self._schema, "kind", kind, "basic")] if kind else []
        if files is not None:
            filters.append(query.term_set_query(self._schema, "file", list(files)))
        if filters:
            # A filter must not change the order of the hits, so it scores nothing.
            unscored = [query.const_score_query(each, 0.0) for each in filters]
            wanted = query.boolean_query(
                [(tantivy.Occur.Must, each) for each in (wanted, *unscored)]
            )
        searcher = self._index.searcher()
        hits = searcher.search(wanted, limit, count=False).hits
        return _matches(searcher, hits)

    def statistics(self, terms: Iterable[tuple[str, str]]) -> Statistics:
        """For pairs of a field and a term."""
        searcher = self._index.searcher()
        having = {(field, term): searcher.doc_freq(field, term) for field, term in terms}
        return Statistics(passages=searcher.num_docs, having=having)

    def _as_rare_as(
        self, among: Statistics, weights: TermsByField, phrases: Mapping[Phrase, float]
    ) -> tuple[TermsByField, Mapping[Phrase, float]]:
        """Replaces how rare each term is here, which tantivy multiplies with, by how rare it is
        there.
        """
        pairs = [(field, term) for field, terms in weights.items() for term in terms]
        pairs += [("body", term) for phrase in phrases for term in phrase]
        here = self.statistics(pairs)
        scaled = {
            field: {
                term: weight * among.rarity(field, term) / here.rarity(field, term)
                for term, weight in terms.items()
            }
            for field, terms in weights.items()
        }
        # tantivy adds up the terms of a phrase.
        scaled_phrases = {
            phrase: weight
            * sum(among.rarity("body", term) for term in phrase)
            / sum(here.rarity("body", term) for term in phrase)
            for phrase, weight in phrases.items()
        }
        return scaled, scaled_phrases

    def coverage(self, terms: Iterable[str], *, files: Sequence[int]) -> dict[int, float]:
        """By file, the largest share of the terms that one of its passages has, from 0 to 1.

        Rare terms count more. How often a term occurs does not count, nor whether it is in the text
        or in the path.
        """
        import tantivy

        query, schema = tantivy.Query, self._schema
        searcher = self._index.searcher()
        rarities = _rarities(searcher, terms)
        if not rarities or not files:
            return {}
        clauses = [
            (tantivy.Occur.Should, query.const_score_query(_anywhere(schema, term), rarity))
            for term, rarity in rarities.items()
        ]
        inside = query.const_score_query(query.term_set_query(schema, "file", list(files)), 0.0)
        wanted = query.boolean_query(
            [(tantivy.Occur.Must, each) for each in (query.boolean_query(clauses), inside)]
        )
        hits = searcher.search(wanted, _MOST_COVERING, count=False).hits
        whole = sum(rarities.values())
        shares: dict[int, float] = {}
        for match in _matches(searcher, hits):
            # The best passages come first.
            shares.setdefault(match.file, match.score / whole)
        return shares

    @property
    def count(self) -> int:
        return self._index.searcher().num_docs


def _rarities(searcher: tantivy.Searcher, terms: Iterable[str]) -> dict[str, float]:
    """The weight of each term in BM25. A term that no text has is left out."""
    count = searcher.num_docs
    found = {term: searcher.doc_freq("body", term) for term in terms}
    return {term: log(1 + (count - n + 0.5) / (n + 0.5)) for term, n in found.items() if n}


def _anywhere(schema: tantivy.Schema, term: str) -> tantivy.Query:
    import tantivy

    query = tantivy.Query
    fields = (query.term_query(schema, field, term, "basic") for field in ("body", "place"))
    return query.boolean_query([(tantivy.Occur.Should, each) for each in fields])


def _matches(
    searcher: tantivy.Searcher, hits: Sequence[tuple[float, tantivy.DocAddress]]
) -> list[Match]:
    places = [address for _, address in hits]
    scores = [score for score, _ in hits]
    numbers = [searcher.fast_field_values(name, places) for name in ("file", "start", "end")]
    # Without the function that a named tuple has for its fields: these are in its order.
    make: Any = tuple.__new__  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
    return [
        make(Match, (int(found[0]), int(found[1]), int(found[2]), found[3]))
        for found in zip(*numbers, scores, strict=True)
        if None not in found
    ]


class PassageWriter:
    def __init__(self, writer: tantivy.IndexWriter, schema: tantivy.Schema) -> None:
        self._writer = writer
        self._schema = schema

    def add(self, passages: Iterable[Passage]) -> None:
        from tantivy import Document

        for passage in passages:
            document = Document()
            document.add_unsigned("file", passage.file)
            document.add_unsigned("start", passage.start)
            document.add_unsigned("end", passage.end)
            document.add_text("kind", passage.kind)
            for field in FIELDS:
                if terms := getattr(passage, field):
                    document.add_text(field, terms)
            self._writer.add_document(document)

    def remove(self, files: Iterable[int]) -> None:
        """By a query: deleting by a term looks for a signed number, and finds none."""
        from tantivy import Query

        for file in files:
            self._writer.delete_documents_by_query(Query.term_query(self._schema, "file", file))

    def commit(self) -> None:
        self._writer.commit()

    def close(self) -> None:
        """Drops what was not committed."""
        self._writer.wait_merging_threads()


def _schema() -> tantivy.Schema:
    import tantivy

    builder = tantivy.SchemaBuilder()
    builder.add_unsigned_field("file", indexed=True, fast=True)
    builder.add_unsigned_field("start", fast=True)
    builder.add_unsigned_field("end", fast=True)
    builder.add_text_field("kind", tokenizer_name="raw", index_option="basic")
    for field in FIELDS:
        # Positions are for phrases, and phrases are searched in the body only.
        option = "position" if field == "body" else "freq"
        builder.add_text_field(field, tokenizer_name="plain", index_option=option)
    return builder.build()
