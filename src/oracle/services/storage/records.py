"""Turns rows into entities, and an id or prefix that a user typed into the row it means."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, TypeVar

from oracle.errors import InputError, NotFound, did_you_mean
from oracle.models.session import Exchange, Session, StoredRun
from oracle.services.storage.damage import check_row, decoded_row
from oracle.services.storage.schema import Table, context_nodes, runs, sessions
from oracle.services.storage.transactions import Transaction, beginning
from oracle.services.storage.users import Clause, seen
from oracle.services.storage.values import as_json, storable

Entity = TypeVar("Entity")

SHOWN_MATCHES: Final = 5
SHORTEST_ID: Final = 8
"""Shown ids have at least this many characters, so that they are seldom ambiguous later."""
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


def entities(
    connection: Transaction, kind: type[Entity], rest: str = "", values: Sequence[Any] = ()
) -> list[Entity]:
    """The rows of the table of `kind` that the `rest` of the query selects, such as `WHERE …`.

    Only those that the user of the transaction may see.
    """
    table = _TABLES[kind]
    columns = ", ".join(f"{table.name}.{column.name}" for column in table.columns)
    source, own = seen(table.name, connection.user)
    found = connection.records(f"SELECT {columns} FROM {source} {rest}", [*own, *values])
    return [_entity(kind, row) for row in found]


def insert(connection: Transaction, table: Table, row: Mapping[str, Any]) -> None:
    kinds = {column.name: column.kind for column in table.columns}
    values = [as_json(value) if kinds[name] == "json" else value for name, value in row.items()]
    connection.execute(
        f"INSERT INTO {table.name} ({', '.join(row)}) VALUES ({', '.join('?' * len(row))})", values
    )


def by_id(connection: Transaction, kind: type[Entity], typed: str) -> Entity:
    """The row whose id is `typed`, or the only one whose id begins with it."""
    typed = storable(typed)
    found = entities(connection, kind, "WHERE id = ?", [typed])
    return found[0] if found else _by_prefix(connection, kind, typed)


def _by_prefix(connection: Transaction, kind: type[Entity], prefix: str) -> Entity:
    table = _TABLES[kind]
    ids = _ids_beginning(connection, table, prefix)
    if not ids or not prefix:
        raise nothing_called(connection, table, prefix)
    if len(ids) > 1:
        raise ambiguous(_NOUNS[table.name][0], prefix, ids)
    return entities(connection, kind, "WHERE id = ?", ids)[0]


def _ids_beginning(connection: Transaction, table: Table, prefix: str) -> list[str]:
    source, own = seen(table.name, connection.user)
    where, values = beginning(connection.backend.begins, "id", prefix)
    sql = f"SELECT id FROM {source} WHERE {where} ORDER BY id LIMIT {SHOWN_MATCHES + 1}"
    found = connection.firsts(sql, [*own, *values])
    return list(map(str, found))


def nothing_called(connection: Transaction, table: Table, typed: str) -> NotFound:
    noun, listing = _NOUNS[table.name]
    source, own = seen(table.name, connection.user)
    some = f"SELECT id FROM {source} ORDER BY id LIMIT {SEARCHED_FOR_NEAR_ONES}"
    known = connection.firsts(some, own)
    hint = (
        _other_kind(connection, table, typed)
        or did_you_mean(typed, map(str, known))
        or f"; `{listing}` shows which there are"
    )
    return NotFound(f"no {noun} {typed!r}{hint}")


def _other_kind(connection: Transaction, table: Table, typed: str) -> str:
    """A hint for an id that was typed in the wrong place: a run's for a session, or a session's."""
    for other, command in ((runs, "run show"), (sessions, "sessions show")):
        if other is not table and typed and len(_ids_beginning(connection, other, typed)) == 1:
            return f"; it is a {_NOUNS[other.name][0]}: `oracle {command} {typed}` shows it"
    return ""


def of_project(project: str | None) -> Clause:
    """Whether a row is listed for a project. One of an unknown project always is, but not for a
    folder outside of projects: it may be about another folder.
    """
    if project is None:
        return Clause("1 = 1")
    if is_folder(project):
        return Clause("project = ?", (project,))
    return Clause("(project IS NULL OR project = ?)", (project,))


def is_folder(project: str | None) -> bool:
    """Whether it is the path of a folder outside of projects, and not the name of a project."""
    return project is not None and Path(project).is_absolute()


def ambiguous(noun: str, typed: str, ids: Sequence[str]) -> InputError:
    short = shortened_ids(ids, ids).values()
    shown = ", ".join([*short][:SHOWN_MATCHES]) + (", …" if len(ids) > SHOWN_MATCHES else "")
    return InputError(f"{noun} {typed!r} is ambiguous: {shown}; type more of it")


def _entity(kind: type[Entity], row: Mapping[str, Any]) -> Entity:
    return kind(**checked(_TABLES[kind], row))


def checked(table: Table, row: Mapping[str, Any]) -> dict[str, Any]:
    """The values of a row. A damaged one is an error that names it."""
    decoded = decoded_row(table, row)
    check_row(table, decoded)
    return decoded


def shortened_ids(ids: Iterable[str], known: Iterable[str]) -> dict[str, str]:
    """The shortest prefixes of `ids`, of 8 characters or more, that fit no other `known` id.

    >>> shortened_ids(["12345678ab"], ["12345678ab", "12345678ac"])
    {'12345678ab': '12345678ab'}
    """
    similar: dict[str, list[str]] = {}
    for id_ in set(known):
        similar.setdefault(id_[:SHORTEST_ID], []).append(id_)
    return {id_: _shortest(id_, similar) for id_ in ids}


def _shortest(id_: str, similar: Mapping[str, list[str]]) -> str:
    others = [other for other in similar.get(id_[:SHORTEST_ID], ()) if other != id_]
    length = SHORTEST_ID
    while length < len(id_) and any(other.startswith(id_[:length]) for other in others):
        length += 1
    return id_[:length]
