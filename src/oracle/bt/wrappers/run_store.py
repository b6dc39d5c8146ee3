"""The runs of a database, with their records, their sessions and the exchanges they made."""

from __future__ import annotations

import asyncio
import copy
import logging
import os
import time
import uuid
from collections.abc import AsyncGenerator, Mapping, Sequence
from concurrent.futures import Future, wait
from contextlib import ExitStack, asynccontextmanager
from threading import Lock
from typing import TYPE_CHECKING, Any, Final

from oracle.bt.core.leaves import LEAVES, LeafRegistry
from oracle.bt.wrappers.lease import Lease
from oracle.bt.wrappers.recipe import Recipe
from oracle.bt.wrappers.recorded_tree import RecordedTree, ServicesOf
from oracle.bt.wrappers.spending import lowered
from oracle.errors import InputError, StoreError
from oracle.models.session import Exchange, Session
from oracle.services.ans.bus import EventBus, get_event_bus
from oracle.services.ans.table import EventsTable, open_events
from oracle.services.ans.writer import EventWriter, recording
from oracle.services.background import in_thread_to_end
from oracle.services.dispatch.queue import Queue
from oracle.services.journal import Record
from oracle.services.journal.record import check_end, decoded, names_of_texts
from oracle.services.journal.sinks import name_of
from oracle.services.journal.writer import journal_writer
from oracle.services.storage.addresses import Address
from oracle.services.storage.budgets import Budget
from oracle.services.storage.database import Database
from oracle.services.storage.exchanges import Exchanges
from oracle.services.storage.naming import Naming
from oracle.services.storage.runs import NEVER_BEGUN, QUEUED, WITHOUT_END, Runs, new_owner
from oracle.services.storage.sessions import Sessions
from oracle.services.storage.spend import Hold
from oracle.services.storage.transactions import Transaction, marks

if TYPE_CHECKING:
    from oracle.services.journal.writer import JournalWriter, OnFailure
    from oracle.services.storage.shadow_reports import ShadowReports

log = logging.getLogger(__name__)

BEFORE_FIRST: Final = ""
"""In the place of an exchange: a run that begins its session again, as a branch of its own."""

_RECORDS: Final = (
    "SELECT seq, kind, node_path, turn, ordinal, body, at FROM journal WHERE run_id = ? "
    "ORDER BY seq"
)


class RunStore:
    """Without a `writer` it only reads. Where a run is asked for, a unique prefix will do.

    Its door is written to the runs that begin here: "server" for those that a server takes up again
    by itself if their process dies. A run of the terminal waits for its user.
    """

    def __init__(
        self,
        database: Database,
        writer: JournalWriter | None = None,
        *,
        events: EventWriter | None = None,
        leaves: LeafRegistry = LEAVES,
    ) -> None:
        self._use(database)
        self._writer = writer
        self._events = events
        self.leaves = leaves
        self._door: str | None = None
        self._most: int | None = None
        self._line: str | None = None

    def seen_by(self, user: str | None) -> RunStore:
        """The same store for another user; with None, for all of them."""
        if user == self.database.user:
            return self
        view = copy.copy(self)
        view._use(self.database.seen_by(user))
        return view

    def for_door(self, door: str, most_of_user: int | None = None) -> RunStore:
        """All processes together take at most `most_of_user` queued runs of a user at once."""
        view = copy.copy(self)
        view._door, view._most = door, most_of_user
        return view

    def of_line(self, line: str) -> RunStore:
        """For runs that were stored when they were asked, and wait in this line (`api.line`)."""
        view = copy.copy(self)
        view._line = line
        return view

    def _use(self, database: Database) -> None:
        self.runs = Runs(database)
        self.database = database
        self._sessions = Sessions(database)
        self._exchanges = Exchanges(database)

    def open_events(self) -> EventsTable:
        """The stored events of this user, with all that this process has emitted until now."""
        if self._events is not None:
            self._events.flush()
        return open_events(self.database.url, self.database.user)

    @property
    def shadow_reports(self) -> ShadowReports:
        # Imported here: few runs are compared with another.
        from oracle.services.storage.shadow_reports import ShadowReports

        return ShadowReports(self.database)

    # -- reading -----------------------------------------------------------------------------------

    async def record_of(self, run_id: str) -> tuple[list[Record], dict[str, str]]:
        """The records of a run, and the texts that its first one names."""
        run = await self.runs.get(run_id)

        def read(connection: Transaction) -> tuple[list[Record], dict[str, str]]:
            records = decoded(connection.rows(_RECORDS, [run.id]), run.id)
            if run.status == "done" and run.stop_reason not in WITHOUT_END:
                check_end(records, run.id)
            names = list(names_of_texts(records[0].body)) if records else []
            texts = connection.rows(
                f"SELECT hash, body FROM blobs WHERE hash IN {marks(names)}", names
            )
            # The name is the hash of the text, so one that was changed is found.
            return records, {
                name: body
                for name, body in texts
                if isinstance(body, str) and name_of(body) == name
            }

        return await self.database.read(read)

    async def folder_of(self, typed: str) -> str:
        """Where the run was asked; empty for one of a project."""
        return (await self.start_of(typed)).get("folder", "")

    async def start_of(self, typed: str) -> Mapping[str, Any]:
        """What the run is made of; empty if it died before that was recorded."""
        records, _ = await self.record_of(typed)
        return records[0].body if records else {}

    async def replay(self, run_id: str, *, services: ServicesOf | None = None) -> RecordedTree:
        records, contents = await self.record_of(run_id)
        return RecordedTree.replay(records, contents, leaves=self.leaves, services=services)

    async def session_called(self, typed: str, project: str | None = None) -> Session:
        """By its id, a prefix of it, or `last` for the one that was used last in the project."""
        return await Naming(self.database, project).session(typed)

    async def place_called(
        self, typed: str, project: str | None = None
    ) -> tuple[Session, Exchange | None]:
        """Where to continue: the end of a session, or an exchange in it, by the same names."""
        return await Naming(self.database, project).place(typed)

    async def session_of(self, context_id: str) -> Session:
        exchange = await self._exchanges.get(context_id)
        return await self._sessions.get(exchange.session_id)

    async def history(
        self, context_id: str | None, session_id: str | None = None
    ) -> list[Exchange]:
        """What was said up to that exchange, else in that session; the last one is the newest.

        Nothing was said before the first one (`BEFORE_FIRST`).
        """
        if context_id is None and session_id is not None:
            session = await self._sessions.get(session_id)
            newest = await self._exchanges.newest(session.id)
            context_id = None if newest is None else newest.id
        if context_id is None or context_id == BEFORE_FIRST:
            return []
        exchange = await self._exchanges.get(context_id)
        return await self._exchanges.path_to(exchange.id)

    async def exchanges_of(self, session_id: str) -> list[Exchange]:
        """All branches of a session, oldest exchange first."""
        return await self._exchanges.of_session(session_id)

    # -- working on runs ---------------------------------------------------------------------------

    async def begin(
        self,
        recipe: Recipe,
        *,
        services: ServicesOf | None = None,
        session_id: str | None = None,
        parent: Exchange | None = None,
        opens_session: bool = False,
        project: str | None = None,
        shadow_of: str | None = None,
        budgets: Sequence[Budget] = (),
    ) -> RecordedTree:
        """Write a new run down before anything is done for it.

        What it may cost is held for it, within the `budgets`. If less is left, it gets that.

        It goes on from its `parent`, else in a session that is there, else it `opens_session`: then
        the run and the session are both there, or neither.
        """
        owner = new_owner()
        sink = self.writing().sink(recipe.run_id, owner)
        lease = self._lease(recipe.run_id, owner)
        options: dict[str, Any] = {"leaves": self.leaves, "services": services, "lease": lease}
        # The tree is loaded first, so that one that cannot be loaded leaves no run behind.
        tree = RecordedTree(recipe, sink, **options)
        hold = Hold.of_board(recipe.board, budgets, project)
        try:
            if parent is not None:
                session_id = parent.session_id
            elif session_id is not None:
                session_id = (await self._sessions.get(session_id)).id
            elif opens_session:
                session_id = uuid.uuid4().hex
            place: dict[str, Any] = {
                "session_id": session_id,
                "context_id": None if parent is None else parent.id,
                "opens_session": opens_session,
            }
            if self._door == QUEUED or self._line is not None:
                # It was stored when it was asked.
                taken = (recipe.run_id, owner, recipe.tree, hold, self._most)
                await self.runs.begin_queued(*taken, line=self._line or "", **place)
            else:
                await self.runs.begin(
                    run_id=recipe.run_id,
                    question=recipe.question,
                    tree=recipe.tree,
                    at=recipe.began_at,
                    owner=owner,
                    project=project,
                    shadow_of=shadow_of,
                    door=self._door,
                    hold=hold,
                    **place,
                )
        except StoreError as problem:
            # Without a record nobody could say what was spent.
            if self.needs_records or budgets:
                raise
            log.error("run %s: %s; GOING ON WITHOUT A RECORD", recipe.run_id, problem)
            return RecordedTree(recipe, leaves=self.leaves, services=services)
        return RecordedTree(lowered(recipe, hold), sink, **options) if hold.is_lowered else tree

    async def resume(
        self,
        run_id: str,
        *,
        services: ServicesOf | None = None,
        budgets: Sequence[Budget] = (),
    ) -> RecordedTree:
        """Take a run whose process died; `LeaseHeld` if another process works on it.

        A run that ended, and whose process died before that was noted, is only played again.
        """
        writer, owner = self.writing(), new_owner()
        run = await self.runs.claim(run_id, owner, budgets=budgets, most_of_user=self._most)
        lease = self._lease(run.id, owner)
        options: dict[str, Any] = {"leaves": self.leaves, "services": services, "lease": lease}
        try:
            records, contents = await self.record_of(run.id)
            if not records:
                if await Queue(self.database, run.project).request_of(run.id) is not None:
                    raise InputError(
                        f"run {run.id} waits for a worker; `oracle worker` starts one, and "
                        "`oracle queue` says what waits"
                    )
                await lease.finish(NEVER_BEGUN, {})
                raise InputError(
                    f"run {run.id} died before it began, so nothing is lost; ask again"
                )
            if records[-1].kind == "end":
                return RecordedTree.replay(records, contents, **options)
            sink = writer.sink(run.id, owner)
            return RecordedTree.resume(records, contents, sink, **options)
        except BaseException:
            await lease.release()
            raise

    async def keep_exchange(self, run_id: str, answer: str, metadata: dict[str, Any]) -> str | None:
        """Keep what the user is shown, and return its id; None for a run without a session, and for
        one whose answer no user is shown.

        The exchange has its run's id, so that keeping it again after a crash changes nothing.
        """
        try:
            return await self._exchanges.append_of_run(run_id, answer, metadata, time.time())
        except StoreError as problem:
            if self.needs_records:
                raise
            log.error("run %s: its answer is not kept: %s", run_id, problem)
            return None

    def _lease(self, run_id: str, owner: str) -> Lease:
        return Lease(self.runs, run_id, owner, needs_record=self.needs_records)

    @property
    def needs_records(self) -> bool:
        """Whether a run that cannot be recorded must stop."""
        return self.writing().on_failure == "stop"

    def writing(self) -> JournalWriter:
        if self._writer is None:
            raise StoreError("this store was opened for reading; open it with a journal writer")
        return self._writer


# -- one store for all questions under way ---------------------------------------------------------


class _SharedStore:
    """A database with all that writes to it, for every block of the process that uses it now."""

    def __init__(self, url: Address, on_failure: OnFailure, bus: EventBus) -> None:
        self.users = 0
        self.opening: Future[RunStore] = Future()
        self._on_failure: OnFailure = on_failure
        self._bus = bus
        self._database = Database(url)
        self._writers = ExitStack()
        self._database.prepared().add_done_callback(self._open)

    def _open(self, prepared: Future[None]) -> None:
        problem = prepared.exception()
        if problem is not None:
            self.opening.set_exception(problem)
            return
        url = self._database.url
        writer = journal_writer(url, on_failure=self._on_failure)
        self._writers.callback(writer.close)
        events = self._writers.enter_context(recording(url, self._bus))
        self.flush = events.flush
        self.opening.set_result(RunStore(self._database, writer, events=events))

    def flush(self) -> object:
        """Write the events so far. Nothing was recorded before the database is open."""

    @property
    def is_usable(self) -> bool:
        """Whether a new block may use it. One that failed to open may work the next time."""
        if not self.opening.done():
            return True
        return self.opening.exception() is None and self._database.is_still_there

    def close(self) -> None:
        wait([self.opening])
        self._writers.close()
        self._database.close_now()


_stores: dict[tuple[Address, OnFailure, EventBus], _SharedStore] = {}
_sharing = Lock()


@asynccontextmanager
async def open_store(url: Address, *, on_failure: OnFailure = "stop") -> AsyncGenerator[RunStore]:
    """Open a database with all that writes to it, and see that everything is written at the end.

    Blocks that overlap share it, whatever event loop or thread they are in; the last one closes it.
    So any number of questions has one database, one journal writer and one recorder of events.
    `on_failure` says what a run does when its record cannot be written (`journal.failure`).
    """
    key = (url, on_failure, get_event_bus())
    with _sharing:
        shared = _stores.get(key)
        if shared is None or not shared.is_usable:
            shared = _stores[key] = _SharedStore(*key)
        shared.users += 1
    try:
        # Shielded: a block that is cancelled must not cancel the opening for the others.
        yield await asyncio.shield(asyncio.wrap_future(shared.opening))
    finally:
        with _sharing:
            shared.users -= 1
            is_last = shared.users == 0
            if is_last and _stores.get(key) is shared:
                del _stores[key]
        # In a thread: writing may wait for a lock that another question of this event loop holds.
        await in_thread_to_end(shared.close if is_last else shared.flush)


def _forget_stores() -> None:
    """After a fork: the threads of a store stay with the parent."""
    global _sharing
    _stores.clear()
    _sharing = Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_stores)
