"""Exchanges. A session is a tree of them; the history of a run is one branch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from typing import Any, Final

from oracle.errors import NotFound
from oracle.models.session import Exchange, StoredRun
from oracle.services.storage.damage import Damaged, Link, bad_parents
from oracle.services.storage.database import Database
from oracle.services.storage.records import by_id, entities, insert, nothing_called
from oracle.services.storage.schema import context_nodes
from oracle.services.storage.sessions import touch
from oracle.services.storage.transactions import Transaction, marks


class Exchanges:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def append(self, exchange: Exchange) -> None:
        """Store an exchange below its parent, which must be in the same session.

        Storing it again changes nothing, so a run may do so after a crash.
        """

        await self._database.write(lambda connection: _append(connection, exchange))

    async def append_of_run(
        self, run_id: str, answer: str, metadata: dict[str, Any], at: float
    ) -> str | None:
        """The same for the answer of a run, with the id of the run; returns that id. None, and
        nothing is stored, for a run without a session and for a shadow.
        """

        def append(connection: Transaction) -> str | None:
            run = by_id(connection, StoredRun, run_id)
            if run.session_id is None or run.shadow_of is not None:
                return None
            exchange = Exchange(
                id=run.id,
                session_id=run.session_id,
                parent_id=run.context_node_id,
                run_id=run.id,
                question=run.question,
                answer=answer,
                metadata=metadata,
                created_at=at,
            )
            _append(connection, exchange)
            return exchange.id

        return await self._database.write(append)

    async def get(self, typed: str) -> Exchange:
        """By its id, or a prefix that no other has."""
        return await self._database.read(lambda c: by_id(c, Exchange, typed))

    async def path_to(self, exchange_id: str) -> list[Exchange]:
        """The history: from the first exchange of the session to this one."""

        def read(connection: Transaction) -> list[Exchange]:
            history = entities(connection, Exchange, _PATH, [exchange_id, exchange_id])
            if not history:
                raise nothing_called(connection, context_nodes, exchange_id)
            return _whole(history)

        return await self._database.read(read)

    async def of_session(self, session_id: str) -> list[Exchange]:
        """All branches, oldest exchange first."""
        rest = "WHERE session_id = ? ORDER BY created_at, id"
        return await self._database.read(
            lambda c: _whole(entities(c, Exchange, rest, [session_id]))
        )

    async def of_runs(self, run_ids: Sequence[str]) -> dict[str, Exchange]:
        """Those that these runs made, by the id of the run, which is theirs too."""
        rest = f"WHERE id IN {marks(run_ids)}"
        found = await self._database.read(lambda c: entities(c, Exchange, rest, [*run_ids]))
        return {exchange.id: exchange for exchange in found}

    async def newest(self, session_id: str) -> Exchange | None:
        """The exchange after which a conversation continues by default."""
        rest = "WHERE session_id = ? ORDER BY created_at DESC, id DESC LIMIT 1"
        found = await self._database.read(lambda c: entities(c, Exchange, rest, [session_id]))
        return found[0] if found else None


def _append(connection: Transaction, exchange: Exchange) -> None:
    touch(connection, exchange.session_id, exchange.created_at)
    if exchange.parent_id is not None:
        check_lies_in(connection, exchange.parent_id, exchange.session_id)
    if not connection.rows("SELECT 1 FROM context_nodes WHERE id = ?", [exchange.id]):
        # Not `asdict`, which copies all that it holds: this only reads it.
        row = {field.name: getattr(exchange, field.name) for field in fields(exchange)}
        insert(connection, context_nodes, row)


# Up along the parents in one recursive query; `back` counts the steps, to turn it around.
# No path is longer than its session has exchanges: in a damaged database it may be a circle.
_PATH: Final = """
    JOIN (
        WITH RECURSIVE path (id, parent_id, back) AS (
            SELECT id, parent_id, 0 FROM context_nodes WHERE id = ?
            UNION ALL
            SELECT above.id, above.parent_id, path.back + 1
            FROM context_nodes AS above JOIN path ON above.id = path.parent_id
            WHERE path.back < (
                SELECT count(*) FROM context_nodes WHERE session_id =
                (SELECT session_id FROM context_nodes WHERE id = ?)
            )
        )
        SELECT id, back FROM path
    ) AS path ON path.id = context_nodes.id
    ORDER BY path.back DESC
"""


def _whole(exchanges: list[Exchange]) -> list[Exchange]:
    """The same exchanges. Raises `Damaged` if one of them does not go back to a first one."""
    links = [Link(each.id, each.session_id, each.parent_id) for each in exchanges]
    for flaw in bad_parents(links):
        raise Damaged(flaw)
    return exchanges


def check_lies_in(connection: Transaction, exchange_id: str, session_id: str | None) -> None:
    here = "SELECT 1 FROM context_nodes WHERE id = ? AND session_id = ?"
    if not connection.rows(here, [exchange_id, session_id]):
        raise NotFound(
            f"no exchange {exchange_id!r} in session {session_id!r}; "
            f"`oracle sessions show {session_id}` shows which there are"
        )
