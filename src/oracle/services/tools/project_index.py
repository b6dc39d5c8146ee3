"""The index of a project, shared by all questions, and brought up to date for each of them.

If it cannot be written (outside of a project, on a disk that is full or read-only, while another
process writes for long), the same index is kept in memory. That one is bounded: the results of the
tools say if files did not fit.
"""

from __future__ import annotations

import asyncio
import os
import threading
import time
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from concurrent.futures import Future
from contextlib import asynccontextmanager, suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeVar
from weakref import WeakSet

from oracle.errors import InputError, OracleError
from oracle.logs import logger_of
from oracle.services.background import DaemonThreads
from oracle.services.project.root import KEPT_FOLDERS, is_writable
from oracle.services.project.secret_files import OURS, SecretFiles
from oracle.services.tools.lookup import NOT_ALL_SEARCHED

if TYPE_CHECKING:
    from oracle.services.search import Definition, Hit, Index, Kind, Reference
    from oracle.services.search.bound import Bound
    from oracle.services.search.records import FileOnMap, Progress, ProgressListener, RefreshReport

log = logger_of(__name__)

SECONDS_FOR_OTHERS: Final = 10.0
"""How long to wait for another process that writes, before the index is built in memory."""
SECONDS_TO_LEAVE: Final = 1.0
"""How long the end of a question, or `close`, waits until the index is closed."""

PLACES_IN_A_FILE: Final = 2

Found = TypeVar("Found")


class _NotNeeded(Exception):  # noqa: N818 - it is an outcome, not a bug
    """Ends a refresh that no question waits for."""


class ProjectIndex:
    """All work on the index is done in one thread. On disk it is open only during a question.

    Questions that begin while others are waiting share a refresh. It starts after all of them were
    asked, so it sees what was on disk then. Outside of a question each look-up refreshes the index
    first. `progress` is called in the thread. Files in `kept` folders are found even if git ignores
    them. With `on_disk=False` nothing is ever written. `bound` limits the index in memory. `folder`
    makes the folder for the index, if that is not the root's own.
    """

    def __init__(
        self,
        root: Path,
        progress: ProgressListener | None = None,
        *,
        kept: tuple[str, ...] = KEPT_FOLDERS,
        secrets: SecretFiles = OURS,
        on_disk: bool = True,
        bound: Bound | None = None,
        folder: Callable[[], Path] | None = None,
    ) -> None:
        self._root = root
        self._folder = folder
        self._kept = kept
        self._secrets = secrets
        self._progress = progress
        self._on_disk = on_disk
        self._bound = bound
        self._is_closed = False
        self._thread = DaemonThreads(1, name="index")
        self._start_empty()
        _indexes.add(self)

    def _start_empty(self) -> None:
        self._lock = threading.Lock()
        self._questions = 0
        self._lookups = 0
        self._next_refresh: Future[None] | None = None
        self._stored: Index | None = None
        self._in_memory: Index | None = None
        self._refreshed_at = 0.0
        # Why the disk is not used until the next question tries again.
        self._problem: BaseException | None = None

    def forget(self) -> None:
        """After a fork, in the child: what was open belongs to the parent, and is opened anew."""
        # Kept alive, because closing the parent's files here could harm the parent.
        _of_parents.extend(each for each in (self._stored, self._in_memory) if each is not None)
        self._start_empty()

    @asynccontextmanager
    async def at_hand(self) -> AsyncGenerator[None]:
        """Bring the index up to date for a question, and close it after the last one.

        A refresh that no question waits for any more is stopped. What it has committed stays.
        """
        with self._lock:
            self._questions += 1
        try:
            # Shielded: cancelling this question must not cancel the refresh of the others.
            await asyncio.shield(asyncio.wrap_future(self._refreshed_soon()))
            yield
        finally:
            with self._lock:
                self._questions -= 1
                is_last = not self._questions
            if is_last:
                # The thread may hang in a file system that does not respond. It closes the index
                # later; the question does not wait for that.
                closed = asyncio.wrap_future(self._thread.submit(self._close_if_idle))
                await asyncio.shield(asyncio.wait({closed}, timeout=SECONDS_TO_LEAVE))

    async def known(self, terms: Sequence[str]) -> Mapping[str, int] | None:
        """The terms that name something in the project, and in how many files; None if that is not
        certain.
        """
        found = await self.asked(lambda index: index.known_among(terms))
        return found if found or not self.left_out else None

    # what the tools look up

    async def search(self, query: str, kind: Kind, k: int, *, under: str = "") -> Sequence[Hit]:
        return await self.asked(
            lambda index: index.search(query, kind, k, per_file=PLACES_IN_A_FILE, under=under),
            about=f"{under} {query}",
        )

    async def search_kinds(
        self, query: str, kinds: Sequence[Kind], k: int
    ) -> Mapping[str, Sequence[Hit]]:
        """Each kind by itself, one after the other, without leaving the thread in between."""
        most = PLACES_IN_A_FILE
        return await self.asked(
            lambda index: {kind: index.search(query, kind, k, per_file=most) for kind in kinds},
            about=query,
        )

    async def definitions(self, name: str) -> Sequence[Definition]:
        return await self.asked(lambda index: index.definitions(name), about=name)

    async def usages(self, name: str) -> Sequence[Reference]:
        return await self.asked(lambda index: index.references(name), about=name)

    async def symbols(self, path: str) -> Sequence[Definition]:
        return await self.asked(lambda index: index.symbols(path), about=path)

    async def top_names(self) -> Mapping[str, Sequence[str]]:
        return await self.asked(lambda index: index.top_names())

    async def paths(self) -> Sequence[str]:
        return await self.asked(lambda index: index.paths())

    async def map_for(
        self, question: str, token_budget: int, *, under: str = ""
    ) -> Sequence[FileOnMap]:
        return await self.asked(
            lambda index: index.mapped_files(question, token_budget, under=under),
            about=f"{under} {question}",
        )

    @property
    def is_on_disk(self) -> bool:
        return self._on_disk

    def in_its_thread(self, work: Callable[[], Found]) -> Future[Found]:
        return self._thread.submit(work)

    @property
    def left_out(self) -> str:
        index = self._in_memory if self._stored is None else None
        return _note_on(index.last_refresh) if index else ""

    async def asked(self, question: Callable[[Index], Found], *, about: str = "") -> Found:
        """What the index returns. Files that fit `about` are read first if not all can be read."""
        loop = asyncio.get_running_loop()
        work = partial(self._asked, question, about, time.monotonic())
        with self._lock:
            self._lookups += 1
        try:
            return await loop.run_in_executor(self._thread, work)
        finally:
            with self._lock:
                self._lookups -= 1

    def close(self) -> None:
        """For use without `at_hand`. Stops the work that is going on."""
        self._is_closed = True
        self._thread.submit(self._close_stored)
        closed = self._thread.submit(self._drop_memory)
        self._thread.shutdown()
        with suppress(TimeoutError):
            closed.result(SECONDS_TO_LEAVE)

    # in the thread

    def _asked(self, question: Callable[[Index], Found], about: str, since: float) -> Found:
        is_open = self._stored is not None or self._in_memory is not None
        # Look-ups that waited for another one's refresh share it. Otherwise a few slow ones in a
        # row would exceed the time limit of a tool.
        if not is_open or self._refreshed_at < since:
            # During a question the index stays as it was when the question began.
            if not is_open or not self._questions:
                self._refresh(about)
            elif self._stored is None and self._is_unfinished():
                self._refresh_in_memory(about)
        if self._stored is not None:
            try:
                return question(self._stored)
            except InputError:
                raise
            except (OracleError, OSError) as problem:
                self._leave_disk(problem)
        return question(self._in_memory or self._refresh_in_memory(about))

    def _is_unfinished(self) -> bool:
        """Whether the last refresh in memory ran out of time."""
        return self._in_memory is not None and self._in_memory.last_refresh.is_late

    def _refreshed_soon(self) -> Future[None]:
        with self._lock:
            if self._next_refresh is None:
                self._next_refresh = self._thread.submit(self._refresh_for_all)
            return self._next_refresh

    def _refresh_for_all(self) -> None:
        # From here on a new question needs a new refresh: this one may miss what it has seen.
        with self._lock:
            self._next_refresh = None
        self._problem = None
        self._refresh("")

    def _is_needed(self) -> bool:
        return self._questions + self._lookups > 0 and not self._is_closed

    def _refresh(self, about: str) -> None:
        if self._on_disk and self._problem is None:
            self._refresh_on_disk()
        if self._stored is None and self._is_needed():
            self._refresh_in_memory(about)

    def _refresh_on_disk(self) -> None:
        until = time.monotonic() + SECONDS_FOR_OTHERS

        def patience() -> bool:
            return self._is_needed() and time.monotonic() < until

        try:
            if self._stored is None:
                from oracle.services.search import Index

                self._stored = Index.open(
                    self._root,
                    folder=self._folder and self._folder(),
                    kept=self._kept,
                    secrets=self._secrets,
                    patience=patience,
                )
            report = self._stored.refresh(self._report, patience=patience)
            if report.rebuilt:
                log.warning("the index was built anew: %s", report.rebuilt)
            # The disk can be written again, so the copy in memory is not needed.
            self._drop_memory()
            self._refreshed_at = time.monotonic()
        except _NotNeeded as left:
            self._close_stored()
            self._problem = left
        except BaseException as problem:
            # Whatever is wrong with the disk, a question can be answered from memory. A panic of
            # the text index is not an `Exception`.
            self._leave_disk(problem)

    def _refresh_in_memory(self, about: str) -> Index:
        from oracle.services.search import Index
        from oracle.services.search.bound import IN_MEMORY

        index = self._in_memory
        if index is None:
            bound = self._bound or IN_MEMORY
            index = self._in_memory = Index.in_memory(
                self._root, kept=self._kept, secrets=self._secrets, bound=bound
            )
        try:
            index.refresh(self._report, about=about)
        except _NotNeeded:
            # Nothing waits for the result. What was committed before stays correct.
            log.debug("the index in memory was not brought up to date: nothing waits for it")
        self._refreshed_at = time.monotonic()
        return index

    def _report(self, step: Progress) -> None:
        if not self._is_needed():
            raise _NotNeeded
        if self._progress is not None:
            self._progress(step)

    def _leave_disk(self, problem: BaseException) -> None:
        # Of a project that is read-only, the user hears once that nothing is stored.
        say = log.warning if is_writable(self._root) else log.info
        say("the index is kept in memory, because it cannot be written: %s", problem)
        self._close_stored()
        self._problem = problem

    def _close_if_idle(self) -> None:
        """Close the files if no question is going on. An index in memory has no files to close."""
        if not self._questions:
            self._close_stored()

    def _close_stored(self) -> None:
        index, self._stored = self._stored, None
        if index is not None:
            index.close()

    def _drop_memory(self) -> None:
        index, self._in_memory = self._in_memory, None
        if index is not None:
            index.close()


_indexes: Final[WeakSet[ProjectIndex]] = WeakSet()
_of_parents: Final[list[Index]] = []


def _forget_all() -> None:
    for index in list(_indexes):
        index.forget()


os.register_at_fork(after_in_child=_forget_all)


def _note_on(report: RefreshReport) -> str:
    if not report.left_out and not report.is_cut:
        return ""
    many = f"{'at least ' * report.is_cut}{report.left_out:,}" if report.left_out else "some"
    more = " The next search reads more of them." if report.is_late else ""
    return (
        f"{NOT_ALL_SEARCHED}, because no index can be written here and the one in memory "
        f"is bounded (files left out: {many}).{more}"
    )
