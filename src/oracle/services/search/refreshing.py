"""Bringing the index up to date with the files.

Each batch is announced in the catalogue, committed to the text index, and then settled in the
catalogue. A process that dies in between leaves the announcement, and the next refresh redoes it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

from oracle.services.project.walk import Found, Walk
from oracle.services.search.catalogue import Catalogue, Entry, FileState
from oracle.services.search.intake import read, take_in
from oracle.services.search.passages import PassageWriter, pack, unpack
from oracle.services.search.records import Progress, ProgressListener, RefreshReport
from oracle.services.search.reserve import reserved, room_for
from oracle.services.search.storage import Generation

_FILES_A_BATCH: Final = 4_000
_BYTES_A_BATCH: Final = 40_000_000
_SMALL: Final = 20
_MOST_FRESH: Final = 24
_LARGEST_FRESH: Final = 500_000


@dataclass(kw_only=True)
class _Tally:
    added: int = 0
    changed: int = 0
    removed: int = 0
    unchanged: int = 0
    skipped: int = 0


@dataclass(kw_only=True)
class _Batch:
    first: int
    entries: list[Entry] = field(default_factory=list[Entry])
    gone: list[int] = field(default_factory=list[int])
    skips: list[tuple[Found, str]] = field(default_factory=list[tuple[Found, str]])
    packed: list[tuple[int, str]] = field(default_factory=list[tuple[int, str]])
    size: int = 0

    def full(self) -> bool:
        return len(self.entries) >= _FILES_A_BATCH or self.size >= _BYTES_A_BATCH


def _unheard(progress: Progress) -> None:
    pass


class Refresh:
    """One refresh of one generation; the lock is held by whoever calls."""

    def __init__(
        self, walk: Walk, generation: Generation, progress: ProgressListener | None
    ) -> None:
        self._walk = walk
        self._root = walk.root
        self._catalogue: Catalogue = generation.catalogue
        self._passages = generation.passages
        self._reserve = generation.catalogue.path.with_name("reserve")
        self._progress = progress or _unheard
        self._tally = _Tally()
        self._done = 0
        self._total = 0
        self._small = False

    def whole(self) -> RefreshReport:
        left = self._left_half_done()
        known = {path: at for path, at in self._catalogue.states().items() if at.id not in left}
        passed_over = self._catalogue.skipped()
        candidates: list[Found] = []
        seen: set[str] = set()
        for found in self._walk.files(lambda path, reason: self._count_skip()):
            seen.add(found.path)
            if self._same(known.get(found.path), found):
                self._tally.unchanged += 1
            elif passed_over.get(found.path) == (found.size, found.changed_ns):
                self._tally.skipped += 1
            else:
                candidates.append(found)
        gone = [state.id for path, state in known.items() if path not in seen]
        self._tally.removed = len(gone)
        with self._catalogue.transaction():
            self._catalogue.unskip(path for path in passed_over if path not in seen)
        self._apply(candidates, known, gone + sorted(left))
        return self._report()

    def some(self, paths: Iterable[str]) -> RefreshReport:
        if self._catalogue.pending():
            return self.whole()
        known: dict[str, FileState] = {}
        candidates: list[Found] = []
        gone: list[int] = []
        for path in paths:
            judged = self._walk.judge(path)
            state = self._catalogue.state(path)
            if state:
                known[path] = state
            if isinstance(judged, Found):
                candidates.append(judged)
            elif state:
                gone.append(state.id)
        self._tally.removed = len(gone)
        self._apply(candidates, known, gone)
        return self._report()

    def _count_skip(self) -> None:
        self._tally.skipped += 1

    @staticmethod
    def _same(state: FileState | None, found: Found) -> bool:
        return (
            state is not None
            and state.size == found.size
            and state.changed_ns == found.changed_ns
            and state.changed_ns != 0
        )

    def _left_half_done(self) -> set[int]:
        """Numbers that a dead process was changing. Until they are replaced they stay: what it had
        not yet committed can still be found.
        """
        pending = self._catalogue.pending()
        states = (self._catalogue.state(path) for _, path in pending)
        return {number for number, _ in pending} | {state.id for state in states if state}

    def _apply(
        self, candidates: Sequence[Found], known: dict[str, FileState], gone: list[int]
    ) -> None:
        self._total = len(candidates)
        if not candidates and not gone:
            return
        self._small = len(candidates) <= _SMALL
        batch = _Batch(first=self._catalogue.next_number(), gone=gone)
        with self._passages.writing(small=self._small) as writer:
            for found in candidates:
                self._collect(found, known.get(found.path), batch, writer)
                if batch.full():
                    self._commit(batch, writer)
                    batch = _Batch(first=self._catalogue.next_number())
            self._commit(batch, writer)

    def _collect(
        self, found: Found, state: FileState | None, batch: _Batch, writer: PassageWriter
    ) -> None:
        content = read(self._root, found)
        self._done += 1
        if isinstance(content, str):
            self._tally.skipped += 1
            batch.skips.append((found, content))
            self._drop(state, batch)
        elif state and state.digest == content.digest:
            self._tally.unchanged += 1
            self._catalogue.remember_state(content.found)
        else:
            self._tally.changed += bool(state)
            self._tally.added += not state
            if state:
                batch.gone.append(state.id)
            taken = take_in(content, batch.first + len(batch.entries))
            writer.add(taken.passages)
            batch.entries.append(taken.entry)
            if self._small:
                batch.packed.append((taken.entry.id, pack(taken.passages)))
            batch.size += len(content.bytes)
        self._progress(Progress(done=self._done, total=self._total, path=found.path))

    def _drop(self, state: FileState | None, batch: _Batch) -> None:
        if state:
            batch.gone.append(state.id)
            self._tally.removed += 1

    def _commit(self, batch: _Batch, writer: PassageWriter) -> None:
        catalogue = self._catalogue
        if batch.entries or batch.gone:
            with catalogue.transaction():
                catalogue.announce(
                    [
                        *((entry.id, entry.path) for entry in batch.entries),
                        *((number, "") for number in batch.gone),
                    ],
                    next_number=batch.first + len(batch.entries),
                )
            writer.remove(batch.gone)
            self._write_again(batch, writer)
            room = room_for(batch.entries, catalogue.path)
            with reserved(self._reserve, room, small=self._small) as give_back:
                writer.commit()
                give_back()
                self._settle(batch)
        else:
            self._settle(batch)

    def _settle(self, batch: _Batch) -> None:
        catalogue = self._catalogue
        with catalogue.transaction():
            catalogue.forget(batch.gone)
            catalogue.add(batch.entries)
            catalogue.set_fresh(batch.packed)
            catalogue.unskip(entry.path for entry in batch.entries)
            for found, reason in batch.skips:
                catalogue.skip(found, reason)
            catalogue.settle()

    def _write_again(self, batch: _Batch, writer: PassageWriter) -> None:
        """Join the last few small updates to this one.

        Each commit is a segment, and eight small segments are merged with whatever else is small,
        which takes far longer than an update may. So what the last updates wrote is written again
        beside what is new, their segment falls empty, and there is one small segment, not many.
        """
        gone = set(batch.gone)
        earlier = [row for row in self._catalogue.fresh() if row[0] not in gone]
        size = sum(len(packed) for _, packed in earlier + batch.packed)
        if not batch.packed or len(earlier) >= _MOST_FRESH or size > _LARGEST_FRESH:
            return
        writer.remove(number for number, _ in earlier)
        for _, packed in earlier:
            writer.add(unpack(packed))
        batch.packed.extend(earlier)

    def _report(self) -> RefreshReport:
        tally = self._tally
        return RefreshReport(
            added=tally.added,
            changed=tally.changed,
            removed=tally.removed,
            unchanged=tally.unchanged,
            skipped=tally.skipped,
        )
