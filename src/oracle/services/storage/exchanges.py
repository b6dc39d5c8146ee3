"""Exchanges. A session is a tree of them; the history of a run is one branch."""

from __future__ import annotations

from dataclasses import asdict

from sqlalchemy import Connection, func, insert, literal, select

from oracle.errors import NotFound
from oracle.models.session import Exchange
from oracle.services.storage.damage import Damaged, Link, bad_parents
from oracle.services.storage.database import Database
from oracle.services.storage.records import by_id, entities, exists, nothing_called
from oracle.services.storage.schema import context_nodes
from oracle.services.storage.sessions import touch


class Exchanges:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def append(self, exchange: Exchange) -> None:
        """Store an exchange below its parent, which must be in the same session.

        Storing it again changes nothing, so a run may do so after a crash.
        """

        def append(connection: Connection) -> None:
            touch(connection, exchange.session_id, exchange.created_at)
            if exchange.parent_id is not None:
                check_lies_in(connection, exchange.parent_id, exchange.session_id)
            if not exists(connection, context_nodes.c.id == exchange.id):
                connection.execute(insert(context_nodes).values(asdict(exchange)))

        await self._database.write(append)

    async def get(self, typed: str) -> Exchange:
        """By its id, or a prefix that no other has."""
        return await self._database.read(lambda c: by_id(c, Exchange, context_nodes, typed))

    async def path_to(self, exchange_id: str) -> list[Exchange]:
        """The history: from the first exchange of the session to this one."""
        # Up along the parents in one recursive query; `back` counts the steps, to turn it around.
        # No path is longer than there are exchanges: in a damaged database it may be a circle.
        longest = select(func.count()).select_from(context_nodes).scalar_subquery()
        path = (
            select(context_nodes.c.id, context_nodes.c.parent_id, literal(0).label("back"))
            .where(context_nodes.c.id == exchange_id)
            .cte("path", recursive=True)
        )
        parents = select(context_nodes.c.id, context_nodes.c.parent_id, path.c.back + 1)
        above = (context_nodes.c.id == path.c.parent_id, path.c.back < longest)
        path = path.union_all(parents.where(*above))
        query = select(context_nodes).join(path, path.c.id == context_nodes.c.id)

        def read(connection: Connection) -> list[Exchange]:
            history = entities(connection, Exchange, query.order_by(path.c.back.desc()))
            if not history:
                raise nothing_called(connection, context_nodes, exchange_id)
            return _whole(history)

        return await self._database.read(read)

    async def of_session(self, session_id: str) -> list[Exchange]:
        """All branches, oldest exchange first."""
        query = select(context_nodes).where(context_nodes.c.session_id == session_id)
        order = (context_nodes.c.created_at, context_nodes.c.id)
        ordered = query.order_by(*order)
        return await self._database.read(lambda c: _whole(entities(c, Exchange, ordered)))

    async def newest(self, session_id: str) -> Exchange | None:
        """The exchange after which a conversation continues by default."""
        order = (context_nodes.c.created_at.desc(), context_nodes.c.id.desc())
        query = select(context_nodes).where(context_nodes.c.session_id == session_id)
        last = query.order_by(*order).limit(1)
        found = await self._database.read(lambda c: entities(c, Exchange, last))
        return found[0] if found else None


def _whole(exchanges: list[Exchange]) -> list[Exchange]:
    """The same exchanges. Raises `Damaged` if one of them does not go back to a first one."""
    links = [Link(each.id, each.session_id, each.parent_id) for each in exchanges]
    for flaw in bad_parents(links):
        raise Damaged(flaw)
    return exchanges


def check_lies_in(connection: Connection, exchange_id: str, session_id: str | None) -> None:
    here = (context_nodes.c.id == exchange_id, context_nodes.c.session_id == session_id)
    if not exists(connection, *here):
        raise NotFound(
            f"no exchange {exchange_id!r} in session {session_id!r}; "
            f"`oracle sessions show {session_id}` shows which there are"
        )
