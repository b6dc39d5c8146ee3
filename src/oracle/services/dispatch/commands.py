"""What a person wants of a run, wherever it is worked on: rows, with a notice to the workers."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

from oracle.services.dispatch.news import COMMAND, tell
from oracle.services.storage.database import Database
from oracle.services.storage.records import checked
from oracle.services.storage.schema import run_commands
from oracle.services.storage.transactions import Transaction
from oracle.services.storage.values import as_json


class Commands:
    """A command is `{"cancel": reason}`, `{"approve": id, "yes": bool}` or `{"raise": limits}`.

    They stay with their run. A worker that takes the run over reads them again, so each of them
    must be harmless when it is obeyed twice.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    async def give(
        self,
        run_id: str,
        command: Mapping[str, Any],
        also: Callable[[Transaction], None] = lambda _: None,
    ) -> None:
        """With what is to happen `also`; both or neither."""
        sql = "INSERT INTO run_commands (run_id, body, at) VALUES (?, ?, ?)"

        def write(connection: Transaction) -> None:
            also(connection)
            connection.execute(sql, [run_id, as_json(command), time.time()])
            tell(connection, COMMAND, run_id)

        await self._database.write(write)

    async def last(self) -> int:
        """The id of the newest one; 0 if there was none."""
        return await self._database.read(lambda c: c.first("SELECT max(id) FROM run_commands")) or 0

    async def after(self, last: int) -> list[tuple[int, str, Mapping[str, Any]]]:
        """Those of all runs that came after that one: their ids, their runs, and what is wanted."""
        sql = "SELECT * FROM run_commands WHERE id > ? ORDER BY id"
        rows = await self._database.read(lambda c: c.records(sql, [last]))
        found = [checked(run_commands, row) for row in rows]
        return [(row["id"], row["run_id"], row["body"]) for row in found]

    async def of_run(self, run_id: str) -> list[tuple[int, Mapping[str, Any]]]:
        """All of them, oldest first, with their ids."""
        sql = "SELECT * FROM run_commands WHERE run_id = ? ORDER BY id"
        rows = await self._database.read(lambda c: c.records(sql, [run_id]))
        return [(row["id"], row["body"]) for row in (checked(run_commands, row) for row in rows)]
