"""One thread that writes for all threads of a process, many items in one commit.

A commit costs about as much as a hundred rows. So `put` only queues. The thread collects items for
a moment and commits them together. A caller that waits for its items ends that moment early.
"""

from __future__ import annotations

import atexit

# Opening a database needs it, and the exit of the interpreter is too late to import it.
import concurrent.futures.thread  # noqa: F401  # pyright: ignore[reportUnusedImport]
import os
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from queue import Empty, SimpleQueue
from threading import Event as Flag
from threading import Lock, Thread
from typing import Any, Final, Generic, NamedTuple, Protocol, TypeAlias, TypeVar
from weakref import WeakSet

GATHER_SECONDS: Final = 0.05
"""How long items are collected. A kill loses at most this much, unless a caller waits for it."""
RETRY_SECONDS: Final = 2.0
BATCH: Final = 1000
"""The most items in one commit. Bounds how long other writers wait for it."""


class Closable(Protocol):
    def close(self) -> None: ...


Item = TypeVar("Item")
Link = TypeVar("Link", bound=Closable)


class _Worker(NamedTuple):
    thread: Thread
    stop: Flag


class GroupWriter(ABC, Generic[Item, Link]):
    """Writes items in the order of `put`. A subclass says what it means to write some.

    What is left at the exit of the interpreter is written then. After a fork, parent and child
    each write their own items, on connections of their own.
    """

    def __init__(
        self,
        open_link: Callable[[], Link],
        *,
        name: str,
        gather: float = GATHER_SECONDS,
        retry: float = RETRY_SECONDS,
    ) -> None:
        self._open_link = open_link
        self._name = name
        self._gather = gather
        self._retry = retry
        self._exiting = False
        self._start_empty()
        _writers.add(self)

    def _start_empty(self) -> None:
        self._waiting: deque[Item] = deque()
        self._batch: list[Item] = []
        self._bell: SimpleQueue[None] = SimpleQueue()
        self._urgent: SimpleQueue[None] = SimpleQueue()
        self._writing = Lock()
        self._starting = Lock()
        self._worker: _Worker | None = None
        self._link: Link | None = None

    # -- what a subclass says ----------------------------------------------------------------------

    @abstractmethod
    def _write(self, items: list[Item]) -> None:
        """Write them over `_linked()`. On an exception, those still in the list are tried again."""

    def _when_written(self) -> None:
        """All that was due is written."""

    def _when_failed(self, problem: Exception) -> None:
        """The database does not accept what is due. It is tried again later."""

    # -- for callers -------------------------------------------------------------------------------

    def put(self, item: Item) -> None:
        """Queue it. Takes no lock and never waits."""
        self._waiting.append(item)
        # One ring is enough for any number of items. The item is queued before, so a thread that
        # has just heard the last ring finds it.
        if self._bell.empty():
            self._bell.put(None)
        if self._worker is None:
            self._start()

    def hurry(self) -> None:
        """Write what is queued at once, because a caller waits for it."""
        if self._urgent.empty():
            self._urgent.put(None)

    def flush(self) -> bool:
        """Write all that is queued, in this thread. False if the database does not accept it."""
        with self._writing:
            # Counted once: others may go on queueing, and this caller does not wait for that.
            due = len(self._batch) + len(self._waiting)
            try:
                while due > 0:
                    due -= self._write_batch()
                self._when_written()
            except Exception as problem:
                self._disconnect()
                self._when_failed(problem)
                return False
        return True

    def close(self) -> bool:
        """Write all that is queued and disconnect. False if the database did not accept it."""
        worker, self._worker = self._worker, None
        if worker is not None:
            worker.stop.set()
            self._bell.put(None)
            self.hurry()
            worker.thread.join()
        is_written = self.flush()
        with self._writing:
            self._disconnect()
        return is_written

    # -- the thread --------------------------------------------------------------------------------

    def _start(self) -> None:
        if self._exiting:
            self.flush()
            return
        with self._starting:
            # Asked again: another thread may have started it while this one waited for the lock.
            if self._worker is None:
                stop = Flag()
                thread = Thread(target=self._work, args=(stop,), name=self._name, daemon=True)
                self._worker = _Worker(thread, stop)
                thread.start()

    def _work(self, stop: Flag) -> None:
        while not stop.is_set():
            self._bell.get()
            with suppress(Empty):
                self._urgent.get(timeout=self._gather)
            # One commit serves all requests to hurry so far. They are removed before items are
            # taken: the item of a later request is taken now, or that request hurries the next.
            with suppress(Empty):
                while True:
                    self._urgent.get_nowait()
            while not self.flush() and not stop.wait(self._retry):
                pass

    def _write_batch(self) -> int:
        """Returns how many were written. Until then they stay in `_batch`: a failure loses none."""
        if not self._batch:
            take = min(BATCH, len(self._waiting))
            self._batch = [self._waiting.popleft() for _ in range(take)]
        size = len(self._batch)
        self._write(self._batch)
        self._batch.clear()
        return size

    # -- the connection ----------------------------------------------------------------------------

    def _linked(self) -> Link:
        """The connection, opened on first use and again after a failure."""
        if self._link is None:
            self._link = self._open_link()
        return self._link

    def _disconnect(self) -> None:
        link, self._link = self._link, None
        if link is not None:
            # It may be broken, which is why it is given up.
            with suppress(Exception):
                link.close()

    # -- exit and fork -----------------------------------------------------------------------------

    def close_at_exit(self) -> None:
        """From here on no thread can be relied on, so a later item is written at once."""
        self._exiting = True
        self.close()

    def before_fork(self) -> None:
        """Disconnect: a child can neither use its parent's connection nor close it without harm."""
        # Held until after the fork, so that no batch is half written at that moment.
        self._writing.acquire()
        self._disconnect()

    def after_fork_in_parent(self) -> None:
        self._writing.release()

    def after_fork_in_child(self) -> None:
        """Forget what is queued: the parent writes it."""
        self._start_empty()


_AnyWriter: TypeAlias = GroupWriter[Any, Any]
_writers: WeakSet[_AnyWriter] = WeakSet()


def _for_each(method: Callable[[_AnyWriter], None]) -> Callable[[], None]:
    def call() -> None:
        for writer in list(_writers):
            method(writer)

    return call


atexit.register(_for_each(_AnyWriter.close_at_exit))
if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_for_each(_AnyWriter.before_fork),
        after_in_parent=_for_each(_AnyWriter.after_fork_in_parent),
        after_in_child=_for_each(_AnyWriter.after_fork_in_child),
    )
