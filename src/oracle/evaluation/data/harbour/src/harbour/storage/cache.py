"""Tide snapshots.

The name is historical. Nothing here is a cache: rows are kept for good, because the harbour
master has to show which heights a decision was based on.
"""

import json
from datetime import datetime
from typing import Any

from harbour.domain.tides import Height, Snapshot
from harbour.storage.db import Database


class TideCache:
    def __init__(self, database: Database):
        self._database = database

    def latest(self, station: str) -> Snapshot | None:
        with self._database.transaction() as db:
            row = db.one(
                "select station, fetched_at, heights from tide_snapshots"
                " where station = $1 order by fetched_at desc limit 1",
                station,
            )
        return None if row is None else self._snapshot(row)

    def at(self, station: str, moment: datetime) -> Snapshot | None:
        """The snapshot that was the latest at that moment. For disputes."""
        with self._database.transaction() as db:
            row = db.one(
                "select station, fetched_at, heights from tide_snapshots"
                " where station = $1 and fetched_at <= $2 order by fetched_at desc limit 1",
                station,
                moment,
            )
        return None if row is None else self._snapshot(row)

    def put(self, db: Any, snapshot: Snapshot) -> None:
        heights = [[each.at.isoformat(), each.metres] for each in snapshot.heights]
        db.execute(
            "insert into tide_snapshots (station, fetched_at, heights) values ($1, $2, $3)",
            snapshot.station,
            snapshot.fetched_at,
            json.dumps(heights),
        )

    @staticmethod
    def _snapshot(row: dict[str, Any]) -> Snapshot:
        heights = tuple(
            Height(at=datetime.fromisoformat(at), metres=metres)
            for at, metres in json.loads(row["heights"])
        )
        return Snapshot(station=row["station"], fetched_at=row["fetched_at"], heights=heights)
