"""Records on disk: one thread, the plain driver, and one commit for all that waits.

A commit costs about as much as a hundred records. So appending only queues; the thread takes
whatever has come meanwhile and commits it together, and only those who asked for it wait.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import threading
import time
from collections.abc import Callable
from queue import Empty, SimpleQueue
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
    "SELECT ?, ?, ?, ?, ?, ?, ?, ? WHERE EXISTS "
    "(SELECT 1 FROM runs WHERE id = ? AND (CAST(? AS TEXT) IS NULL OR lease_owner = ?))"
)
"""Nothing is written for a run whose lease another process holds."""
INSERT_TEXT: Final = "INSERT INTO blobs (hash, body) VALUES (?, ?) ON CONFLICT DO NOTHING"


GATHER_SECONDS: Final = 0.05
"""What a crash may cost of records that nobody waited for."""


class Rows(NamedTuple):
    """What belongs together: a record of a run, and the texts that it names."""

    run_id: str
    texts: tuple[tuple[str, str], ...]
    record: tuple[Any, ...]


class Waiter(NamedTuple):
    run_id: str
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

    What cannot be written fails the runs that it belongs to, and no others: with `stop` a run hears
    of it at its next record, with `memory` it is said once, loudly, and the run goes on.
    """

    def __init__(
        self,
        connect: Callable[[], Connection],
        *,
        placeholder: str = "?",
        on_failure: OnFailure = "stop",
    ) -> None:
        self._connect = connect
        self._connection: Connection | None = None
        self._placeholder = placeholder
        self.on_failure: OnFailure = on_failure
        self._failures: dict[str, Exception] = {}
        self._queue: SimpleQueue[Rows | Waiter | None] = SimpleQueue()
        self._is_closed = False
        self._thread = threading.Thread(target=self._work, name="journal", daemon=True)
        self._thread.start()

    def sink(self, run_id: str, owner: str | None = None) -> RunSink:
        """Take the records of a run, as long as `owner` holds its lease."""
        return RunSink(self, run_id, owner)

    def close(self) -> None:
        """Write what is left and end the thread."""
        self._is_closed = True
        self._queue.put(None)
        self._thread.join()

    def put(self, item: Rows | Waiter) -> None:
        self.raise_failure(item.run_id)
        if self._is_closed:
            raise JournalError(f"the journal is closed; run {item.run_id} came too late")
        self._queue.put(item)

    def raise_failure(self, run_id: str) -> None:
        failure = self._failures.get(run_id)
        if failure is not None and self.on_failure == "stop":
            raise JournalError(f"the journal cannot be written: {failure}") from failure

    def _work(self) -> None:
        batch: list[Rows | Waiter | None] = []
        while None not in batch:
            batch = self._gathered()
            rows = [item for item in batch if isinstance(item, Rows)]
            self._write([item for item in rows if item.run_id not in self._failures])
            for item in batch:
                if isinstance(item, Waiter):
                    with contextlib.suppress(RuntimeError):  # its event loop may be gone by now
                        item.loop.call_soon_threadsafe(self._release, item)
        self._disconnect()

    def _gathered(self) -> list[Rows | Waiter | None]:
        """Let records gather until somebody waits for them, but not for long."""
        batch = [self._queue.get()]
        ends_at = time.monotonic() + GATHER_SECONDS
        while not self._queue.empty() or isinstance(batch[-1], Rows):
            try:
                batch.append(self._queue.get(timeout=max(0.0, ends_at - time.monotonic())))
            except Empty:
                break
        return batch

    def _write(self, rows: list[Rows]) -> None:
        """Commit all together; if that fails, each run by itself, so that it fails alone."""
        if not rows or self._commit(rows) is None:
            return
        for run_id in dict.fromkeys(item.run_id for item in rows):
            problem = self._commit([item for item in rows if item.run_id == run_id])
            if problem is not None:
                self._fail(run_id, problem)

    def _commit(self, rows: list[Rows]) -> Exception | None:
        try:
            if self._connection is None:
                self._connection = self._connect()
            cursor = self._connection.cursor()
            for item in rows:
                for text in item.texts:
                    cursor.execute(INSERT_TEXT.replace("?", self._placeholder), text)
            cursor.executemany(
                INSERT_RECORD.replace("?", self._placeholder), [item.record for item in rows]
            )
            if cursor.rowcount != len(rows):
                raise JournalError("another process has taken the run over")
            self._connection.commit()
        except Exception as problem:
            self._disconnect()
            return problem
        return None

    def _disconnect(self) -> None:
        """Give up whatever is half done: an open transaction would lock everybody else out."""
        connection, self._connection = self._connection, None
        if connection is not None:
            with contextlib.suppress(Exception):
                connection.rollback()
            with contextlib.suppress(Exception):
                connection.close()

    def _fail(self, run_id: str, problem: Exception) -> None:
        self._failures[run_id] = problem
        log.error("run %s: %s%s", run_id, problem, _CONSEQUENCE[self.on_failure])
        get_event_bus().emit(
            Event(
                type="journal.degraded",
                source="journal",
                severity=Severity.ERROR,
                run_id=run_id,
                payload={"problem": str(problem)},
            )
        )

    def _release(self, waiter: Waiter) -> None:
        if waiter.safe.done():
            return
        try:
            self.raise_failure(waiter.run_id)
        except JournalError as failure:
            waiter.safe.set_exception(failure)
        else:
            waiter.safe.set_result(None)


_CONSEQUENCE: Final = {
    "stop": "; see to it that the database can be written, then `oracle run resume` it",
    "memory": "; GOING ON WITHOUT A RECORD: this run can be neither replayed nor resumed",
}


class RunSink:
    """The records of one run."""

    def __init__(self, writer: JournalWriter, run_id: str, owner: str | None) -> None:
        self._writer = writer
        self._run_id = run_id
        self._owner = owner
        self._texts: list[tuple[str, str]] = []

    def append(self, record: Record) -> None:
        texts, self._texts = tuple(self._texts), []
        key = (record.place.node_path, record.place.turn, record.place.ordinal)
        values = (self._run_id, record.seq, record.kind, *key, encoded(record), time.time())
        fence = (self._run_id, self._owner, self._owner)
        self._writer.put(Rows(self._run_id, texts, (*values, *fence)))

    def keep(self, text: str) -> str:
        """It is written with the next record, which names it, so that neither stands alone."""
        name = name_of(text)
        self._texts.append((name, text))
        return name

    async def flush(self) -> None:
        loop = asyncio.get_running_loop()
        safe: asyncio.Future[None] = loop.create_future()
        self._writer.put(Waiter(self._run_id, loop, safe))
        await safe


def encoded(record: Record) -> str:
    """Refuse what would come back as something else."""
    try:
        content = [record.body, record.clock, record.place.request]
        return json.dumps(content, allow_nan=False)
    except (TypeError, ValueError) as problem:
        raise JournalError(
            f"{record.place.node_path}: {record.kind} is not JSON-shaped: {problem}"
        ) from None
