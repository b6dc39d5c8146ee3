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
from oracle.services.project.walk import Found, Walk
from oracle.services.search.catalogue import Catalogue
from oracle.services.search.intake import read, read_bytes
from oracle.services.search.known import KnownTerms
from oracle.services.search.lock import Patience
from oracle.services.search.outline import Symbol
from oracle.services.search.ranking import Ranked, callers, rank
from oracle.services.search.reading import decode, lines_of
from oracle.services.search.records import (
    Definition,
    Hit,
    Kind,
    ProgressListener,
    Reference,
    RefreshReport,
)
from oracle.services.search.refreshing import Refresh
from oracle.services.search.repo_map import FileOnMap, draw_map
from oracle.services.search.storage import Generation, Storage, broken
from oracle.services.search.usages import find_references

MOST_HITS: Final = 100
MOST_NAMES: Final = 2_000

Answer = TypeVar("Answer")


class Index:
    """Reading is safe at any time, from any process; writing waits for its turn.

    An index that turns out to be broken is begun anew and built again before the answer.
    """

    def __init__(
        self,
        root: Path,
        folder: Path | None = None,
        kept: tuple[str, ...] = KEPT_FOLDERS,
        patience: Patience | None = None,
    ) -> None:
        self.root = root
        self._walk = Walk(root=root, kept=kept)
        self._storage = Storage(root, folder, patience)

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

        What git ignores in `kept` folders is indexed all the same. Where it must be begun, that has
        to wait for whoever is writing, as long as there is `patience`.
        """
        place = Path(root).resolve()
        if not place.is_dir():
            raise InputError(f"{place} is no folder; name the root of a project")
        return cls(place, folder, kept, patience)

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
        self, progress: ProgressListener | None = None, *, patience: Patience | None = None
    ) -> RefreshReport:
        """Take in what changed since the last time, told by state on disk and then by content.

        Whoever listens to the progress may end it by raising; what was committed stays.
        """
        with self._storage.alone(patience):
            report = self._mended(lambda now: Refresh(self._walk, now, progress).whole())
            return replace(report, rebuilt=self._storage.rebuilt_because())

    def update(self, paths: Iterable[Path | str]) -> RefreshReport:
        """Take in these files only. A folder, or a file of ignore rules, asks for a refresh."""
        named = [self._relative(path) for path in paths]
        if any(self._reaches_further(path) for path in named):
            return self.refresh()
        with self._storage.alone():
            return self._mended(lambda now: Refresh(self._walk, now, None).some(named))

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
        if isinstance(judged, Found):
            content = read(self.root, judged)
            return content if isinstance(content, str) else None
        return judged

    # finding

    def search(
        self, query: str, kind: Kind = "code", k: int = 10, *, per_file: int = 1, under: str = ""
    ) -> list[Hit]:
        """The best passages, best first, scores from 0 to 1, at most `per_file` from one file.

        With `under`, a path relative to the root, only those of that file, or in that folder.
        """
        if kind not in ("code", "vault", "threads"):
            raise InputError(f"{kind!r} is no kind of source; choose code, vault or threads")
        wanted = max(0, min(k, MOST_HITS))
        most, place = max(1, per_file), under.strip("/")
        return self._asked(lambda now: self._search(now, query, kind, wanted, most, place))

    def definitions(self, name: str) -> list[Definition]:
        """Where a name is defined: exactly so spelt first, then in any case of letters.

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
        """The lock is held."""
        with self._storage.refusals():
            try:
                return work(self._now())
            except BaseException as problem:
                if not broken(problem):
                    raise
                return self._begin_anew(problem)

    def _begin_anew(self, problem: BaseException) -> RefreshReport:
        generation = self._storage.begin_anew(f"it was damaged ({problem})")
        return Refresh(self._walk, generation, None).whole()

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
        for each in ranked:
            if len(hits) >= k:
                break
            hits.extend(self._hits(each, now.catalogue, each.score / best, per_file))
        return hits[:k]

    def _hits(self, ranked: Ranked, catalogue: Catalogue, score: float, per_file: int) -> list[Hit]:
        """A file that is gone, or has shrunk, has nothing to show."""
        opened = read_bytes(self.root, ranked.card.path)
        if isinstance(opened, str):
            return []
        lines = lines_of(decode(opened[0]))
        return [
            Hit(
                path=ranked.card.path,
                start=match.start,
                end=min(match.end, len(lines)),
                score=round(score, 4),
                text="".join(lines[match.start - 1 : match.end]),
                kind=ranked.card.kind,
                symbol=_spelt(catalogue.symbol_at(ranked.card.id, match.start, match.end)),
            )
            for match in ranked.matches[:per_file]
            if match.start <= len(lines)
        ]


def _spelt(symbol: Symbol | None) -> str | None:
    if symbol is None or symbol.parent is None or symbol.kind == "heading":
        return symbol and symbol.name
    return f"{symbol.parent}.{symbol.name}"
