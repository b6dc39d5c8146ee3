"""Sessions: conversations that are stored and can be continued later."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any, Final, cast

from sqlalchemy import Connection, RowMapping, case, func, insert, select, update

from oracle.errors import InputError
from oracle.lazy_dataclass import dataclass
from oracle.models.session import Session
from oracle.services.project.redaction import redact
from oracle.services.storage.damage import check_row
from oracle.services.storage.database import Database
from oracle.services.storage.leases import is_left
from oracle.services.storage.records import by_id, nothing_called, of_project
from oracle.services.storage.schema import context_nodes, runs, sessions

LONGEST_TITLE: Final = 80
INTERRUPTED: Final = "interrupted"
_AT_ONCE: Final = 500


@dataclass(frozen=True, kw_only=True, slots=True)
class ListedSession:
    session: Session
    exchanges: int


@dataclass(frozen=True, kw_only=True, slots=True)
class SessionEnd:
    """How the newest run of a session ended, and what all of them cost.

    Without a reason to stop, it is `running` or `interrupted`.
    """

    stop_reason: str
    money: float


class Sessions:
    """Every method that takes a session's id also takes a unique prefix of it."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def create(
        self, *, session_id: str, title: str, at: float, project: str | None = None
    ) -> Session:
        return await self._database.write(lambda c: create(c, session_id, title, at, project))

    async def get(self, typed: str) -> Session:
        return await self._database.read(lambda c: by_id(c, Session, sessions, typed))

    async def newest(
        self, limit: int | None = None, *, project: str | None = None
    ) -> list[ListedSession]:
        """The most recently used first; with a `project` only its own."""
        count = (
            select(func.count())
            .where(context_nodes.c.session_id == sessions.c.id)
            .scalar_subquery()
            .label("exchanges")
        )
        order = (sessions.c.updated_at.desc(), sessions.c.id)
        query = select(*sessions.c, count).order_by(*order).limit(limit)
        query = query.where(of_project(sessions, project))

        def read(connection: Connection) -> list[ListedSession]:
            return [_listed(row) for row in connection.execute(query).mappings()]

        return await self._database.read(read)

    async def endings(self, ids: Sequence[str]) -> dict[str, SessionEnd]:
        """By the id of the session; without those that have no run."""
        columns = (runs.c.session_id, runs.c.stop_reason, runs.c.status, runs.c.usage)
        query = select(*columns, runs.c.lease_owner, runs.c.lease_until).order_by(
            runs.c.started_at, runs.c.id
        )

        def read(connection: Connection) -> dict[str, SessionEnd]:
            found: dict[str, SessionEnd] = {}
            for begin in range(0, len(ids), _AT_ONCE):
                some = query.where(runs.c.session_id.in_(ids[begin : begin + _AT_ONCE]))
                for id_, reason, status, usage, *lease in connection.execute(some):
                    money = _money(usage) + (found[id_].money if id_ in found else 0.0)
                    if status == "running" and is_left(*lease):
                        status = INTERRUPTED
                    found[id_] = SessionEnd(stop_reason=reason or status, money=money)
            return found

        return await self._database.read(read)

    async def rename(self, typed: str, title: str) -> Session:
        if not title.strip():
            raise InputError("the title is empty; give one with at least one letter")

        def rename(connection: Connection) -> Session:
            session = by_id(connection, Session, sessions, typed)
            renamed = replace(session, title=shortened(redact(title)))
            connection.execute(
                update(sessions).where(sessions.c.id == session.id).values(title=renamed.title)
            )
            return renamed

        return await self._database.write(rename)


def _money(usage: Any) -> float:
    """0 for a value that oracle did not write: only the list of runs reports it."""
    spent = cast("dict[str, Any]", usage).get("money") if isinstance(usage, dict) else None
    return spent if isinstance(spent, int | float) else 0.0


def _listed(row: RowMapping) -> ListedSession:
    check_row(sessions, cast("Mapping[str, Any]", row))
    fields: dict[str, Any] = {column.name: row[column.name] for column in sessions.columns}
    return ListedSession(session=Session(**fields), exchanges=row["exchanges"])


def create(
    connection: Connection, session_id: str, title: str, at: float, project: str | None = None
) -> Session:
    """Create a session. Any text can be its title, such as the first question."""
    session = Session(
        id=session_id, title=shortened(redact(title)), created_at=at, updated_at=at, project=project
    )
    connection.execute(insert(sessions).values(asdict(session)))
    return session


def touch(connection: Connection, session_id: str, at: float) -> None:
    """Note that the session is in use. Until the transaction ends, no other can delete it."""
    # Never back in time: a run that began earlier may be stored later.
    later = case((sessions.c.updated_at < at, at), else_=sessions.c.updated_at)
    touched = connection.execute(
        update(sessions).where(sessions.c.id == session_id).values(updated_at=later)
    )
    if touched.rowcount == 0:
        raise nothing_called(connection, sessions, session_id)


def shortened(text: str) -> str:
    """Text as a title: one line, cut at a word if it is long."""
    line = " ".join(text.split())
    if len(line) <= LONGEST_TITLE:
        return line or "untitled"
    cut = line[: LONGEST_TITLE - 1]
    return f"{cut.rpartition(' ')[0] or cut}…"
