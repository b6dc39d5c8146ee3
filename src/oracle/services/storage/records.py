"""Turns rows into entities, and an id or prefix that a user typed into the row it means."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, TypeVar, cast

from sqlalchemy import ColumnElement, Connection, RowMapping, Select, Table, func, select, true

from oracle.errors import InputError, NotFound, did_you_mean
from oracle.models.session import Exchange, Session, StoredRun
from oracle.services.storage.damage import check_row
from oracle.services.storage.schema import context_nodes, runs, sessions
from oracle.services.storage.values import storable

Entity = TypeVar("Entity")

SHOWN_MATCHES: Final = 5
SEARCHED_FOR_NEAR_ONES: Final = 1000
"""Ids that are compared for "did you mean": a hint is not worth reading a whole table."""

_TABLES: Final[Mapping[type, Table]] = {
    Session: sessions,
    Exchange: context_nodes,
    StoredRun: runs,
}
_NOUNS: Final = {
    "sessions": ("session", "oracle sessions list"),
    "context_nodes": ("exchange", "oracle sessions show SESSION"),
    "runs": ("run", "oracle runs"),
}


def entities(connection: Connection, kind: type[Entity], query: Select[Any]) -> list[Entity]:
    """Rows whose columns are the fields of `kind`."""
    return [_entity(kind, row) for row in connection.execute(query).mappings()]


def by_id(connection: Connection, kind: type[Entity], table: Table, typed: str) -> Entity:
    """The row whose id is `typed`, or the only one whose id begins with it."""
    typed = storable(typed)
    found = entities(connection, kind, select(table).where(table.c.id == typed))
    return found[0] if found else _by_prefix(connection, kind, table, typed)


def _by_prefix(connection: Connection, kind: type[Entity], table: Table, prefix: str) -> Entity:
    begins = func.substr(table.c.id, 1, len(prefix)) == prefix
    query = select(table).where(begins).order_by(table.c.id).limit(SHOWN_MATCHES + 1)
    rows = connection.execute(query).mappings().all()
    if not rows or not prefix:
        raise nothing_called(connection, table, prefix)
    if len(rows) > 1:
        raise ambiguous(_NOUNS[table.name][0], prefix, [str(row["id"]) for row in rows])
    return _entity(kind, rows[0])


def nothing_called(connection: Connection, table: Table, typed: str) -> NotFound:
    noun, listing = _NOUNS[table.name]
    known = connection.scalars(select(table.c.id).limit(SEARCHED_FOR_NEAR_ONES))
    hint = did_you_mean(typed, map(str, known)) or f"; `{listing}` shows which there are"
    return NotFound(f"no {noun} {typed!r}{hint}")


def of_project(table: Table, project: str | None) -> ColumnElement[bool]:
    """Whether a row is listed for a project. One of an unknown project always is."""
    if project is None:
        return true()
    return table.c.project.is_(None) | (table.c.project == storable(project))


def exists(connection: Connection, *conditions: ColumnElement[bool]) -> bool:
    return bool(connection.scalar(select(select(1).where(*conditions).exists())))


def ambiguous(noun: str, typed: str, ids: Sequence[str]) -> InputError:
    shown = ", ".join(ids[:SHOWN_MATCHES]) + (", …" if len(ids) > SHOWN_MATCHES else "")
    return InputError(f"{noun} {typed!r} is ambiguous: {shown}; type more of it")


def _entity(kind: type[Entity], row: RowMapping) -> Entity:
    check_row(_TABLES[kind], cast("Mapping[str, Any]", row))
    return kind(**cast("Mapping[str, Any]", row))
