"""Runs the application on a socket until the process is told to stop."""

from __future__ import annotations

import asyncio
import signal
import socket
import threading
from collections.abc import Generator
from contextlib import contextmanager, suppress
from math import ceil
from typing import Final

import uvicorn
from starlette.types import ASGIApp

STOPPING: Final = (signal.SIGINT, signal.SIGTERM)


class Server(uvicorn.Server):
    """Ends when it is told to, and no sooner: uvicorn would raise the signal again at the end, and
    the process would die before its runs are handed over.
    """

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


def server_of(app: ASGIApp, *, seconds_to_close: float) -> Server:
    """`seconds_to_close` is for those who still listen when it is told to stop."""
    return Server(
        uvicorn.Config(
            app,
            log_level="warning",
            access_log=False,
            server_header=False,
            # Who asks is the other end of the connection, not what a header says.
            proxy_headers=False,
            timeout_graceful_shutdown=ceil(seconds_to_close),
            lifespan="off",
        )
    )


def listening(host: str, port: int) -> socket.socket:
    """A socket; raises `OSError` if the port is taken."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    return socket.create_server((host, port), family=family)
