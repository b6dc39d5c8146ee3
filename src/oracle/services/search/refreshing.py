"""Bringing the index up to date with the files.

Each batch is announced in the catalogue, committed to the text index, and then settled in the
catalogue. If a process dies in between, the announcement stays, and the next refresh redoes the
batch.

An index in memory has a bound. Files that do not fit are left out, first those farthest from the
root. A refresh whose time is over commits what it has, and the next one continues.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import field
from typing import Final

from oracle.lazy_dataclass import dataclass
from oracle.services.project.walk import FoundFile, Walk
from oracle.services.search.bound import NO_BOUND, Bound, fitting
from oracle.services.search.catalogue import Catalogue
from oracle.services.search.entries import Entry, FileState
from oracle.services.search.intake import read, take_in
from oracle.services.search.passages import PassageWriter, pack, unpack
from oracle.services.search.records import Progress, ProgressListener, RefreshReport
from oracle.services.search.reserve import reserved, room_for
from oracle.services.search.storage import Generation

_FILES_A_BATCH: Final = 4_000
_BYTES_A_BATCH: Final = 40_000_000
"""Both bound the memory of a batch, and the work that is lost if the process is killed."""
_UNTIMED: Final = 64
"""Files of a walk between two looks at the clock."""
_SMALL: Final = 20
"""An update of at most this many files is small, and must end within milliseconds."""
_MOST_FRESH: Final = 24
_LARGEST_FRESH: Final = 500_000
"""The most files, and characters of their passages, that `_write_again` adds to an update."""


@dataclass(kw_only=True)
class _Tally:
    """A `RefreshReport` while it is counted."""

    added: int = 0
    changed: int = 0
    removed: int = 0
    unchanged: int = 0
    skipped: int = 0
    left_out: int = 0
    is_cut: bool = False
    is_late: bool = False


@dataclass(kw_only=True)
class _Batch:
    """Changes that are committed together. `first` is the number of its first new file."""

    first: int
    entries: list[Entry] = field(default_factory=list[Entry])
    gone: list[int] = field(default_factory=list[int])
    skips: list[tuple[FoundFile, str]] = field(default_factory=list[tuple[FoundFile, str]])
    packed: list[tuple[int, str]] = field(default_factory=list[tuple[int, str]])
    size: int = 0

    def full(self) -> bool:
        return len(self.entries) >= _FILES_A_BATCH or self.size >= _BYTES_A_BATCH


def _no_listener(progress: Progress) -> None:
    pass


class Refresh:
    """One refresh of one generation. The caller holds the lock."""

    def __init__(
        self,
        walk: Walk,
        generation: Generation,
        progress: ProgressListener | None = None,
        *,
        bound: Bound = NO_BOUND,
        about: str = "",
    ) -> None:
        self._walk = walk
        self._root = walk.root
        self._catalogue: Catalogue = generation.catalogue
        self._passages = generation.passages
        self._bound = bound
        self._about = about
        self._until = time.monotonic() + bound.seconds
        self._progress = progress or _no_listener
        self._tally = _Tally()
        self._done = 0
        self._total = 0
        self._small = False

    def whole(self) -> RefreshReport:
        """All files of the project."""
        left = self._left_half_done()
        # Without these, so that they count as new and are read again.
        known = self._catalogue.states()
        if left:
            known = {path: state for path, state in known.items() if state.id not in left}
        passed_over = self._catalogue.skipped()
        candidates: list[FoundFile] = []
        seen: set[str] = set()
        until = time.monotonic() + self._bound.walk_seconds
        memory = self._catalogue.walk_memory()
        unchanged = 0
        for found in self._walk.files_to_index(self._count_skip, memory=memory):
            if len(seen) >= self._bound.walked or (
                len(seen) % _UNTIMED == 0 and time.monotonic() > until
            ):
                self._tally.is_cut = True
                break
            path = found.path
            seen.add(path)
            state = known.get(path)
            if (
                state is not None
                and state.changed_ns == found.changed_ns
                and state.size == found.size
                # 0: it was written too recently to be sure (`intake.read`).
                and state.changed_ns != 0
            ):
                unchanged += 1
            elif passed_over.get(path) == (found.size, found.changed_ns):
                self._tally.skipped += 1
            else:
                candidates.append(found)
        self._tally.unchanged = unchanged
        gone = [
            state.id
            for path, state in known.items()
            # First the plain test, without a call: nearly all are still there.
            if path not in seen and self._is_gone(path, seen)
        ]
        self._tally.removed = len(gone)
        with self._catalogue.transaction():
            self._catalogue.unskip(path for path in passed_over if self._is_gone(path, seen))
            self._catalogue.remember_walk(
                memory.changed(), () if self._tally.is_cut else memory.gone()
            )
        self._apply(candidates, known, gone + sorted(left))
        return self._report()

    def some(self, paths: Iterable[str]) -> RefreshReport:
        """These files only."""
        # Work that a dead process left needs a look at all files.
        if self._catalogue.pending():
            return self.whole()
        known: dict[str, FileState] = {}
        candidates: list[FoundFile] = []
        gone: list[int] = []
        for path in paths:
            judged = self._walk.judge(path)
            state = self._catalogue.state(path)
            if state:
                known[path] = state
            if isinstance(judged, FoundFile):
                candidates.append(judged)
            elif state:
                gone.append(state.id)
        self._tally.removed = len(gone)
        self._apply(candidates, known, gone)
        return self._report()

    def _count_skip(self, path: str, reason: str) -> None:
        self._tally.skipped += 1

    def _is_gone(self, path: str, seen: set[str]) -> bool:
        # A walk that was cut short has not met every file that is there.
        return path not in seen and not (self._tally.is_cut and os.path.lexists(self._root / path))

    def _left_half_done(self) -> set[int]:
        """Numbers of files that a dead process was changing.

        They stay in the catalogue until they are replaced: if the text index was not committed,
        their old passages can still be found.
        """
        pending = self._catalogue.pending()
        states = (self._catalogue.state(path) for _, path in pending)
        return {number for number, _ in pending} | {state.id for state in states if state}

    def _apply(
        self, candidates: Sequence[FoundFile], known: dict[str, FileState], gone: list[int]
    ) -> None:
        candidates = self._fitting(candidates, known, frozenset(gone))
        self._total = len(candidates)
        if not candidates and not gone:
            return
        self._small = len(candidates) <= _SMALL
        batch = _Batch(first=self._catalogue.next_number(), gone=gone)
        with self._passages.writing(small=self._small) as writer:
            for number, found in enumerate(candidates):
                # At least one file is read, so that every refresh gets further.
                if number and time.monotonic() > self._until:
                    self._tally.is_late = True
                    left = candidates[number:]
                    self._tally.left_out += sum(each.path not in known for each in left)
                    break
                self._collect(found, known.get(found.path), batch, writer)
                if batch.full():
                    self._commit(batch, writer)
                    batch = _Batch(first=self._catalogue.next_number())
            self._commit(batch, writer)

    def _fitting(
        self,
        candidates: Sequence[FoundFile],
        known: dict[str, FileState],
        gone: frozenset[int],
    ) -> Sequence[FoundFile]:
        sizes = {path: state.size for path, state in known.items() if state.id not in gone}
        chosen = fitting(candidates, sizes, self._bound, about=self._about)
        self._tally.left_out += len(candidates) - len(chosen)
        return chosen

    def _collect(
        self, found: FoundFile, state: FileState | None, batch: _Batch, writer: PassageWriter
    ) -> None:
        content = read(self._root, found)
        taken = None
        if not isinstance(content, str) and not (state and state.digest == content.digest):
            # A file that no parser can take costs itself, not the index.
            try:
                taken = take_in(content, batch.first + len(batch.entries))
            except Exception as problem:
                content = f"it cannot be parsed: {type(problem).__name__}: {problem}"
        self._done += 1
        if isinstance(content, str):
            self._tally.skipped += 1
            batch.skips.append((found, content))
            self._drop(state, batch)
        elif taken is None:
            self._tally.unchanged += 1
            self._catalogue.remember_state(content.found)
        else:
            self._tally.changed += bool(state)
            self._tally.added += not state
            if state:
                batch.gone.append(state.id)
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
            # The two commits cannot be one transaction. Room on the disk for the second is reserved
            # before the first, and released when the second needs it.
            with self._room_for(batch) as release:
                writer.commit()
                release()
                self._settle(batch)
        else:
            self._settle(batch)

    def _room_for(self, batch: _Batch) -> AbstractContextManager[Callable[[], None]]:
        path = self._catalogue.path
        if path is None:
            return nullcontext(lambda: None)
        room = room_for(batch.entries, path)
        return reserved(path.with_name("reserve"), room, small=self._small)

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
        """Write the last few small updates again, together with this one.

        Each commit makes a segment. tantivy merges every eight small segments, which takes far
        longer than an update may. So the passages of the last updates are written again with the
        new ones. Their old segment becomes empty, and there is one small segment instead of many.
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
        return RefreshReport(**vars(self._tally))
