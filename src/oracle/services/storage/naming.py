"""Finds the run, session or exchange that a user names: an id, a unique prefix of it, or `last`.

Every door uses it, so that all of them take the same names and report the same errors.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final, TypeVar

from sqlalchemy import Connection, Select, Table, func, select

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
from oracle.services.storage.schema import context_nodes, runs, sessions

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
        mine = select(runs).where(runs.c.shadow_of.is_(None))
        newest = mine.order_by(runs.c.started_at.desc(), runs.c.id.desc())
        return await self._found(StoredRun, runs, typed, newest)

    async def session(self, typed: str = LAST) -> Session:
        newest = select(sessions).order_by(sessions.c.updated_at.desc(), sessions.c.id)
        return await self._found(Session, sessions, typed, newest)

    async def interrupted_run(self, typed: str = LAST) -> StoredRun:
        """A run to resume: `last` is the newest one that no process works on any more."""
        if not is_last(typed):
            return await self.run(typed)
        query = (
            select(runs)
            .where(runs.c.status == "running", runs.c.stop_reason.is_(None))
            .where(runs.c.shadow_of.is_(None))
            .where(of_project(runs, self._project))
            .order_by(runs.c.started_at.desc(), runs.c.id.desc())
            .limit(_MOST_INTERRUPTED)
        )
        open_runs = await self._database.read(lambda c: entities(c, StoredRun, query))
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
            return await self._database.read(lambda c: by_id(c, Exchange, context_nodes, typed))
        except NotFound:
            return None

    async def _found(
        self, kind: type[Entity], table: Table, typed: str, newest: Select[Any]
    ) -> Entity:
        if not is_last(typed):
            return await self._database.read(lambda c: by_id(c, kind, table, typed))
        query = newest.where(of_project(table, self._project)).limit(1)
        found = await self._database.read(lambda c: entities(c, kind, query))
        if not found:
            raise NotFound(f"there are no {nothing_yet(table.name, self._project)}")
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
    return await database.read(lambda c: _short_ids(c, runs, list(ids)))


async def short_session_ids(database: Database, ids: Iterable[str]) -> dict[str, str]:
    return await database.read(lambda c: _short_ids(c, sessions, list(ids)))


def _short_ids(connection: Connection, table: Table, ids: list[str]) -> dict[str, str]:
    """Each id with a prefix that no other id of the whole table has, so that it can be typed."""
    if not ids:
        return {}
    begins = func.substr(table.c.id, 1, SHORTEST_ID)
    prefixes = {id_[:SHORTEST_ID] for id_ in ids}
    query = select(table.c.id)
    if len(prefixes) <= _MOST_PREFIXES:
        query = query.where(begins.in_(sorted(prefixes)))
    return shortened_ids(ids, map(str, connection.scalars(query)))
