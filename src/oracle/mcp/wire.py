"""stdin and stdout for the protocol alone.

The descriptors 0 and 1 are moved away. What own code, a library or a child process reads from stdin
is empty, and what it prints goes to stderr: neither can get between two messages.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Generator
from contextlib import contextmanager, suppress
from threading import Semaphore, Thread
from typing import Any, Final

from oracle.services.background import in_thread

_MOST_AHEAD: Final = 64
"""Lines that are read before they are needed."""


class Incoming:
    """The lines that a client sends. They are read in a thread that nobody waits for: a process
    that is told to stop must not wait for the next line.
    """

    def __init__(self, descriptor: int) -> None:
        self._file = os.fdopen(descriptor, "r", encoding="utf-8", errors="replace", closefd=False)
        self._room = Semaphore(_MOST_AHEAD)

    async def __aiter__(self) -> AsyncIterator[str]:
        loop = asyncio.get_running_loop()
        lines: asyncio.Queue[str] = asyncio.Queue()

        def read() -> None:
            # The loop may be closed while a line is waited for.
            with suppress(RuntimeError, OSError, ValueError):
                while True:
                    self._room.acquire()
                    line = self._file.readline()
                    loop.call_soon_threadsafe(lines.put_nowait, line)
                    if not line:
                        return

        Thread(target=read, name="mcp-stdin", daemon=True).start()
        while line := await lines.get():
            self._room.release()
            yield line


class Outgoing:
    """Writes in a thread, because a client that does not read must not stop the runs."""

    def __init__(self, descriptor: int) -> None:
        self._file = os.fdopen(descriptor, "w", encoding="utf-8", closefd=False)

    async def write(self, text: str) -> None:
        await in_thread(self._file.write, text)

    async def flush(self) -> None:
        await in_thread(self._file.flush)


@contextmanager
def claimed() -> Generator[tuple[Any, Any]]:
    """Until the end of the block the two belong to the protocol."""
    incoming, outgoing = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    try:
        yield Incoming(incoming), Outgoing(outgoing)
    finally:
        os.dup2(incoming, 0)
        os.dup2(outgoing, 1)
