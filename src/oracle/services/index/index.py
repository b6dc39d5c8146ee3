"""The index of one project: brought up to date, searched, asked about names."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from oracle.services.index.records import (
    Definition,
    Hit,
    Kind,
    ProgressListener,
    RefreshReport,
)
from oracle.services.index.refreshing import Refresh
from oracle.services.index.ranking import Ranked, rank
from oracle.services.index.reading import decode, lines_of
from oracle.services.index.storage import Generation, Storage, broken

_MOST_HITS: Final = 100
_MOST_DEFINITIONS: Final = 200


class Index:
    def __init__(self, root: Path) -> None:
        self.root = root
        self._storage = Storage(root)

    @classmethod
    def open(cls, root: Path | str) -> Self:
        """The index of a project, made when there is none and begun anew when it is broken."""
        return cls(Path(root).resolve())

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

    def refresh(self, progress: ProgressListener | None = None) -> RefreshReport:
        with self._storage.alone():
            return Refresh(self.root, self._storage.current, progress).whole()

    def update(self, paths: Iterable[Path | str]) -> RefreshReport:
        with self._storage.alone():
            return Refresh(self.root, self._storage.current, None).some(map(str, paths))

    def search(self, query: str, kind: Kind = "code", k: int = 10, *, per_file: int = 1) -> list[Hit]:
        generation = self._storage.current
        generation.passages.reload()
        ranked = rank(query, kind, generation.catalogue, generation.passages)
        hits: list[Hit] = []
        for each in ranked:
            hits.extend(self._hits(each, per_file))
            if len(hits) >= k:
                break
        return hits[:k]

    def _hits(self, ranked: Ranked, per_file: int) -> list[Hit]:
        try:
            lines = lines_of(decode((self.root / ranked.card.path).read_bytes()))
        except OSError:
            return []
        return [
            Hit(path=ranked.card.path, start=m.start, end=m.end, score=ranked.score,
                text="".join(lines[m.start-1:m.end]), kind=ranked.card.kind)
            for m in ranked.matches[:per_file]
        ]
