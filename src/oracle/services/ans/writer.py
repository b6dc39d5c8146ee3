"""The subscriber that stores events: emitting only queues, one thread writes.

Nothing is lost when the process ends by returning, by an exception or by `sys.exit`. A process that
ends without notice (`kill -9`, `os._exit`, a power cut) loses its last `GATHER_SECONDS`.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Generator
from contextlib import contextmanager
from functools import partial
from threading import Lock
from typing import TYPE_CHECKING

from oracle.errors import StoreError
from oracle.services.ans.bus import EventBus, get_event_bus
from oracle.services.ans.event import Event, Severity
from oracle.services.ans.table import EventsTable, open_events
from oracle.services.storage.group_commit import GATHER_SECONDS, RETRY_SECONDS, GroupWriter

if TYPE_CHECKING:
    from pathlib import Path

    from sqlalchemy import URL

log = logging.getLogger(__name__)


class EventWriter(GroupWriter[Event, EventsTable]):
    """Subscribe it to a bus; close it at the end, or leave that to the interpreter's exit.

    While the database answers, any number of events may wait. During an outage `bound` events are
    kept. What is dropped beyond that is counted and reported, in the log and as `events.dropped`.
    """

    def __init__(
        self,
        open_table: Callable[[], EventsTable],
        *,
        bound: int = 50_000,
        gather: float = GATHER_SECONDS,
        retry: float = RETRY_SECONDS,
    ) -> None:
        self._bound = bound
        super().__init__(open_table, name="oracle-events", gather=gather, retry=retry)

    def _start_empty(self) -> None:
        super()._start_empty()
        self._failing = False
        self._dropped = 0
        self._dropping = Lock()

    def __call__(self, event: Event) -> None:
        if self._failing and len(self._waiting) >= self._bound:
            with self._dropping:
                self._dropped += 1
            return
        self.put(event.kept())

    def close(self) -> bool:
        is_written = super().close()
        if not is_written:
            lost = len(self._batch) + len(self._waiting) + self._dropped
            log.error("%d events are lost: the database did not take them to the end", lost)
        return is_written

    def _write(self, items: list[Event]) -> None:
        table = self._linked()
        try:
            table.append(items)
        except StoreError:
            raise
        except Exception:
            self._write_one_by_one(table, items)

    def _write_one_by_one(self, table: EventsTable, items: list[Event]) -> None:
        """An event that the database refuses takes no other with it."""
        while items:
            try:
                table.append(items[:1])
            except StoreError:
                raise
            except Exception:
                log.exception("the database refuses %r", items[0])
            # Removed one by one: if the database goes away now, none is written twice later.
            del items[0]

    def _when_failed(self, problem: Exception) -> None:
        if not self._failing:
            self._failing = True
            log.error(
                "events cannot be written: %s; up to %d are kept in memory and tried again",
                problem,
                self._bound,
            )

    def _when_written(self) -> None:
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
                    # It belongs to no run, though a run may be the one that flushes here.
                    run_id=None,
                    turn=None,
                )
            )
            # At once: a reader of the table finds the gap explained right after it.
            self._write_batch()


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
    """Store every event that is emitted inside in the table of this database, and store it once.

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
        # Outside of the lock: writing may take long, and others may begin to record meanwhile.
        if is_last:
            shared.writer.close()
        else:
            shared.writer.flush()
