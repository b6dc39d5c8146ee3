"""The project's database, for the length of one command."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

from oracle.services.storage.database import Database, default_url
from oracle.settings import load_settings

Result = TypeVar("Result")


def with_database(work: Callable[[Database], Awaitable[Result]]) -> Result:
    async def run() -> Result:
        async with await Database.open(default_url(load_settings())) as database:
            return await work(database)

    return asyncio.run(run())
