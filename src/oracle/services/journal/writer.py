"""Records on disk: one thread, the plain driver, and one commit for all that waits.

A commit costs about as much as a hundred records. So appending only queues; the thread takes
whatever has come meanwhile and commits it together, and only those who asked for it wait.
"""

from __future__ import annotations

import asyncio
import json
import logging
import threading
import time
from collections.abc import Callable
from itertools import groupby
from queue import SimpleQueue
from typing import Any, Final, Literal, NamedTuple, Protocol, TypeAlias

from oracle.errors import JournalError
from oracle.services.ans.bus import get_event_bus
from oracle.services.ans.event import Event, Severity
from oracle.services.journal.record import Record
from oracle.services.journal.sinks import name_of

log = logging.getLogger(__name__)

OnFailure: TypeAlias = Literal["stop", "memory"]

INSERT_RECORD: Final = (
    "INSERT INTO journal (run_id, seq, kind, node_path, turn, ordinal, body, at) "
    "VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
)
INSERT_BLOB: Final = "INSERT INTO blobs (hash, body) VALUES (?, ?) ON CONFLICT DO NOTHING"


class Row(NamedTuple):
    sql: str
    values: tuple[Any, ...]


class Waiter(NamedTuple):
    loop: asyncio.AbstractEventLoop
    safe: asyncio.Future[None]


class Connection(Protocol):
    """What sqlite3 and psycopg have in common."""

    def cursor(self) -> Any: ...
    def commit(self) -> None: ...
    def rollback(self) -> None: ...
    def close(self) -> None: ...


class JournalWriter:
    """Writes the records of all runs of a process.

    When the disk fails, `stop` makes each run hear of it at its next effect; `memory` says so once,
    loudly, and lets the runs go on without a record.
    """

    def __init__(
        self,
        connect: Callable[[], Connection],
        *,
        placeholder: str = "?",
        on_failure: OnFailure = "stop",
    ) -> None:
        self.failure: JournalError | None = None
        self._connect = connect
        self._placeholder = placeholder
        self._on_failure = on_failure
        self._queue: SimpleQueue[Row | Waiter | None] = SimpleQueue()
        self._thread = threading.Thread(target=self._work, name="journal", daemon=True)
        self._thread.start()

    def sink(self, run_id: str) -> RunSink:
        return RunSink(self, run_id)

    def close(self) -> None:
        """Write what is left and end the thread."""
        self._queue.put(None)
        self._thread.join()

    def put(self, item: Row | Waiter) -> None:
        self.raise_failure()
        self._queue.put(item)

    def raise_failure(self) -> None:
        if self.failure is not None and self._on_failure == "stop":
            raise self.failure

    def _work(self) -> None:
        connection: Connection | None = None
        batch: list[Row | Waiter | None] = []
        while None not in batch:
            batch = [self._queue.get()]
            while not self._queue.empty():
                batch.append(self._queue.get())
            try:
                connection = connection or self._connect()
                self._write(connection, [item for item in batch if isinstance(item, Row)])
            except Exception as problem:
                self._fail(problem)
            for item in batch:
                if isinstance(item, Waiter):
                    item.loop.call_soon_threadsafe(self._release, item.safe)
        if connection is not None:
            connection.close()

    def _write(self, connection: Connection, rows: list[Row]) -> None:
        if not rows or self.failure is not None:
            return
        cursor = connection.cursor()
        for sql, group in groupby(rows, key=lambda row: row.sql):
            marked = sql.replace("?", self._placeholder)
            cursor.executemany(marked, [row.values for row in group])
        connection.commit()

    def _fail(self, problem: Exception) -> None:
        if self.failure is None:
            self.failure = JournalError(f"the journal cannot be written: {problem}")
            self.failure.__cause__ = problem
            log.error("%s%s", self.failure, _CONSEQUENCE[self._on_failure])
            get_event_bus().emit(
                Event(
                    type="journal.degraded",
                    source="journal",
                    severity=Severity.ERROR,
                    payload={"problem": str(problem)},
                )
            )

    def _release(self, waiter: asyncio.Future[None]) -> None:
        if waiter.done():
            return
        try:
            self.raise_failure()
        except JournalError as failure:
            waiter.set_exception(failure)
        else:
            waiter.set_result(None)


_CONSEQUENCE: Final = {
    "stop": "; free some space or make the folder writable, then resume the run",
    "memory": "; GOING ON WITHOUT A RECORD: these runs cannot be replayed or resumed",
}


class RunSink:
    """The records of one run."""

    def __init__(self, writer: JournalWriter, run_id: str) -> None:
        self._writer = writer
        self._run_id = run_id

    def append(self, record: Record) -> None:
        key = (record.place.node_path, record.place.turn, record.place.ordinal)
        values = (self._run_id, record.seq, record.kind, *key, encoded(record), time.time())
        self._writer.put(Row(INSERT_RECORD, values))

    def keep(self, text: str) -> str:
        name = name_of(text)
        self._writer.put(Row(INSERT_BLOB, (name, text)))
        return name

    async def flush(self) -> None:
        loop = asyncio.get_running_loop()
        safe: asyncio.Future[None] = loop.create_future()
        self._writer.put(Waiter(loop, safe))
        await safe


def encoded(record: Record) -> str:
    """Refuse what would come back as something else."""
    try:
        return json.dumps([record.body, record.clock], ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError) as problem:
        raise JournalError(
            f"{record.place.node_path}: {record.kind} is not JSON-shaped: {problem}"
        ) from None
