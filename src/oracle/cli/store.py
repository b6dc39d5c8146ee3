"""The project's database, for the length of one command."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

from oracle.services.storage.database import Database, default_url

Result = TypeVar("Result")


def with_database(work: Callable[[Database], Awaitable[Result]]) -> Result:
    async def run() -> Result:
        async with await Database.open(default_url()) as database:
            return await work(database)

    return asyncio.run(run())
