"""The stored comparisons of the two loops. Each belongs to the run whose answer the user got."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from typing import Any

from sqlalchemy import Connection, insert, select

from oracle.errors import StoreError
from oracle.services.comparison.comparing import Comparison
from oracle.services.storage.damage import RESTORE
from oracle.services.storage.database import Database
from oracle.services.storage.records import of_project
from oracle.services.storage.schema import runs, shadow_reports


class ShadowReports:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(self, comparison: Comparison, at: float) -> None:
        row: Mapping[str, Any] = {
            "id": uuid.uuid4().hex,
            "run_id": comparison.run_id,
            "body": comparison.as_data(),
            "created_at": at,
        }

        def add(connection: Connection) -> None:
            connection.execute(insert(shadow_reports).values(**row))

        await self._database.write(add)

    async def newest(
        self, limit: int | None = None, *, project: str | None = None
    ) -> list[Comparison]:
        """Newest first; with a `project` only its own."""
        query = (
            select(shadow_reports.c.id, shadow_reports.c.body)
            .join(runs, runs.c.id == shadow_reports.c.run_id)
            .where(of_project(runs, project))
            .order_by(shadow_reports.c.created_at.desc(), shadow_reports.c.id)
            .limit(limit)
        )
        found = await self._database.read(lambda c: c.execute(query).all())
        return [_read(id_, body) for id_, body in found]


def _read(id_: str, body: Any) -> Comparison:
    try:
        return Comparison.from_data(body)
    except (KeyError, TypeError, AttributeError) as problem:
        raise StoreError(f"shadow report {id_} is damaged ({problem!r}); {RESTORE}") from None
