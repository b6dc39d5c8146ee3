"""Sessions: conversations that are stored and can be continued later."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any, Final, cast

from oracle.errors import InputError
from oracle.lazy_dataclass import dataclass
from oracle.models.session import Session
from oracle.services.project.redaction import redact
from oracle.services.storage.damage import check_row, read_json
from oracle.services.storage.database import Database
from oracle.services.storage.leases import is_left
from oracle.services.storage.records import by_id, insert, nothing_called, of_project
from oracle.services.storage.schema import sessions
from oracle.services.storage.transactions import Transaction, marks
from oracle.services.storage.users import owner_of_new_rows, seen

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
        return await self._database.read(lambda c: by_id(c, Session, typed))

    async def newest(
        self, limit: int | None = None, *, project: str | None = None
    ) -> list[ListedSession]:
        """The most recently used first; with a `project` only its own."""
        count = "SELECT count(*) FROM context_nodes WHERE session_id = sessions.id"
        where, values = of_project(project)
        rest = f"WHERE {where} ORDER BY updated_at DESC, id"
        if limit is not None:
            rest += f" LIMIT {limit:d}"

        def read(connection: Transaction) -> list[ListedSession]:
            source, own = seen("sessions", connection.user)
            query = f"SELECT {sessions.names}, ({count}) AS exchanges FROM {source} {rest}"
            return [_listed(row) for row in connection.records(query, [*own, *values])]

        return await self._database.read(read)

    async def endings(self, ids: Sequence[str]) -> dict[str, SessionEnd]:
        """By the id of the session; without those that have no run."""
        columns = "session_id, stop_reason, status, usage, lease_owner, lease_until"

        def read(connection: Transaction) -> dict[str, SessionEnd]:
            found: dict[str, SessionEnd] = {}
            source, own = seen("runs", connection.user)
            for begin in range(0, len(ids), _AT_ONCE):
                some = ids[begin : begin + _AT_ONCE]
                query = f"SELECT {columns} FROM {source} WHERE session_id IN {marks(some)}"
                rows = connection.rows(f"{query} ORDER BY started_at, id", [*own, *some])
                for id_, reason, status, usage, *lease in rows:
                    money = _money(usage) + (found[id_].money if id_ in found else 0.0)
                    if status == "running" and is_left(*lease):
                        status = INTERRUPTED
                    found[id_] = SessionEnd(stop_reason=reason or status, money=money)
            return found

        return await self._database.read(read)

    async def rename(self, typed: str, title: str) -> Session:
        if not title.strip():
            raise InputError("the title is empty; give one with at least one letter")

        def rename(connection: Transaction) -> Session:
            session = by_id(connection, Session, typed)
            renamed = replace(session, title=shortened(redact(title)))
            connection.execute(
                "UPDATE sessions SET title = ? WHERE id = ?", [renamed.title, session.id]
            )
            return renamed

        return await self._database.write(rename)


def _money(usage: Any) -> float:
    """0 for a value that oracle did not write: only the list of runs reports it."""
    read = read_json(usage) if isinstance(usage, str) else usage
    spent = cast("dict[str, Any]", read).get("money") if isinstance(read, dict) else None
    return spent if isinstance(spent, int | float) else 0.0


def _listed(row: Mapping[str, Any]) -> ListedSession:
    check_row(sessions, row)
    fields: dict[str, Any] = {column.name: row[column.name] for column in sessions.columns}
    return ListedSession(session=Session(**fields), exchanges=row["exchanges"])


def create(
    connection: Transaction, session_id: str, title: str, at: float, project: str | None = None
) -> Session:
    """Create a session. Any text can be its title, such as the first question."""
    session = Session(
        id=session_id,
        title=shortened(redact(title)),
        created_at=at,
        updated_at=at,
        project=project,
        user_id=owner_of_new_rows(connection),
    )
    insert(connection, sessions, asdict(session))
    return session


def touch(connection: Transaction, session_id: str, at: float) -> None:
    """Note that the session is in use. Until the transaction ends, no other can delete it."""
    # Never back in time: a run that began earlier may be stored later.
    later = "CASE WHEN updated_at < ? THEN ? ELSE updated_at END"
    source, own = seen("sessions", connection.user)
    touched = connection.execute(
        f"UPDATE sessions SET updated_at = {later} WHERE id = ? "
        f"AND EXISTS (SELECT 1 FROM {source} WHERE id = ?)",
        [at, at, session_id, *own, session_id],
    )
    if touched == 0:
        raise nothing_called(connection, sessions, session_id)


def shortened(text: str) -> str:
    """Text as a title: one line, cut at a word if it is long."""
    line = " ".join(text.split())
    if len(line) <= LONGEST_TITLE:
        return line or "untitled"
    cut = line[: LONGEST_TITLE - 1]
    return f"{cut.rpartition(' ')[0] or cut}…"
