"""The job queue of a database: its own if it has one, else in memory."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from hashlib import sha256
from typing import Final

from oracle.services.dispatch.memory import MemoryDispatcher
from oracle.services.dispatch.protocol import Dispatcher
from oracle.services.dispatch.queue import Queue
from oracle.services.settings.team_sections import ServerSettings
from oracle.services.storage.database import Database

MOST_OF_USER: Final = ServerSettings().most_runs_of_user


@asynccontextmanager
async def open_dispatcher(
    database: Database, project: str | None, *, most_of_user: int = MOST_OF_USER
) -> AsyncGenerator[Dispatcher]:
    """`most_of_user` is the setting `server.most_runs_of_user`."""
    queue = Queue(database, project)
    if not database.backend.has_queue:
        yield MemoryDispatcher(queue, most_of_user)
        return
    # Imported here: it takes a tenth of a second, and needs packages of an extra.
    from oracle.services.dispatch.procrastinate_queue import opened

    async with opened(database.url, queue_name(project), queue, most_of_user) as dispatcher:
        yield dispatcher


def queue_name(project: str | None) -> str:
    """Short whatever the project is called: it becomes part of a channel's name, of 63 bytes at
    most.
    """
    return f"oracle-{sha256((project or '').encode()).hexdigest()[:16]}"
