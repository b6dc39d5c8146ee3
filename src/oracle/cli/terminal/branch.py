"""Where in the stored conversations the next question continues."""

from __future__ import annotations

from typing import TYPE_CHECKING

from oracle.bt.wrappers.run_store import BEFORE_FIRST
from oracle.errors import InputError

if TYPE_CHECKING:
    from oracle.bt.wrappers.run_store import RunStore
    from oracle.models.session import Exchange, Session


class Branch:
    """The path from the first question of a session to the one before the next.

    `after` is the exchange that the next question follows, or `BEFORE_FIRST`; None means the end of
    the session `session_id`, and without one a new session.
    """

    def __init__(self, store: RunStore, project: str | None) -> None:
        self._store = store
        self._project = project
        self.session_id: str | None = None
        self.after: str | None = None

    def start_new(self) -> None:
        self.session_id = self.after = None

    async def continue_session(self, typed: str) -> Session:
        """Continue at the end of a session, or after one of its exchanges.

        Either is named by its id or a unique start of it; `last` is the session used last.
        """
        session, exchange = await self._store.place_called(typed, self._project)
        self.session_id = session.id
        self.after = None if exchange is None else exchange.id
        return session

    async def session(self) -> Session | None:
        """The session of the next question; None if that question starts a new one."""
        if self.after:
            return await self._store.session_of(self.after)
        if self.session_id is not None:
            return await self._store.session_called(self.session_id)
        return None

    async def exchanges(self) -> list[Exchange]:
        """What the next question knows, oldest first."""
        return await self._store.history(self.after, self.session_id)

    async def all_exchanges(self) -> list[Exchange]:
        """Those of the whole session, with other branches."""
        session = await self.session()
        return [] if session is None else await self._store.exchanges_of(session.id)

    async def last(self) -> Exchange:
        path = await self.exchanges()
        if not path:
            raise InputError("nothing was asked yet in this conversation; type a question")
        return path[-1]

    async def step_back(self) -> Exchange:
        """Continue from before the last exchange, and return that one. It stays stored."""
        last = await self.last()
        self.session_id, self.after = last.session_id, last.parent_id or BEFORE_FIRST
        return last
