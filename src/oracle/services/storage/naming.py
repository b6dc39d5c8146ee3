"""Finds the run, session or exchange that a user names: an id, a unique prefix of it, or `last`.

Every door uses it, so that all of them take the same names and report the same errors.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, TypeVar

from oracle.errors import NotFound
from oracle.models.session import Exchange, Session, StoredRun
from oracle.services.storage.database import Database
from oracle.services.storage.leases import is_left
from oracle.services.storage.records import (
    SHORTEST_ID,
    by_id,
    entities,
    is_folder,
    of_project,
    shortened_ids,
)
from oracle.services.storage.transactions import Transaction, beginning
from oracle.services.storage.users import seen

Entity = TypeVar("Entity")

LAST: Final = "last"
ASK_FIRST: Final = 'ask something first: oracle ask "where is …?"'
_MOST_PREFIXES: Final = 500
"""Beyond this many, reading all ids takes less time than looking for so many prefixes."""
_MOST_INTERRUPTED: Final = 100


def is_last(typed: str) -> bool:
    return typed.lower() == LAST


class Naming:
    """`last` is the newest one of the `project`; without a project, of the whole database."""

    def __init__(self, database: Database, project: str | None = None) -> None:
        self._database = database
        self._project = project

    async def run(self, typed: str = LAST) -> StoredRun:
        newest = "shadow_of IS NULL ORDER BY started_at DESC, id DESC"
        return await self._found(StoredRun, "runs", typed, newest)

    async def session(self, typed: str = LAST) -> Session:
        newest = "1 = 1 ORDER BY updated_at DESC, id"
        return await self._found(Session, "sessions", typed, newest)

    async def interrupted_run(self, typed: str = LAST) -> StoredRun:
        """A run to resume: `last` is the newest one that no process works on any more."""
        if not is_last(typed):
            return await self.run(typed)
        where, values = of_project(self._project)
        rest = (
            f"WHERE {where} AND status = 'running' AND stop_reason IS NULL AND shadow_of IS NULL "
            f"ORDER BY started_at DESC, id DESC LIMIT {_MOST_INTERRUPTED}"
        )
        open_runs = await self._database.read(lambda c: entities(c, StoredRun, rest, values))
        for run in open_runs:
            if is_interrupted(run):
                return run
        await self.run()  # if there are no runs at all, it says so
        raise NotFound("no run was interrupted; `oracle runs` shows how each one ended")

    async def place(self, typed: str = LAST) -> tuple[Session, Exchange | None]:
        """Where to continue: the end of a session, or one of its exchanges."""
        try:
            return await self.session(typed), None
        except NotFound:
            exchange = await self._exchange_or_none(typed)
            if exchange is None:
                raise
        return await self.session(exchange.session_id), exchange

    async def _exchange_or_none(self, typed: str) -> Exchange | None:
        try:
            return await self._database.read(lambda c: by_id(c, Exchange, typed))
        except NotFound:
            return None

    async def _found(self, kind: type[Entity], noun: str, typed: str, newest: str) -> Entity:
        if not is_last(typed):
            return await self._database.read(lambda c: by_id(c, kind, typed))
        where, values = of_project(self._project)
        rest = f"WHERE {where} AND {newest} LIMIT 1"
        found = await self._database.read(lambda c: entities(c, kind, rest, values))
        if not found:
            raise NotFound(f"there are no {nothing_yet(noun, self._project)}")
        return found[0]


def nothing_yet(what: str, project: str | None = None) -> str:
    """What an empty list is called, and how to get the first entry."""
    if is_folder(project):
        return f"{what} of this folder yet; {ASK_FIRST} (--all lists those of other folders)"
    return f"{what} yet; {ASK_FIRST}"


def is_interrupted(run: StoredRun) -> bool:
    """Whether the process of a run that is not done has ended, as far as can be known here."""
    if run.status != "running" or run.stop_reason is not None:
        return False
    return is_left(run.lease_owner, run.lease_until)


async def short_run_ids(database: Database, ids: Iterable[str]) -> dict[str, str]:
    return await database.read(lambda c: _short_ids(c, "runs", list(ids)))


async def short_session_ids(database: Database, ids: Iterable[str]) -> dict[str, str]:
    return await database.read(lambda c: _short_ids(c, "sessions", list(ids)))


def _short_ids(connection: Transaction, table: str, ids: list[str]) -> dict[str, str]:
    """Each id with a prefix that no other id that the user sees has, so that it can be typed."""
    if not ids:
        return {}
    prefixes = sorted({id_[:SHORTEST_ID] for id_ in ids})
    source, own = seen(table, connection.user)
    query, values = f"SELECT id FROM {source}", list(own)
    if len(prefixes) <= _MOST_PREFIXES:
        ranges = [beginning(connection.backend.begins, "id", prefix) for prefix in prefixes]
        query += f" WHERE {' OR '.join(each.sql for each in ranges)}"
        values += [value for each in ranges for value in each.values]
    return shortened_ids(ids, map(str, connection.firsts(query, values)))
