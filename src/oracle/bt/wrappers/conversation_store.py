"""Where a conversation is kept: its exchanges, and the runs that made them."""

from __future__ import annotations

import asyncio
import time
import uuid
from collections.abc import AsyncGenerator, Sequence
from contextlib import ExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import URL

from oracle.bt.wrappers.recorded_run import Recipe, ServicesOf
from oracle.bt.wrappers.stored_run import RunStore, StoredRun
from oracle.errors import NotFound
from oracle.models.session import Exchange, Session
from oracle.services.ans.writer import recording
from oracle.services.journal.writer import OnFailure, journal_writer
from oracle.services.storage.database import Database
from oracle.services.storage.exchanges import Exchanges
from oracle.services.storage.sessions import Sessions

LAST: Final = "last"


@dataclass(frozen=True, kw_only=True, slots=True)
class Place:
    """Where in which conversation a question stands. Without a session it begins one."""

    session_id: str | None = None
    parent_id: str | None = None
    history: Sequence[Exchange] = ()


class ConversationStore:
    def __init__(self, database: Database, runs: RunStore) -> None:
        self.runs = runs
        self._sessions = Sessions(database)
        self._exchanges = Exchanges(database)

    async def session_called(self, typed: str) -> Session:
        """By its id, a prefix of it, or `last` for the one that was used last."""
        if typed != LAST:
            return await self._sessions.get(typed)
        newest = await self._sessions.newest(1)
        if not newest:
            raise NotFound("there is no session yet; ask without one, and it begins")
        return newest[0].session

    async def session_of(self, context_id: str) -> Session:
        exchange = await self._exchanges.get(context_id)
        return await self._sessions.get(exchange.session_id)

    async def place(self, context_id: str | None, session_id: str | None = None) -> Place:
        """Below the exchange that is named, else at the end of the session, else in a new one."""
        if context_id is not None:
            before = await self._exchanges.get(context_id)
            history = await self._exchanges.path_to(before.id)
            return Place(session_id=before.session_id, parent_id=before.id, history=history)
        if session_id is not None:
            session = await self._sessions.get(session_id)
            newest = await self._exchanges.newest(session.id)
            if newest is not None:
                return await self.place(newest.id)
            return Place(session_id=session.id)
        return Place()

    async def begin(self, recipe: Recipe, place: Place, services: ServicesOf) -> StoredRun:
        """Begin a run, and its session if that is new; where one fails, neither is there."""
        return await self.runs.begin(
            recipe,
            session_id=place.session_id or uuid.uuid4().hex,
            context_id=place.parent_id,
            opens_session=place.session_id is None,
            services=services,
        )

    async def remember(self, run_id: str, answer: str, metadata: dict[str, Any]) -> str | None:
        """Keep what the user is shown, and answer the exchange; None for a run of no session.

        The exchange has its run's id, so that keeping it again after a crash changes nothing.
        """
        run = await self.runs.runs.get(run_id)
        if run.session_id is None:
            return None
        await self._exchanges.append(
            Exchange(
                id=run_id,
                session_id=run.session_id,
                parent_id=run.context_node_id,
                run_id=run_id,
                question=run.question,
                answer=answer,
                metadata=metadata,
                created_at=time.time(),
            )
        )
        return run_id


@asynccontextmanager
async def open_conversations(
    where: URL, *, on_failure: OnFailure = "stop"
) -> AsyncGenerator[ConversationStore]:
    """Open a database with all that writes to it, and see that everything is written at the end."""
    async with await Database.open(where) as database:
        writers = ExitStack()
        writer = journal_writer(database.url, on_failure=on_failure)
        writers.callback(writer.close)
        try:
            writers.enter_context(recording(database.url))
            yield ConversationStore(database, RunStore(database, writer))
        finally:
            # Their threads may wait for a lock that another question of this event loop holds.
            await asyncio.to_thread(writers.close)
