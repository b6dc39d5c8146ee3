"""The index of a project, shared by all that ask it: brought up to date for each question.

Where there can be none (a folder that cannot be written, a disk that is full, another process that
takes its time), everybody hears None and scans the files: slower, and no less true.
"""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections.abc import AsyncGenerator, Callable, Container, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeVar

from oracle.errors import InputError, OracleError
from oracle.services.project.root import KEPT_FOLDERS

if TYPE_CHECKING:
    from oracle.services.search import Index
    from oracle.services.search.records import Progress, ProgressListener

log = logging.getLogger(__name__)

SECONDS_FOR_OTHERS: Final = 10.0
"""How long another process may write before the files are scanned instead."""

Found = TypeVar("Found")
Wanted = Callable[[], bool]


class _NotWantedAnyMore(Exception):  # noqa: N818 - it is an outcome, not a bug
    """Ends a refresh that nobody waits for."""


class ProjectIndex:
    """All work on the index is done in one thread; it is open while a question is at work.

    Questions that begin while others are waiting share a refresh: it starts after all of them were
    asked, so what was on disk then is found. `progress` is called in that thread. What git ignores
    in `kept` folders is found all the same.
    """

    def __init__(
        self,
        root: Path,
        progress: ProgressListener | None = None,
        *,
        kept: tuple[str, ...] = KEPT_FOLDERS,
    ) -> None:
        self._root = root
        self._kept = kept
        self._progress = progress
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="index")
        self._lock = threading.Lock()
        self._questions = 0
        self._next_refresh: Future[None] | None = None
        self._is_closed = False
        self._index: Index | None = None
        self._problem: BaseException | None = None

    @asynccontextmanager
    async def at_hand(self) -> AsyncGenerator[None]:
        """Up to date for a question, and closed behind the last one.

        A refresh that all have stopped waiting for is given up; what it has committed stays.
        """
        with self._lock:
            self._questions += 1
        try:
            await asyncio.shield(asyncio.wrap_future(self._refreshed_soon()))
            yield
        finally:
            with self._lock:
                self._questions -= 1
            await asyncio.shield(asyncio.wrap_future(self._thread.submit(self._rest)))

    async def known(self, terms: Sequence[str]) -> Sequence[str] | None:
        """Those of the terms that name something in the project; None where nobody can tell."""
        return await self.asked(lambda index: _known_among(terms, index.known_terms))

    async def asked(self, question: Callable[[Index], Found]) -> Found | None:
        """Ask the index; None where there can be none. Opened and refreshed if it is not yet."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._thread, partial(self._asked, question))

    def close(self) -> None:
        """For whoever asks without `at_hand`. Ends what is going on."""
        self._is_closed = True
        self._thread.submit(self._put_away)
        self._thread.shutdown()

    # in the thread

    def _asked(self, question: Callable[[Index], Found]) -> Found | None:
        if self._index is None and self._problem is None:
            self._refresh(lambda: not self._is_closed)
        if self._index is None or self._problem is not None:
            return None
        try:
            return question(self._index)
        except InputError:
            raise
        except (OracleError, OSError) as problem:
            self._do_without(problem)
            return None

    def _refreshed_soon(self) -> Future[None]:
        with self._lock:
            if self._next_refresh is None:
                self._next_refresh = self._thread.submit(self._refresh_for_all)
            return self._next_refresh

    def _refresh_for_all(self) -> None:
        with self._lock:
            self._next_refresh = None
        self._problem = None
        self._refresh(lambda: self._questions > 0)

    def _refresh(self, is_wanted: Wanted) -> None:
        until = time.monotonic() + SECONDS_FOR_OTHERS

        def patience() -> bool:
            return is_wanted() and time.monotonic() < until

        try:
            if self._index is None:
                from oracle.services.search import Index

                self._index = Index.open(self._root, kept=self._kept, patience=patience)
            report = self._index.refresh(partial(self._tell, is_wanted), patience=patience)
            if report.rebuilt:
                log.warning("the index was built anew: %s", report.rebuilt)
        except _NotWantedAnyMore as left:
            self._put_away()
            self._problem = left
        except BaseException as problem:
            # Whatever is wrong with it, a question can be answered without an index. A panic of the
            # text index is no `Exception`.
            self._do_without(problem)

    def _tell(self, is_wanted: Wanted, step: Progress) -> None:
        if not is_wanted():
            raise _NotWantedAnyMore
        if self._progress is not None:
            self._progress(step)

    def _do_without(self, problem: BaseException) -> None:
        log.warning("files are scanned, because the index cannot be used: %s", problem)
        self._problem = problem

    def _rest(self) -> None:
        if not self._questions:
            self._put_away()

    def _put_away(self) -> None:
        index, self._index = self._index, None
        if index is not None:
            index.close()


def _known_among(terms: Sequence[str], known: Container[str]) -> list[str]:
    return [term for term in terms if term in known]
