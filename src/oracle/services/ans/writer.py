"""The subscriber that stores events. `emit` only puts an event into a queue; one thread writes.

No event is lost when the process returns, raises an exception or calls `sys.exit`. A process that
is killed (`kill -9`, `os._exit`, a power cut) loses the events of its last `GATHER_SECONDS`.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from functools import partial
from threading import Lock
from typing import TYPE_CHECKING

from oracle.errors import StoreError
from oracle.logs import logger_of
from oracle.services.ans.bus import EventBus, get_event_bus
from oracle.services.ans.event import Event, Severity
from oracle.services.ans.table import EventsTable, open_events
from oracle.services.background import fork_safe_lock
from oracle.services.storage.group_commit import GATHER_SECONDS, RETRY_SECONDS, GroupWriter

if TYPE_CHECKING:
    from pathlib import Path

    from oracle.services.storage.addresses import Address

log = logger_of(__name__)


class EventWriter(GroupWriter[Event, EventsTable]):
    """Subscribe it to a bus. Close it at the end, or the interpreter closes it at its exit.

    While the database works, any number of events may wait. During an outage `bound` events are
    kept. Further events are dropped, counted, and reported in the log and as `events.dropped`.
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
            log.error("%d events are lost: the database did not accept them", lost)
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
        """Write the others when the database refuses one event."""
        while items:
            try:
                table.append(items[:1])
            except StoreError:
                raise
            except Exception as problem:
                log.error("the database refuses %r: %s", items[0], problem)
            # Removed one by one: if the database fails now, no event is written twice later.
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
                    # It does not belong to a run, although a run may have called this by a flush.
                    run_id=None,
                    turn=None,
                )
            )
            # Written at once, so that the table explains the gap directly after it.
            self._write_batch()


class _Shared:
    """One writer for all blocks that record the same bus to the same database."""

    def __init__(self, where: Address | Path | str, bus: EventBus) -> None:
        self.writer = EventWriter(partial(open_events, where))
        self.unsubscribe = bus.subscribe(self.writer)
        self.users = 0


_shared: dict[tuple[EventBus, Address], _Shared] = {}
_sharing = fork_safe_lock()


@contextmanager
def recording(where: Address | Path | str, bus: EventBus | None = None) -> Generator[EventWriter]:
    """Store every event that is emitted inside the block in this database, exactly once.

    After the block its events are on disk.
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
        # Outside of the lock: writing may take long, and another block may begin meanwhile.
        if is_last:
            shared.writer.close()
        else:
            shared.writer.flush()
