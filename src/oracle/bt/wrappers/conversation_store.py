"""Where a conversation is kept: its exchanges, and the runs that made them."""

from __future__ import annotations

import time
import uuid
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import URL

from oracle.bt.wrappers.recorded_run import Recipe, ServicesOf
from oracle.bt.wrappers.stored_run import RunStore, StoredRun
from oracle.errors import NotFound
from oracle.models.session import Exchange, Session
from oracle.services.ans.writer import recording
from oracle.services.journal.connections import journal_writer
from oracle.services.store.database import Database
from oracle.services.store.exchanges import Exchanges
from oracle.services.store.sessions import Sessions

LAST: Final = "last"


@dataclass(frozen=True, kw_only=True, slots=True)
class Place:
    """Where in which conversation a question stands."""

    session_id: str
    parent_id: str | None
    history: Sequence[Exchange]


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

    async def place(
        self, question: str, context_id: str | None, session_id: str | None = None
    ) -> Place:
        """Below the exchange that is named, else at the end of the session, else in a new one."""
        if context_id is not None:
            before = await self._exchanges.get(context_id)
            history = await self._exchanges.path_to(before.id)
            return Place(session_id=before.session_id, parent_id=before.id, history=history)
        if session_id is not None:
            session = await self._sessions.get(session_id)
            newest = await self._exchanges.newest(session.id)
            if newest is not None:
                return await self.place(question, newest.id)
            return Place(session_id=session.id, parent_id=None, history=())
        session = await self._sessions.create(
            session_id=uuid.uuid4().hex, title=question, at=time.time()
        )
        return Place(session_id=session.id, parent_id=None, history=())

    async def begin(self, recipe: Recipe, place: Place, services: ServicesOf) -> StoredRun:
        return await self.runs.begin(
            recipe, session_id=place.session_id, context_id=place.parent_id, services=services
        )

    async def remember(self, run_id: str, done: dict[str, Any], metadata: dict[str, Any]) -> None:
        """Keep what the user is shown. The exchange has its run's id, so that keeping it again
        after a crash changes nothing.
        """
        run = await self.runs.runs.get(run_id)
        if run.session_id is None:
            return
        await self._exchanges.append(
            Exchange(
                id=run_id,
                session_id=run.session_id,
                parent_id=run.context_node_id,
                run_id=run_id,
                question=run.question,
                answer=done["answer"],
                metadata=metadata,
                created_at=time.time(),
            )
        )


@asynccontextmanager
async def open_conversations(where: URL) -> AsyncGenerator[ConversationStore]:
    """Open a database with all that writes to it, and see that everything is written at the end."""
    async with await Database.open(where) as database:
        writer = journal_writer(database.url)
        try:
            with recording(database.url):
                yield ConversationStore(database, RunStore(database, writer))
        finally:
            writer.close()
