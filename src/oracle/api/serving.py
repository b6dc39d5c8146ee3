"""Runs the application on a socket until a signal stops it."""

from __future__ import annotations

import asyncio
import signal
import socket
import threading
from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Final, TypeAlias

import uvicorn
from starlette.types import ASGIApp, Receive, Scope, Send

from oracle.api.connections import BoundedConnection

STOPPING: Final = (signal.SIGINT, signal.SIGTERM)


SECONDS_FOR_READERS: Final = 5
"""For those who still read when all runs have ended or were handed over."""

Drain: TypeAlias = Callable[[float], Awaitable[None]]
"""Lets the runs end within so many seconds, and hands over the others."""


class Server(uvicorn.Server):
    """Takes a signal as a request to stop, and nothing more: uvicorn would raise it again at the
    end, and the process would die before its runs are handed over.
    """

    def __init__(self, config: uvicorn.Config, drain: Drain, seconds: float) -> None:
        super().__init__(config)
        self._drain = drain
        self._seconds = seconds
        self._forced = asyncio.Event()
        self._has_signal = False

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        if self.should_exit:
            self._forced.set()
        self.should_exit = True
        self._has_signal = True

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """End the runs first, so that each client gets the last event of its run. Only then uvicorn
        may close the connections, which cancels whatever still uses them. A second signal ends the
        runs at once.
        """
        for server in self.servers:
            server.close()
        draining = asyncio.ensure_future(self._drain(self._seconds))
        forced = asyncio.ensure_future(self._forced.wait())
        await asyncio.wait({draining, forced}, return_when=asyncio.FIRST_COMPLETED)
        forced.cancel()
        if not draining.done():
            draining.cancel()
            await self._drain(0)
        if self._has_signal:
            # The streams of MCP listen to uvicorn's own method, and end at once: not before the
            # runs, whose clients are among them.
            super().handle_exit(signal.SIGTERM, None)
        await super().shutdown(sockets)

    @contextmanager
    def capture_signals(self) -> Generator[None]:
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        loop = asyncio.get_running_loop()
        for each in STOPPING:
            loop.add_signal_handler(each, self.handle_exit, each, None)
        try:
            yield
        finally:
            for each in STOPPING:
                with suppress(ValueError):
                    loop.remove_signal_handler(each)


async def _nothing(seconds: float) -> None:
    """For an application without runs."""


def server_of(app: ASGIApp, *, drain: Drain = _nothing, seconds_to_close: float = 0.0) -> Server:
    """`seconds_to_close` is for the runs that are under way when a signal stops it."""
    return Server(
        uvicorn.Config(
            _without_traces(app),
            log_level="warning",
            access_log=False,
            server_header=False,
            # Who asks is the other end of the connection, not what a header says.
            proxy_headers=False,
            timeout_graceful_shutdown=SECONDS_FOR_READERS,
            lifespan="off",
            http=BoundedConnection,
            ws="none",
        ),
        drain,
        seconds_to_close,
    )


def _without_traces(app: ASGIApp) -> ASGIApp:
    """A reader that is too slow for the end of the server is cut off, which is not a mistake: it is
    not written to the log as one.
    """

    async def run(scope: Scope, receive: Receive, send: Send) -> None:
        with suppress(asyncio.CancelledError):
            await app(scope, receive, send)

    return run


def listening(host: str, port: int) -> socket.socket:
    """A socket; raises `OSError` if the port is taken."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    return socket.create_server((host, port), family=family)
