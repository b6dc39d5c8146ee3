"""Writes records to the database. Appending only queues them; a run waits only in `flush`."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import Callable
from functools import partial
from typing import Any, Final, Literal, NamedTuple, TypeAlias
from weakref import WeakValueDictionary

from oracle.errors import JournalError, OracleError, StoreError
from oracle.services.ans.bus import get_event_bus
from oracle.services.ans.event import Event, Severity
from oracle.services.journal.record import Record, encoded
from oracle.services.journal.sinks import name_of
from oracle.services.storage.addresses import Address
from oracle.services.storage.connections import Connection, connect
from oracle.services.storage.group_commit import GroupWriter
from oracle.services.storage.purge import DAY
from oracle.services.storage.runs import NOT_RECORDED

log = logging.getLogger(__name__)

OnFailure: TypeAlias = Literal["stop", "memory"]

# The lease is checked by the statement that writes, not before it. Otherwise a process that was
# suspended in between could add records to a run that another process has taken over.
INSERT_RECORD: Final = (
    "INSERT INTO journal (run_id, seq, kind, node_path, turn, ordinal, body, at) "
    "SELECT ?, ?, ?, ?, ?, ?, ?, ? WHERE EXISTS "
    "(SELECT 1 FROM runs WHERE id = ? AND lease_owner = ?)"
)
# A run with a stop reason is never resumed, even if its process dies before it is done.
MARK: Final = (
    f"UPDATE runs SET stop_reason = '{NOT_RECORDED}' "
    "WHERE id = ? AND lease_owner = ? AND status = 'running'"
)
# First the update: it waits for a `purge` that deletes the text, and the insert restores it then.
# Once a day is enough, so that runs that begin together do not wait for each other's locks.
USE_TEXT: Final = "UPDATE blobs SET used_at = ? WHERE hash = ? AND used_at < ?"
INSERT_TEXT: Final = (
    "INSERT INTO blobs (hash, body, used_at) VALUES (?, ?, ?) ON CONFLICT DO NOTHING"
)


class Hold(NamedTuple):
    """A process's hold on a run. A run whose record has failed can be taken up again by the same
    process: its new hold has not failed.
    """

    run_id: str
    owner: str


class Rows(NamedTuple):
    """A record of a run and the texts that it names, which are written together."""

    hold: Hold
    texts: tuple[tuple[str, str], ...]
    record: tuple[Any, ...]


class Waiter(NamedTuple):
    """A run, or one who asks for all of them, that waits until all that was put is committed."""

    hold: Hold | None
    loop: asyncio.AbstractEventLoop
    safe: asyncio.Future[None]
    is_to_write: bool = False
    """Whether the run is about to write something outside of the database."""


def journal_writer(url: Address, *, on_failure: OnFailure) -> JournalWriter:
    """A writer for the database at `url`, which `Database.open` has prepared."""
    return JournalWriter(url, on_failure=on_failure)


class JournalWriter(GroupWriter[Rows | Waiter, Connection]):
    """Writes the records of all runs of a process.

    A record that cannot be written fails its run, and no other: with `stop` the run gets the error
    at its next record; with `memory` the run goes on, and the log says so.
    """

    def __init__(self, url: Address, *, on_failure: OnFailure) -> None:
        super().__init__(partial(connect, url, durable=True), name="journal")
        self.on_failure: OnFailure = on_failure
        self._failures: dict[Hold, Exception] = {}
        self._marked: set[Hold] = set()
        self._sinks: WeakValueDictionary[Hold, RunSink] = WeakValueDictionary()
        self._is_closed = False

    def sink(self, run_id: str, owner: str) -> RunSink:
        """The sink for the records of a run. It works while `owner` holds the run's lease."""
        hold = Hold(run_id, owner)
        sink = self._sinks[hold] = RunSink(self, hold)
        return sink

    def close(self) -> bool:
        self._is_closed = True
        return super().close()

    def put(self, item: Rows | Waiter) -> None:
        if item.hold is not None:
            self.raise_failure(item.hold)
        if self._is_closed:
            run = (
                "" if item.hold is None else f"; run {item.hold.run_id} cannot write to it any more"
            )
            raise JournalError(f"the journal is closed{run}")
        super().put(item)

    async def committed(self, hold: Hold | None = None, *, is_to_write: bool = False) -> None:
        """Returns when all that was put before is committed, or has failed its run. With a hold,
        raises if it was the run of that one.
        """
        loop = asyncio.get_running_loop()
        safe: asyncio.Future[None] = loop.create_future()
        self.put(Waiter(hold, loop, safe, is_to_write))
        self.hurry()
        await safe

    def raise_failure(self, hold: Hold) -> None:
        failure = self._failures.get(hold)
        if failure is not None and self.on_failure == "stop":
            raise JournalError(f"the journal cannot be written: {failure}") from failure

    def _write(self, items: list[Rows | Waiter]) -> None:
        """Never raises: a lost record fails its run, so nothing is tried again."""
        # After a lost record a run writes nothing more: a record with a gap cannot be replayed.
        rows = [
            item for item in items if isinstance(item, Rows) and item.hold not in self._failures
        ]
        if rows and (problem := self._commit(rows)) is not None:
            self._write_run_by_run(rows, problem)
        waiting: dict[asyncio.AbstractEventLoop, list[Waiter]] = {}
        for item in items:
            if isinstance(item, Waiter):
                if item.hold is not None and item.is_to_write and item.hold in self._failures:
                    self._mark(item.hold)
                waiting.setdefault(item.loop, []).append(item)
        for loop, waiters in waiting.items():
            with contextlib.suppress(RuntimeError):  # it may be closed by now
                loop.call_soon_threadsafe(self._release_all, waiters)

    def _write_run_by_run(self, rows: list[Rows], problem: Exception | None) -> None:
        """One run made the common commit fail. Only that run must fail."""
        holds = dict.fromkeys(item.hold for item in rows)
        for hold in holds:
            # Alone it would fail again, on a new connection with a less exact reason.
            if len(holds) > 1:
                problem = self._commit([item for item in rows if item.hold == hold])
            if problem is not None:
                self._fail(hold, problem)
                if self.on_failure == "memory":
                    self._mark(hold)

    def _mark(self, hold: Hold) -> None:
        """Note that the run goes on without a record, so that nobody does a second time what it
        does from here on. On a full disk that fails as well, and is tried again before a write.
        """
        if hold in self._marked:
            return
        try:
            with self._linked().transaction() as write:
                is_ours = write(MARK, [hold]) == 1
        except Exception as problem:
            log.debug("run %s cannot be marked: %s", hold.run_id, problem)
            self._disconnect()
        else:
            # Only after the commit.
            if is_ours:
                self._marked.add(hold)

    def _commit(self, rows: list[Rows]) -> Exception | None:
        try:
            with self._linked().transaction() as write:
                # Texts and the records that name them are one transaction: no reader ever sees a
                # name without its text. `purge` relies on this too.
                if texts := {name: text for item in rows for name, text in item.texts}:
                    # Sorted: two processes that lock the same rows in another order wait forever.
                    names, now = sorted(texts), time.time()
                    write(USE_TEXT, [(now, name, now - DAY) for name in names])
                    write(INSERT_TEXT, [(name, texts[name], now) for name in names])
                if write(INSERT_RECORD, [item.record for item in rows]) != len(rows):
                    raise JournalError("another process has taken the run over")
        except Exception as problem:
            # A new connection for the next try: this one may be broken, or hold a lock.
            self._disconnect()
            return problem
        return None

    def _fail(self, hold: Hold, problem: Exception) -> None:
        self._failures[hold] = problem
        sink = self._sinks.get(hold)
        if sink is not None and self.on_failure == "stop":
            sink.fail(JournalError(f"the journal cannot be written: {problem}"))
        log.error("run %s: %s%s", hold.run_id, problem, _CONSEQUENCE[self.on_failure])
        get_event_bus().emit(
            Event(
                type="journal.degraded",
                source="journal",
                severity=Severity.ERROR,
                run_id=hold.run_id,
                payload={"problem": str(problem)},
            )
        )

    def _release_all(self, waiters: list[Waiter]) -> None:
        for waiter in waiters:
            self._release(waiter)

    def _release(self, waiter: Waiter) -> None:
        if waiter.safe.done():  # its run was cancelled while it waited
            return
        try:
            if waiter.hold is not None:
                self.raise_failure(waiter.hold)
            if waiter.is_to_write and waiter.hold in self._failures.keys() - self._marked:
                raise StoreError(
                    "nothing is written: the run goes on without a record, and the database cannot "
                    "even note that, so a resumed run would write it again"
                )
        except OracleError as failure:
            waiter.safe.set_exception(failure)
        else:
            waiter.safe.set_result(None)


_CONSEQUENCE: Final = {
    "stop": "; make sure that the database can be written, then run `oracle run resume`",
    "memory": "; GOING ON WITHOUT A RECORD: this run can be neither replayed nor resumed",
}


class RunSink:
    """The records of one run."""

    def __init__(self, writer: JournalWriter, hold: Hold) -> None:
        self._writer = writer
        self._hold = hold
        self._texts: list[tuple[str, str]] = []
        self._stop: Callable[[Exception], object] | None = None

    def on_failure(self, stop: Callable[[Exception], object]) -> None:
        loop = asyncio.get_running_loop()
        self._stop = lambda problem: loop.call_soon_threadsafe(stop, problem)

    def fail(self, problem: Exception) -> None:
        """Called in the thread that writes."""
        if self._stop is not None:
            with contextlib.suppress(RuntimeError):  # its event loop may be closed by now
                self._stop(problem)

    def append(self, record: Record) -> None:
        texts, self._texts = tuple(self._texts), []
        key = (record.place.node_path, record.place.turn, record.place.ordinal)
        values = (self._hold.run_id, record.seq, record.kind, *key, encoded(record), time.time())
        self._writer.put(Rows(self._hold, texts, (*values, *self._hold)))

    def keep(self, text: str) -> str:
        """It is written with the next record, which names it, so that both exist or neither."""
        name = name_of(text)
        self._texts.append((name, text))
        return name

    def check(self) -> None:
        self._writer.raise_failure(self._hold)

    async def flush(self) -> None:
        await self._writer.committed(self._hold)

    async def before_write(self) -> None:
        await self._writer.committed(self._hold, is_to_write=True)
