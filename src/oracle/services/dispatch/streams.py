"""What runs say, for readers in other processes: chunks by number, with a notice of new ones.

They are written after the record that they follow from, and only by the process that holds the
run. So no reader ever hears what the record does not say.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from typing import Any, Final

from oracle.services.dispatch.news import CHANNEL, SAID, tell
from oracle.services.storage.database import Database
from oracle.services.storage.transactions import Transaction

MOST_ROWS: Final = 50
"""Rows that are read together. More would hold up those who wait for their turn."""

# As for the journal, the lease is checked by the statement that writes, not before it.
_INSERT: Final = (
    "INSERT INTO run_chunks (run_id, seq, body) SELECT ?, ?, ? WHERE EXISTS "
    "(SELECT 1 FROM runs WHERE id = ? AND lease_owner = ?)"
)
# One round trip for both: chunks are what a run stores most often.
_INSERT_AND_TELL: Final = (
    f"WITH stored AS ({_INSERT} RETURNING 1), told AS ({{notice}}) "
    "SELECT EXISTS (SELECT 1 FROM stored) FROM told"
)
_READ: Final = (
    "SELECT seq, body FROM run_chunks WHERE run_id = ? AND seq >= coalesce("
    "(SELECT max(seq) FROM run_chunks WHERE run_id = ? AND seq <= ?), 0) "
    f"ORDER BY seq LIMIT {MOST_ROWS}"
)


_LAST: Final = "SELECT seq, body FROM run_chunks WHERE run_id = ? ORDER BY seq DESC LIMIT 1"


class Streams:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def append(
        self, run_id: str, owner: str, number: int, chunks: Sequence[Mapping[str, Any]]
    ) -> bool:
        """Store chunks that begin with that number. False if `owner` does not hold the run."""
        body = json.dumps([*chunks], ensure_ascii=False)

        def write(connection: Transaction) -> bool:
            values = [run_id, number, body, run_id, owner]
            if notice := connection.backend.notice:
                told = [CHANNEL, f"{SAID}:{run_id}"]
                return connection.first(_INSERT_AND_TELL.format(notice=notice), [*values, *told])
            return connection.execute(_INSERT, values) == 1

        return await self._database.write(write)

    async def read(self, run_id: str, at: int) -> list[tuple[int, dict[str, Any]]]:
        """The next ones from that number on, each with its number."""
        rows = await self._database.read(lambda c: c.rows(_READ, [run_id, run_id, at]))
        return [
            (number, chunk)
            for first, body in rows
            for number, chunk in enumerate(json.loads(body), start=first)
            if number >= at
        ]

    async def length(self, run_id: str) -> int:
        """How many are stored."""
        rows = await self._database.read(lambda c: c.rows(_LAST, [run_id]))
        return rows[0][0] + len(json.loads(rows[0][1])) if rows else 0

    async def last(self, run_id: str) -> dict[str, Any] | None:
        rows = await self._database.read(lambda c: c.rows(_LAST, [run_id]))
        return json.loads(rows[0][1])[-1] if rows else None

    async def ended(self, run_id: str) -> None:
        """Wake the readers: the rest, and the end, are in the record."""
        await self._database.write(lambda c: tell(c, SAID, run_id))

    async def forget(self, seconds: float) -> None:
        """Delete the chunks of runs that ended longer ago: their records say the same."""
        # From the chunks to the runs: there are few chunks, and runs for years.
        sql = (
            "DELETE FROM run_chunks WHERE run_id IN (SELECT first.run_id FROM run_chunks AS first "
            "JOIN runs ON runs.id = first.run_id "
            "WHERE first.seq = 0 AND runs.status = 'done' AND runs.ended_at < ?)"
        )
        await self._database.write(lambda c: c.execute(sql, [time.time() - seconds]))
