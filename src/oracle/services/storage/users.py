"""Whose rows a transaction sees. The one place that decides it, for every door.

Each query of a table that belongs to a user reads from `seen` and not from the table, so what
belongs to others is like what does not exist: it is not listed, not found by its id or a prefix of
it, and not offered as "did you mean".
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from oracle.models.session import LOCAL

if TYPE_CHECKING:
    from oracle.services.storage.transactions import Transaction

EVERYBODY: Final = None
"""In the place of a user: sees all rows. For what is done for the database and not for a person."""


class Clause(NamedTuple):
    """A part of a statement, such as a condition, and its values."""

    sql: str
    values: tuple[Any, ...] = ()


# The conditions ask for one row by its key, and so need no list of all that a user has.
_OF_RUN: Final = "(SELECT 1 FROM runs WHERE runs.id = {0}.run_id AND runs.user_id {1} ?)"
_OWN: Final[Mapping[str, str]] = {
    "sessions": "user_id = ?",
    "runs": "user_id = ?",
    "context_nodes": (
        "EXISTS (SELECT 1 FROM sessions WHERE sessions.id = context_nodes.session_id "
        "AND sessions.user_id = ?)"
    ),
    "shadow_reports": f"EXISTS {_OF_RUN.format('shadow_reports', '=')}",
    "events": f"EXISTS {_OF_RUN.format('events', '=')}",
}
_NOT_OF_OTHERS: Final = f"NOT EXISTS {_OF_RUN.format('events', '<>')}"
"""Events of no run, or of one that could not be stored, are about the machine of the local user."""


def seen(table: str, user: str | None) -> Clause:
    """What follows FROM: the rows of the table that the user may see, under its own name."""
    if user is EVERYBODY:
        return Clause(table)
    own = _NOT_OF_OTHERS if (table, user) == ("events", LOCAL) else _OWN[table]
    return Clause(f"(SELECT * FROM {table} WHERE {own}) AS {table}", (user,))


def owner_of_new_rows(connection: Transaction) -> str:
    return LOCAL if connection.user is None else connection.user
