"""The index of one project: keep it up to date, search it, look up names."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Final, Self, TypeVar

from oracle.errors import InputError
from oracle.services.project.ignore_rules import IGNORE_FILES
from oracle.services.project.names import names_of
from oracle.services.project.root import KEPT_FOLDERS
from oracle.services.project.secret_files import OURS, SecretFiles
from oracle.services.project.walk import FoundFile, Walk
from oracle.services.project.walk_memory import digest_of_code
from oracle.services.search.bound import IN_MEMORY, NO_BOUND, Bound
from oracle.services.search.catalogue import Catalogue
from oracle.services.search.intake import (
    bare_lines_of,
    clean_text,
    read,
    read_bytes,
    text_without_known,
)
from oracle.services.search.known_terms import KnownTerms
from oracle.services.search.lock import Patience
from oracle.services.search.passages import Statistics
from oracle.services.search.ranking import (
    BestScores,
    Ranked,
    Scale,
    best_scores,
    callers,
    rank,
    statistics_for,
)
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
MOST_PLACES: Final = 20
"""A name in more files than this says no less about the project than one in as many."""
_STRONG: Final = 0.2
"""A further place in a file is shown if it matches at least a fifth as well as the best one."""

Found = TypeVar("Found")


class Index:
    """Any process may read at any time. Writers wait for each other.

    A broken index is replaced by a new one, which is built before the call returns.
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
        secrets: SecretFiles = OURS,
        patience: Patience | None = None,
    ) -> Self:
        """The index of a project, in its `.oracle/` or in a folder of the caller's choice.

        In `kept` folders files are indexed even if git ignores them. To create an index, wait for
        other processes that are writing while `patience` returns True.
        """
        place = _project_folder(root)
        return cls(Walk(root=place, kept=kept, secrets=secrets), OnDisk(place, folder, patience))

    @classmethod
    def in_memory(
        cls,
        root: Path | str,
        *,
        kept: tuple[str, ...] = KEPT_FOLDERS,
        secrets: SecretFiles = OURS,
        bound: Bound = IN_MEMORY,
    ) -> Self:
        """The same index without a folder. `last_refresh` counts the files that did not fit."""
        walk = Walk(root=_project_folder(root), kept=kept, secrets=secrets)
        return cls(walk, InMemory(), bound)

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

    # updates

    def refresh(
        self,
        progress: ProgressListener | None = None,
        *,
        patience: Patience | None = None,
        about: str = "",
    ) -> RefreshReport:
        """Index what changed since the last time, by the state on disk and then by content.

        The listener may end it by raising; what was committed stays. If the bound leaves files out,
        those whose path names what is asked `about` come first.
        """
        with self._storage.write_lock(patience):
            report = self._or_rebuild(
                lambda now: Refresh(
                    self._walk, now, progress, bound=self._bound, about=about
                ).whole()
            )
            self.last_refresh = replace(report, rebuilt=self._storage.rebuilt_because())
            return self.last_refresh

    def update(self, paths: Iterable[Path | str]) -> RefreshReport:
        """Index these files only. A folder or an ignore file needs a whole refresh."""
        named = [self._relative(path) for path in paths]
        if any(self._reaches_further(path) for path in named):
            return self.refresh()
        with self._storage.write_lock():
            return self._or_rebuild(
                lambda now: Refresh(self._walk, now, bound=self._bound).some(named)
            )

    def _relative(self, path: Path | str) -> str:
        place = os.path.relpath(os.path.join(self.root, path), self.root)
        if place.startswith(".."):
            raise InputError(f"{path} lies outside of {self.root}; name a path inside it")
        return Path(place).as_posix()

    def _reaches_further(self, path: str) -> bool:
        """Whether a change of this path can concern other files too."""
        name = path.rpartition("/")[2]
        place = self.root / path
        return (
            name in IGNORE_FILES
            or (os.path.isdir(place) and not os.path.islink(place))
            or (not os.path.lexists(place) and bool(self._now().catalogue.paths_below(path)))
        )

    def explain(self, path: Path | str) -> str | None:
        """Why a file is not indexed; None if it is, or will be after the next refresh."""
        judged = self._walk.judge(self._relative(path))
        if isinstance(judged, FoundFile):
            content = read(self.root, judged)
            return content if isinstance(content, str) else None
        return judged

    # look-ups

    def search(
        self,
        query: str,
        kind: Kind = "code",
        k: int = 10,
        *,
        per_file: int = 1,
        under: str = "",
        scale: Scale | None = None,
    ) -> list[Hit]:
        """The best passages, best first, with scores from 0 to 1; at most `per_file` of one file.

        Further passages of a file come after the first passages of all files. `under`, a path
        relative to the root, limits the search to that file or folder. With a `scale` the scores
        can be compared with those of other indexes, and are not limited to 1.
        """
        if kind not in ("code", "vault", "threads"):
            raise InputError(f"{kind!r} is not a kind of source; choose code, vault or threads")
        wanted = max(0, min(k, MOST_HITS))
        most, place = max(1, per_file), under.strip("/")
        return self._look_up(lambda now: self._search(now, query, kind, wanted, most, place, scale))

    def statistics(self, query: str, kind: Kind) -> Statistics:
        """For the `scale` of a search in several indexes."""
        return self._look_up(lambda now: statistics_for(query, kind, now.passages))

    def best_scores(
        self, query: str, kind: Kind, statistics: Statistics, *, under: str = ""
    ) -> BestScores:
        def best(now: Generation) -> BestScores:
            files = now.catalogue.numbers_at(under) if under else None
            return best_scores(query, kind, now.passages, statistics, files=files)

        return self._look_up(best)

    def definitions(self, name: str) -> list[Definition]:
        """Where a name is defined. The exact spelling comes first, then any case of letters.

        `Class.method` finds the method of that class.
        """
        parent, _, bare = name.strip().replace("::", ".").rpartition(".")
        found = self._look_up(lambda now: now.catalogue.definitions(bare, limit=MOST_NAMES))
        owner = parent.rpartition(".")[2]
        inside = [each for each in found if each.parent == owner] if owner else []
        return sorted(inside or found, key=lambda each: (each.name != bare, each.path, each.start))

    def references(self, name: str) -> list[Reference]:
        """Where a name is used, file by file."""
        bare = name.strip().replace("::", ".").rpartition(".")[2]
        return self._look_up(
            lambda now: find_references(
                self.root, bare, now.catalogue, now.passages, limit=MOST_NAMES
            )
        )

    def symbols(self, path: Path | str) -> list[Definition]:
        """What a file defines, in its order."""
        named = self._relative(path)
        return self._look_up(lambda now: now.catalogue.symbols_in(named))

    def repo_map(self, question: str, token_budget: int = 2_000, *, under: str = "") -> str:
        """`mapped_files` as one text."""
        files = self.mapped_files(question, token_budget, under=under)
        return "\n".join(file.text for file in files)

    def mapped_files(
        self, question: str, token_budget: int = 2_000, *, under: str = ""
    ) -> list[FileOnMap]:
        """The files that matter to a question, with what they define, within the budget.

        With `under` only those in that folder; files outside of it still count in the ranking.
        """
        return self._look_up(
            lambda now: draw_map(
                question, token_budget, now.catalogue, now.passages, under=under.strip("/")
            )
        )

    def top_names(self) -> dict[str, list[str]]:
        """For each path, what the file defines at its top level, in its order."""
        names: dict[str, list[str]] = {}
        for path, name in self._look_up(lambda now: list(now.catalogue.top_names())):
            names.setdefault(path, []).append(name)
        return names

    @property
    def known_terms(self) -> KnownTerms:
        return KnownTerms(
            names_of(self.root),
            lambda term: self._look_up(lambda now: now.catalogue.files_with(term, MOST_PLACES)),
        )

    def known_among(self, terms: Iterable[str]) -> dict[str, int]:
        """The terms that are known, and the number of files that have each (`KnownTerms`)."""
        names = names_of(self.root)

        def look(now: Generation) -> dict[str, int]:
            known = KnownTerms(names, lambda term: now.catalogue.files_with(term, MOST_PLACES))
            places = {term: known.places_of(term) for term in terms}
            return {term: count for term, count in places.items() if count is not None}

        return self._look_up(look)

    def paths(self) -> list[str]:
        """Every file in the index, sorted."""
        return self._look_up(lambda now: sorted(card.path for card in now.catalogue.all_cards()))

    @property
    def passage_count(self) -> int:
        return self._look_up(lambda now: now.passages.count)

    # inside

    def _now(self) -> Generation:
        generation = self._storage.current
        generation.passages.reload()
        return generation

    def _look_up(self, query: Callable[[Generation], Found]) -> Found:
        """The result of the query. If the index is broken, it is rebuilt first."""
        with self._storage.disk_errors():
            # `BaseException`, because a panic in the Rust part is not an `Exception`.
            try:
                return query(self._now())
            except BaseException as problem:
                if not broken(problem):
                    raise
                # Reading takes no lock, rebuilding does.
                with self._storage.write_lock():
                    self._rebuild(problem)
                    return query(self._storage.current)

    def _or_rebuild(self, work: Callable[[Generation], RefreshReport]) -> RefreshReport:
        """Do the work, or rebuild a broken index. The caller holds the lock."""
        with self._storage.disk_errors():
            try:
                return work(self._now())
            except BaseException as problem:
                if not broken(problem):
                    raise
                return self._rebuild(problem)

    def _rebuild(self, problem: BaseException) -> RefreshReport:
        generation = self._storage.start_over(f"it was damaged ({problem})")
        return Refresh(self._walk, generation, bound=self._bound).whole()

    def _search(
        self,
        now: Generation,
        query: str,
        kind: Kind,
        k: int,
        per_file: int,
        under: str,
        scale: Scale | None,
    ) -> list[Hit]:
        # Many projects have no notes or no threads, and each question looks for all kinds.
        if kind != "code" and not now.catalogue.has_kind(kind):
            return []
        hits: list[Hit] = []
        files = now.catalogue.numbers_at(under) if under else None
        ranked = rank(query, kind, now.catalogue, now.passages, files=files, scale=scale)
        if kind == "code" and len(ranked) < k:
            missing = k - len(ranked)
            ranked += callers(ranked, now.catalogue, now.passages, limit=missing, files=files)
        best = ranked[0].score if ranked and scale is None else 1.0
        further: list[Hit] = []
        for each in ranked:
            if len(hits) >= k:
                break
            found = self._hits(each, now.catalogue, each.score / best, per_file)
            hits.extend(found[:1])
            further.extend(found[1:])
        # Another file says more to the reader than a second place in the same file.
        return [*hits, *further][:k]

    def _hits(self, ranked: Ranked, catalogue: Catalogue, score: float, per_file: int) -> list[Hit]:
        """No hits if the file is gone, and no passage that begins after the end of the file."""
        opened = read_bytes(self.root, ranked.card.path)
        if isinstance(opened, str) or self._walk.links.problem(opened[1]):
            return []
        content, state = opened  # which may be newer than the index, so lines are checked
        secret = catalogue.secret_lines(
            ranked.card.id, digest_of_code(), state.st_size, state.st_ctime_ns
        )
        shown = ranked.matches[:per_file]
        # Looking for secrets takes far longer than all the rest, so it is done only where needed.
        is_clean = secret is not None and not any(
            match.start <= line <= match.end for line in secret for match in shown
        )
        text = text_without_known(content) if is_clean else clean_text(content)
        lines = bare_lines_of(text, most=max(match.end for match in shown))
        best = ranked.matches[0].score
        return [
            Hit(
                path=ranked.card.path,
                start=match.start,
                end=min(match.end, len(lines)),
                score=round(score * match.score / best, 4),
                text="".join(f"{line}\n" for line in lines[match.start - 1 : match.end]),
                kind=ranked.card.kind,
                symbol=_full_name(catalogue.symbol_at(ranked.card.id, match.start, match.end)),
            )
            for match in shown
            if match.start <= len(lines) and match.score >= _STRONG * best
        ]


def _project_folder(root: Path | str) -> Path:
    place = Path(root).resolve()
    if not place.is_dir():
        raise InputError(f"{place} is not a folder; name the root of a project")
    return place


def _full_name(symbol: Symbol | None) -> str | None:
    if symbol is None or symbol.parent is None or symbol.kind == "heading":
        return symbol and symbol.name
    return f"{symbol.parent}.{symbol.name}"
