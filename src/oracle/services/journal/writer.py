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
from collections.abc import Callable, Sequence
from queue import SimpleQueue
from typing import Any, Final, Literal, Protocol, TypeAlias

from oracle.errors import JournalError
from oracle.services.journal.record import Record

log = logging.getLogger(__name__)

OnFailure: TypeAlias = Literal["stop", "memory"]
Row: TypeAlias = tuple[str, int, str, str, int, int, str, float]
Waiter: TypeAlias = tuple[asyncio.AbstractEventLoop, "asyncio.Future[None]"]

INSERT: Final = (
    "INSERT INTO journal (run_id, seq, kind, node_path, turn, ordinal, body, at) "
    "VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
)


class Cursor(Protocol):
    def executemany(self, sql: str, rows: Sequence[Any], /) -> Any: ...


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
        self._insert = INSERT.replace("?", placeholder)
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
        open_ = True
        while open_:
            batch = [self._queue.get()]
            while not self._queue.empty():
                batch.append(self._queue.get())
            open_ = None not in batch
            rows = [item for item in batch if item is not None and len(item) == 8]
            try:
                connection = connection or self._connect()
                if rows and self.failure is None:
                    connection.cursor().executemany(self._insert, rows)
                    connection.commit()
            except Exception as problem:
                self._fail(problem)
            for item in batch:
                if item is not None and len(item) == 2:
                    item[0].call_soon_threadsafe(self._release, item[1])
        if connection is not None:
            connection.close()

    def _fail(self, problem: Exception) -> None:
        if self.failure is None:
            self.failure = JournalError(f"the journal cannot be written: {problem}")
            self.failure.__cause__ = problem
            log.error("%s%s", self.failure, _CONSEQUENCE[self._on_failure])

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
        place = record.place
        self._writer.put(
            (
                self._run_id,
                record.seq,
                record.kind,
                place.node_path,
                place.turn,
                place.ordinal,
                encoded(record),
                time.time(),
            )
        )

    async def flush(self) -> None:
        loop = asyncio.get_running_loop()
        waiter: asyncio.Future[None] = loop.create_future()
        self._writer.put((loop, waiter))
        await waiter


def encoded(record: Record) -> str:
    """Refuse what would come back as something else."""
    try:
        return json.dumps([record.body, record.clock], ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError) as problem:
        raise JournalError(
            f"{record.place.node_path}: {record.kind} is not JSON-shaped: {problem}"
        ) from None
