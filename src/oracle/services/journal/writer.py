"""Writes records to the database. Appending only queues them; a run waits only in `flush`."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Callable
from functools import partial
from typing import Any, Final, Literal, NamedTuple, TypeAlias
from weakref import WeakValueDictionary

from oracle.errors import JournalError, OracleError, StoreError
from oracle.logs import logger_of
from oracle.services.ans.bus import get_event_bus
from oracle.services.ans.event import Event, Severity
from oracle.services.journal.record import Record, encoded
from oracle.services.journal.sinks import name_of
from oracle.services.storage.addresses import Address
from oracle.services.storage.connections import Connection, connect
from oracle.services.storage.group_commit import GroupWriter
from oracle.services.storage.purge import DAY
from oracle.services.storage.runs import NOT_RECORDED

log = logger_of(__name__)

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


class Rows(NamedTuple):
    """A record of a run and the texts that it names, which are written together."""

    run_id: str
    texts: tuple[tuple[str, str], ...]
    record: tuple[Any, ...]


class Waiter(NamedTuple):
    """A run that waits until everything it has appended is committed."""

    run_id: str
    loop: asyncio.AbstractEventLoop
    safe: asyncio.Future[None]
    owner: str | None = None
    """Given by a run that is about to write something outside of the database."""


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
        self._failures: dict[str, Exception] = {}
        self._marked: set[str] = set()
        self._sinks: WeakValueDictionary[str, RunSink] = WeakValueDictionary()
        self._is_closed = False

    def sink(self, run_id: str, owner: str) -> RunSink:
        """The sink for the records of a run. It works while `owner` holds the run's lease."""
        sink = self._sinks[run_id] = RunSink(self, run_id, owner)
        return sink

    def close(self) -> bool:
        self._is_closed = True
        return super().close()

    def put(self, item: Rows | Waiter) -> None:
        self.raise_failure(item.run_id)
        if self._is_closed:
            raise JournalError(
                f"the journal is closed; run {item.run_id} cannot write to it any more"
            )
        super().put(item)

    async def committed(self, run_id: str = "", *, owner: str | None = None) -> None:
        """Returns when all that was put before is committed, or has failed its run. With a run,
        raises if it was that one.
        """
        loop = asyncio.get_running_loop()
        safe: asyncio.Future[None] = loop.create_future()
        self.put(Waiter(run_id, loop, safe, owner))
        self.hurry()
        await safe

    def raise_failure(self, run_id: str) -> None:
        failure = self._failures.get(run_id)
        if failure is not None and self.on_failure == "stop":
            raise JournalError(f"the journal cannot be written: {failure}") from failure

    def _write(self, items: list[Rows | Waiter]) -> None:
        """Never raises: a lost record fails its run, so nothing is tried again."""
        # After a lost record a run writes nothing more: a record with a gap cannot be replayed.
        rows = [
            item for item in items if isinstance(item, Rows) and item.run_id not in self._failures
        ]
        if rows and (problem := self._commit(rows)) is not None:
            self._write_run_by_run(rows, problem)
        waiting: dict[asyncio.AbstractEventLoop, list[Waiter]] = {}
        for item in items:
            if isinstance(item, Waiter):
                if item.owner is not None and item.run_id in self._failures:
                    self._mark(item.run_id, item.owner)
                waiting.setdefault(item.loop, []).append(item)
        for loop, waiters in waiting.items():
            with contextlib.suppress(RuntimeError):  # it may be closed by now
                loop.call_soon_threadsafe(self._release_all, waiters)

    def _write_run_by_run(self, rows: list[Rows], problem: Exception | None) -> None:
        """One run made the common commit fail. Only that run must fail."""
        run_ids = dict.fromkeys(item.run_id for item in rows)
        for run_id in run_ids:
            # Alone it would fail again, on a new connection with a less exact reason.
            if len(run_ids) > 1:
                problem = self._commit([item for item in rows if item.run_id == run_id])
            if problem is not None:
                self._fail(run_id, problem)
                if self.on_failure == "memory":
                    owners = (item.record[-1] for item in rows if item.run_id == run_id)
                    self._mark(run_id, next(owners))

    def _mark(self, run_id: str, owner: str) -> None:
        """Note that the run goes on without a record, so that nobody does a second time what it
        does from here on. On a full disk that fails as well, and is tried again before a write.
        """
        if run_id in self._marked:
            return
        try:
            with self._linked().transaction() as write:
                is_ours = write(MARK, [(run_id, owner)]) == 1
        except Exception as problem:
            log.debug("run %s cannot be marked: %s", run_id, problem)
            self._disconnect()
        else:
            # Only after the commit.
            if is_ours:
                self._marked.add(run_id)

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

    def _fail(self, run_id: str, problem: Exception) -> None:
        self._failures[run_id] = problem
        sink = self._sinks.get(run_id)
        if sink is not None and self.on_failure == "stop":
            sink.fail(JournalError(f"the journal cannot be written: {problem}"))
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

    def _release_all(self, waiters: list[Waiter]) -> None:
        for waiter in waiters:
            self._release(waiter)

    def _release(self, waiter: Waiter) -> None:
        if waiter.safe.done():  # its run was cancelled while it waited
            return
        try:
            self.raise_failure(waiter.run_id)
            if waiter.owner and waiter.run_id in self._failures.keys() - self._marked:
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

    def __init__(self, writer: JournalWriter, run_id: str, owner: str) -> None:
        self._writer = writer
        self._run_id = run_id
        self._owner = owner
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
        values = (self._run_id, record.seq, record.kind, *key, encoded(record), time.time())
        fence = (self._run_id, self._owner)
        self._writer.put(Rows(self._run_id, texts, (*values, *fence)))

    def keep(self, text: str) -> str:
        """It is written with the next record, which names it, so that both exist or neither."""
        name = name_of(text)
        self._texts.append((name, text))
        return name

    async def flush(self) -> None:
        await self._writer.committed(self._run_id)

    async def before_write(self) -> None:
        await self._writer.committed(self._run_id, owner=self._owner)
