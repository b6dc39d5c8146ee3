"""The stored comparisons of the two loops. Each belongs to the run whose answer the user got."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from typing import Any

from oracle.errors import StoreError
from oracle.services.comparison.comparing import Comparison
from oracle.services.storage.damage import RESTORE, read_json
from oracle.services.storage.database import Database
from oracle.services.storage.records import insert, of_project
from oracle.services.storage.schema import shadow_reports
from oracle.services.storage.transactions import Transaction
from oracle.services.storage.users import seen


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
        await self._database.write(lambda c: insert(c, shadow_reports, row))

    async def newest(
        self, limit: int | None = None, *, project: str | None = None
    ) -> list[Comparison]:
        """Newest first; with a `project` only its own."""
        where, values = of_project(project)
        rest = (
            f"JOIN runs ON runs.id = shadow_reports.run_id WHERE {where} "
            "ORDER BY shadow_reports.created_at DESC, shadow_reports.id"
        )
        if limit is not None:
            rest += f" LIMIT {limit:d}"

        def read(connection: Transaction) -> list[tuple[Any, ...]]:
            source, own = seen("shadow_reports", connection.user)
            query = f"SELECT shadow_reports.id, body FROM {source} {rest}"
            return connection.rows(query, [*own, *values])

        return [_read(id_, body) for id_, body in await self._database.read(read)]


def _read(id_: str, body: Any) -> Comparison:
    try:
        return Comparison.from_data(read_json(body) if isinstance(body, str) else body)
    except (KeyError, TypeError, AttributeError) as problem:
        raise StoreError(f"shadow report {id_} is damaged ({problem!r}); {RESTORE}") from None
