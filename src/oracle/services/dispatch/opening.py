"""The job queue of a database: its own if it has one, else in memory."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from functools import partial
from hashlib import sha256

from oracle.services.dispatch.memory import MemoryDispatcher
from oracle.services.dispatch.protocol import Dispatcher
from oracle.services.dispatch.queue import Queue
from oracle.services.storage.database import Database


@asynccontextmanager
async def open_dispatcher(database: Database, project: str | None) -> AsyncGenerator[Dispatcher]:
    queue = Queue(database, project)
    if not database.backend.has_queue:
        yield MemoryDispatcher(queue.left_behind)
        return
    # Imported here: it takes a tenth of a second, and needs packages of an extra.
    from oracle.services.dispatch.procrastinate_queue import WAITING, opened

    left_behind = partial(queue.left_behind, unless=WAITING)
    async with opened(database.url, queue_name(project), left_behind) as dispatcher:
        yield dispatcher


def queue_name(project: str | None) -> str:
    """Short whatever the project is called: it becomes part of a channel's name, of 63 bytes at
    most.
    """
    return f"oracle-{sha256((project or '').encode()).hexdigest()[:16]}"
