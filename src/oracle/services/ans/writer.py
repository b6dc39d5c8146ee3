"""The subscriber that keeps events: who emits only queues, one thread writes.

Nothing is lost when the process ends by returning, by an exception or by `sys.exit`. What ends it
without a word (`kill -9`, `os._exit`, a power cut) takes the last `GATHER_SECONDS` along.
"""

from __future__ import annotations

import atexit
import logging
import os
from collections import deque
from collections.abc import Callable, Generator
from contextlib import contextmanager
from functools import partial
from queue import SimpleQueue
from threading import Event as Flag
from threading import Lock, Thread
from typing import TYPE_CHECKING, NamedTuple
from weakref import WeakSet

from oracle.errors import StoreError
from oracle.services.ans.bus import EventBus, get_event_bus
from oracle.services.ans.event import Event, Severity
from oracle.services.ans.table import EventsTable, open_events

if TYPE_CHECKING:
    from pathlib import Path

    from sqlalchemy import URL

log = logging.getLogger(__name__)

GATHER_SECONDS = 0.05
"""How long the thread lets events gather, so that it rarely meets the journal at the lock."""
RETRY_SECONDS = 2.0
BATCH = 1000


class _Worker(NamedTuple):
    thread: Thread
    stop: Flag


class EventWriter:
    """Subscribe it to a bus; close it at the end, or leave that to the interpreter's exit.

    While the database takes what comes, any number may wait. During an outage `bound` events are
    kept; what is dropped beyond that is counted and told, in the log and as `events.dropped`.
    """

    def __init__(
        self,
        open_table: Callable[[], EventsTable],
        *,
        bound: int = 50_000,
        gather: float = GATHER_SECONDS,
        retry: float = RETRY_SECONDS,
    ) -> None:
        self._open_table = open_table
        self._bound = bound
        self._gather = gather
        self._retry = retry
        self._exiting = False
        self._start_empty()
        _writers.add(self)

    def _start_empty(self) -> None:
        self._waiting: deque[Event] = deque()
        self._batch: list[Event] = []
        self._bell: SimpleQueue[None] = SimpleQueue()
        self._writing = Lock()
        self._rarely = Lock()
        self._worker: _Worker | None = None
        self._table: EventsTable | None = None
        self._failing = False
        self._dropped = 0

    def __call__(self, event: Event) -> None:
        if self._failing and len(self._waiting) >= self._bound:
            with self._rarely:
                self._dropped += 1
            return
        self._waiting.append(event.kept())
        if self._bell.empty():
            self._bell.put(None)
        if self._worker is None:
            self._start()

    def flush(self) -> bool:
        """Write all that waits now, in this thread. False when the database does not take it."""
        with self._writing:
            due = len(self._batch) + len(self._waiting)
            try:
                while due > 0:
                    due -= self._write_batch()
                self._tell_recovery()
            except Exception as problem:
                self._tell_outage(problem)
        return not self._failing

    def close(self) -> None:
        """Write all that waits and let go of the database."""
        worker, self._worker = self._worker, None
        if worker is not None:
            worker.stop.set()
            self._bell.put(None)
            worker.thread.join()
        if not self.flush():
            lost = len(self._batch) + len(self._waiting) + self._dropped
            log.error("%d events are lost: the database did not take them to the end", lost)
        with self._writing:
            self._disconnect()

    def _start(self) -> None:
        if self._exiting:
            self.flush()
            return
        with self._rarely:
            if self._worker is None:
                stop = Flag()
                thread = Thread(target=self._work, args=(stop,), name="oracle-events", daemon=True)
                self._worker = _Worker(thread, stop)
                thread.start()

    def _work(self, stop: Flag) -> None:
        while not stop.is_set():
            self._bell.get()
            stop.wait(self._gather)
            while not self.flush() and not stop.wait(self._retry):
                pass

    def _write_batch(self) -> int:
        """Answer how many. They stay in `_batch` until then, so that a failure loses nothing."""
        if not self._batch:
            take = min(BATCH, len(self._waiting))
            self._batch = [self._waiting.popleft() for _ in range(take)]
        size = len(self._batch)
        if self._table is None:
            self._table = self._open_table()
        try:
            self._table.append(self._batch)
        except StoreError:
            raise
        except Exception:
            self._write_one_by_one(self._table)
        self._batch.clear()
        return size

    def _write_one_by_one(self, table: EventsTable) -> None:
        """An event that the database refuses takes no other with it."""
        while self._batch:
            try:
                table.append(self._batch[:1])
            except StoreError:
                raise
            except Exception:
                log.exception("the database refuses %r", self._batch[0])
            del self._batch[0]

    def _tell_outage(self, problem: Exception) -> None:
        self._disconnect()
        if not self._failing:
            self._failing = True
            log.error(
                "events cannot be written: %s; up to %d are kept in memory and tried again",
                problem,
                self._bound,
            )

    def _tell_recovery(self) -> None:
        if not self._failing:
            return
        self._failing = False
        dropped, self._dropped = self._dropped, 0
        log.warning("events are written again; %d were dropped", dropped)
        if dropped:
            self._waiting.append(
                Event(
                    type="events.dropped",
                    source=__name__,
                    severity=Severity.ERROR,
                    payload={"count": dropped},
                    run_id=None,
                    turn=None,
                )
            )
            self._write_batch()

    def _disconnect(self) -> None:
        table, self._table = self._table, None
        if table is not None:
            table.close()

    def close_at_exit(self) -> None:
        """From now on there is no thread to rely on: what still comes is written at once."""
        self._exiting = True
        self.close()

    def before_fork(self) -> None:
        """No child can use the connection of its parent, nor close it without doing harm."""
        self._writing.acquire()
        self._disconnect()

    def after_fork_in_parent(self) -> None:
        self._writing.release()

    def after_fork_in_child(self) -> None:
        """What waits is the parent's to write."""
        self._start_empty()


_writers: WeakSet[EventWriter] = WeakSet()


def _for_each(method: Callable[[EventWriter], None]) -> Callable[[], None]:
    def call() -> None:
        for writer in list(_writers):
            method(writer)

    return call


atexit.register(_for_each(EventWriter.close_at_exit))
if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_for_each(EventWriter.before_fork),
        after_in_parent=_for_each(EventWriter.after_fork_in_parent),
        after_in_child=_for_each(EventWriter.after_fork_in_child),
    )


class _Shared:
    """One writer for all who record the same bus to the same database at the same time."""

    def __init__(self, where: URL | Path | str, bus: EventBus) -> None:
        self.writer = EventWriter(partial(open_events, where))
        self.unsubscribe = bus.subscribe(self.writer)
        self.users = 0


_shared: dict[tuple[EventBus, URL], _Shared] = {}
_sharing = Lock()


@contextmanager
def recording(where: URL | Path | str, bus: EventBus | None = None) -> Generator[EventWriter]:
    """Keep every event that is emitted inside in the table of this database, and keep it once.

    When the block is left, the events from inside it are on disk.
    """
    from oracle.services.storage.database import as_url

    key = (bus or get_event_bus(), as_url(where))
    with _sharing:
        shared = _shared.get(key) or _Shared(where, key[0])
        _shared[key] = shared
        shared.users += 1
    try:
        yield shared.writer
    finally:
        with _sharing:
            shared.users -= 1
            is_last = shared.users == 0
            if is_last:
                del _shared[key]
                shared.unsubscribe()
        if is_last:
            shared.writer.close()
        else:
            shared.writer.flush()
