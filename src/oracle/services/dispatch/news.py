"""Notices between processes: that a run has said something, or that it got a command.

A notice only says that it is worth looking. What is new is read from a table, so a notice that is
lost costs time and nothing else. There is one channel, and each process has one connection to it.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections import defaultdict
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager
from typing import Final

from oracle.logs import logger_of
from oracle.services.background import cancelled
from oracle.services.dispatch.signs import SHOW, key_of
from oracle.services.storage.addresses import Address
from oracle.services.storage.database import Database
from oracle.services.storage.transactions import Transaction

log = logger_of(__name__)

CHANNEL: Final = "oracle_runs"
SAID: Final = "said"
COMMAND: Final = "command"
EVERY_RUN: Final = ""
"""In the place of a run: hear the news of all."""

SECONDS_BETWEEN_LOOKS: Final = 5.0
"""Look that often without a notice too: one may be lost while a connection is made again."""
SECONDS_WITHOUT_NOTICES: Final = 0.25
"""The same for a database that has no notices."""
SECONDS_TO_CONNECT_AGAIN: Final = 0.5


def tell(connection: Transaction, what: str, run_id: str) -> None:
    """Sent when the transaction is committed."""
    if notice := connection.backend.notice:
        connection.rows(notice, [CHANNEL, f"{what}:{run_id}"])


class Bell:
    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self.event = asyncio.Event()

    async def wait(self, seconds: float | None = None) -> None:
        """Until there may be news, or for so long."""
        within = self._seconds if seconds is None else min(seconds, self._seconds)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(within):
                await self.event.wait()
        # Cleared before the caller looks: what comes after that rings again.
        self.event.clear()


class News:
    def __init__(self, seconds_between_looks: float) -> None:
        self._seconds = seconds_between_looks
        self._bells: defaultdict[str, set[Bell]] = defaultdict(set)

    @contextmanager
    def bell(self, what: str, run_id: str) -> Generator[Bell]:
        key, bell = f"{what}:{run_id}", Bell(self._seconds)
        self._bells[key].add(bell)
        try:
            yield bell
        finally:
            self._bells[key].discard(bell)
            if not self._bells[key]:
                del self._bells[key]

    def ring(self, key: str) -> None:
        of_all = f"{key.partition(':')[0]}:{EVERY_RUN}"
        for bell in (*self._bells.get(key, ()), *self._bells.get(of_all, ())):
            bell.event.set()

    def ring_all(self) -> None:
        for key in self._bells:
            self.ring(key)


@asynccontextmanager
async def open_news(database: Database, sign: str | None = None) -> AsyncGenerator[News]:
    """With a `sign`, the id of a worker, the connection shows as well that this process lives."""
    if not database.backend.notice:
        yield News(SECONDS_WITHOUT_NOTICES)
        return
    news = News(SECONDS_BETWEEN_LOOKS)
    listening = asyncio.create_task(_listen(database.url, news, sign))
    try:
        yield news
    finally:
        await cancelled(listening)


async def _listen(address: Address, news: News, sign: str | None) -> None:
    import psycopg

    while True:
        try:
            connection = await psycopg.AsyncConnection.connect(
                address.with_password(), autocommit=True
            )
            async with connection:
                await connection.execute(f"LISTEN {CHANNEL}".encode())
                if sign is not None:
                    await connection.execute(SHOW, [key_of(sign)])
                # What was said while nobody listened is looked for now.
                news.ring_all()
                async for notice in connection.notifies():
                    news.ring(notice.payload)
        except psycopg.Error as problem:
            log.warning("notices of other processes cannot be heard: %s; trying again", problem)
        await asyncio.sleep(SECONDS_TO_CONNECT_AGAIN)
