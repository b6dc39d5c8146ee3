"""The index of one project: brought up to date, searched, asked about names."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Final, Self, TypeVar

from oracle.errors import InputError
from oracle.services.project.ignore_rules import IGNORE_FILES
from oracle.services.project.root import KEPT_FOLDERS
from oracle.services.project.walk import FoundFile, Walk
from oracle.services.search.bound import IN_MEMORY, NO_BOUND, Bound
from oracle.services.search.catalogue import Catalogue
from oracle.services.search.intake import decode, lines_of, read, read_bytes
from oracle.services.search.lock import Patience
from oracle.services.search.ranking import Ranked, callers, rank
from oracle.services.search.records import (
    Definition,
    FileOnMap,
    Hit,
    Kind,
    ProgressListener,
    Reference,
    RefreshReport,
)
from oracle.services.search.refreshing import Refresh
from oracle.services.search.repo_map import draw_map
from oracle.services.search.storage import Generation, InMemory, OnDisk, Storage, broken
from oracle.services.search.symbols import Symbol
from oracle.services.search.usages import find_references

MOST_HITS: Final = 100
MOST_NAMES: Final = 2_000
_STRONG: Final = 0.2
"""A further place in a file is shown if it matches at least a fifth as well as the best one."""

Answer = TypeVar("Answer")


class KnownTerms:
    """Contains what is defined in the project, its files, and the titles of its notes."""

    def __init__(self, knows: Callable[[str], bool]) -> None:
        self._knows = knows

    def __contains__(self, term: object) -> bool:
        # Half a letter (a lone surrogate) cannot be looked up, and is not a name.
        try:
            return isinstance(term, str) and self._knows(term)
        except UnicodeEncodeError:
            return False


class Index:
    """Reading is safe at any time, from any process; writing waits for its turn.

    A broken index is begun anew and built again before it answers.
    """

    def __init__(self, walk: Walk, storage: Storage, bound: Bound = NO_BOUND) -> None:
        self.root = walk.root
        self.last_refresh = RefreshReport()
        self._walk = walk
        self._storage = storage
        self._bound = bound

    @classmethod
    def open(
        cls,
        root: Path | str,
        *,
        folder: Path | None = None,
        kept: tuple[str, ...] = KEPT_FOLDERS,
        patience: Patience | None = None,
    ) -> Self:
        """The index of a project, in its `.oracle/` or in a folder of the caller's choice.

        In `kept` folders files are indexed even if git ignores them. A new index waits for other
        processes that are writing, while there is `patience`.
        """
        place = _existing(root)
        return cls(Walk(root=place, kept=kept), OnDisk(place, folder, patience))

    @classmethod
    def in_memory(
        cls,
        root: Path | str,
        *,
        kept: tuple[str, ...] = KEPT_FOLDERS,
        bound: Bound = IN_MEMORY,
    ) -> Self:
        """The same index where nothing can be written. `last_refresh` counts what did not fit."""
        return cls(Walk(root=_existing(root), kept=kept), InMemory(), bound)

    def close(self) -> None:
        self._storage.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    # bringing it up to date

    def refresh(
        self,
        progress: ProgressListener | None = None,
        *,
        patience: Patience | None = None,
        about: str = "",
    ) -> RefreshReport:
        """Take in what changed since the last time, by the state on disk and then by content.

        The listener may end it by raising; what was committed stays. Where a bound leaves files
        out, those whose path names what is asked `about` come first.
        """
        with self._storage.alone(patience):
            report = self._mended(
                lambda now: Refresh(
                    self._walk, now, progress, bound=self._bound, about=about
                ).whole()
            )
            self.last_refresh = replace(report, rebuilt=self._storage.rebuilt_because())
            return self.last_refresh

    def update(self, paths: Iterable[Path | str]) -> RefreshReport:
        """Take in these files only. A folder or an ignore file needs a whole refresh."""
        named = [self._relative(path) for path in paths]
        if any(self._reaches_further(path) for path in named):
            return self.refresh()
        with self._storage.alone():
            return self._mended(lambda now: Refresh(self._walk, now, bound=self._bound).some(named))

    def _relative(self, path: Path | str) -> str:
        place = os.path.relpath(os.path.join(self.root, path), self.root)
        if place.startswith(".."):
            raise InputError(f"{path} lies outside of {self.root}")
        return Path(place).as_posix()

    def _reaches_further(self, path: str) -> bool:
        name = path.rpartition("/")[2]
        place = self.root / path
        return (
            name in IGNORE_FILES
            or (os.path.isdir(place) and not os.path.islink(place))
            or (not os.path.lexists(place) and bool(self._now().catalogue.paths_below(path)))
        )

    def explain(self, path: Path | str) -> str | None:
        """Why a file is not indexed; None when it is, or will be with the next refresh."""
        judged = self._walk.judge(self._relative(path))
        if isinstance(judged, FoundFile):
            content = read(self.root, judged)
            return content if isinstance(content, str) else None
        return judged

    # finding

    def search(
        self, query: str, kind: Kind = "code", k: int = 10, *, per_file: int = 1, under: str = ""
    ) -> list[Hit]:
        """The best passages, best first, scores from 0 to 1, at most `per_file` from one file.

        Further passages of a file come after the first ones of all files.

        With `under`, a path relative to the root, only those of that file, or in that folder.
        """
        if kind not in ("code", "vault", "threads"):
            raise InputError(f"{kind!r} is not a kind of source; choose code, vault or threads")
        wanted = max(0, min(k, MOST_HITS))
        most, place = max(1, per_file), under.strip("/")
        return self._asked(lambda now: self._search(now, query, kind, wanted, most, place))

    def definitions(self, name: str) -> list[Definition]:
        """Where a name is defined: the exact spelling first, then in any case of letters.

        `Class.method` asks for the method of that class.
        """
        parent, _, bare = name.strip().replace("::", ".").rpartition(".")
        found = self._asked(lambda now: now.catalogue.definitions(bare, limit=MOST_NAMES))
        owner = parent.rpartition(".")[2]
        inside = [each for each in found if each.parent == owner] if owner else []
        return sorted(inside or found, key=lambda each: (each.name != bare, each.path, each.start))

    def references(self, name: str) -> list[Reference]:
        """Where a name is used, file by file."""
        bare = name.strip().replace("::", ".").rpartition(".")[2]
        return self._asked(
            lambda now: find_references(
                self.root, bare, now.catalogue, now.passages, limit=MOST_NAMES
            )
        )

    def symbols(self, path: Path | str) -> list[Definition]:
        """What a file defines, in its order."""
        named = self._relative(path)
        return self._asked(lambda now: now.catalogue.symbols_in(named))

    def repo_map(self, question: str, token_budget: int = 2_000, *, under: str = "") -> str:
        """`mapped_files` as one text."""
        files = self.mapped_files(question, token_budget, under=under)
        return "\n".join(file.text for file in files)

    def mapped_files(
        self, question: str, token_budget: int = 2_000, *, under: str = ""
    ) -> list[FileOnMap]:
        """The files that matter to a question, with what they define, within the budget.

        With `under` only those in that folder, which all the others help to rank.
        """
        return self._asked(
            lambda now: draw_map(
                question, token_budget, now.catalogue, now.passages, under=under.strip("/")
            )
        )

    def top_names(self) -> dict[str, list[str]]:
        """By path: what a file defines at its top level, in its order."""
        names: dict[str, list[str]] = {}
        for path, name in self._asked(lambda now: list(now.catalogue.top_names())):
            names.setdefault(path, []).append(name)
        return names

    @property
    def known_terms(self) -> KnownTerms:
        return KnownTerms(lambda term: self._asked(lambda now: now.catalogue.knows(term)))

    def paths(self) -> list[str]:
        """Every file in the index, sorted."""
        return self._asked(lambda now: sorted(card.path for card in now.catalogue.all_cards()))

    @property
    def passage_count(self) -> int:
        return self._asked(lambda now: now.passages.count)

    # inside

    def _now(self) -> Generation:
        generation = self._storage.current
        generation.passages.reload()
        return generation

    def _asked(self, question: Callable[[Generation], Answer]) -> Answer:
        with self._storage.refusals():
            try:
                return question(self._now())
            except BaseException as problem:
                if not broken(problem):
                    raise
                with self._storage.alone():
                    self._begin_anew(problem)
                    return question(self._storage.current)

    def _mended(self, work: Callable[[Generation], RefreshReport]) -> RefreshReport:
        """Does the work; if the index is broken, builds it anew. The caller holds the lock."""
        with self._storage.refusals():
            try:
                return work(self._now())
            except BaseException as problem:
                if not broken(problem):
                    raise
                return self._begin_anew(problem)

    def _begin_anew(self, problem: BaseException) -> RefreshReport:
        generation = self._storage.begin_anew(f"it was damaged ({problem})")
        return Refresh(self._walk, generation, bound=self._bound).whole()

    def _search(
        self, now: Generation, query: str, kind: Kind, k: int, per_file: int, under: str
    ) -> list[Hit]:
        hits: list[Hit] = []
        files = now.catalogue.numbers_at(under) if under else None
        ranked = rank(query, kind, now.catalogue, now.passages, files=files)
        if kind == "code" and len(ranked) < k:
            missing = k - len(ranked)
            ranked += callers(ranked, now.catalogue, now.passages, limit=missing, files=files)
        best = ranked[0].score if ranked else 1.0
        further: list[Hit] = []
        for each in ranked:
            if len(hits) >= k:
                break
            found = self._hits(each, now.catalogue, each.score / best, per_file)
            hits.extend(found[:1])
            further.extend(found[1:])
        # A file that was not shown yet tells more than a second place in one that was.
        return [*hits, *further][:k]

    def _hits(self, ranked: Ranked, catalogue: Catalogue, score: float, per_file: int) -> list[Hit]:
        """None from a file that is gone; no passage that is beyond the end of a file."""
        opened = read_bytes(self.root, ranked.card.path)
        if isinstance(opened, str):
            return []
        lines = lines_of(decode(opened[0]))
        strongest = ranked.matches[0].score
        return [
            Hit(
                path=ranked.card.path,
                start=match.start,
                end=min(match.end, len(lines)),
                score=round(score * match.score / strongest, 4),
                text="".join(lines[match.start - 1 : match.end]),
                kind=ranked.card.kind,
                symbol=_spelt(catalogue.symbol_at(ranked.card.id, match.start, match.end)),
            )
            for match in ranked.matches[:per_file]
            if match.start <= len(lines) and match.score >= _STRONG * strongest
        ]


def _existing(root: Path | str) -> Path:
    place = Path(root).resolve()
    if not place.is_dir():
        raise InputError(f"{place} is not a folder; name the root of a project")
    return place


def _spelt(symbol: Symbol | None) -> str | None:
    if symbol is None or symbol.parent is None or symbol.kind == "heading":
        return symbol and symbol.name
    return f"{symbol.parent}.{symbol.name}"
