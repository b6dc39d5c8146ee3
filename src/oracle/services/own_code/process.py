"""Keeps own code from ending this process, or from going on as a copy of it.

`os._exit` would end a command without a word and with the exit code of a success. In own code it
raises `SystemExit` instead, which is a failure like any other. A function that forks and returns in
the child would leave a second command that never ends: the child ends where own code ends.
"""

from __future__ import annotations

import os
from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from threading import Lock
from typing import Final, NoReturn

_exit: Final = os._exit  # pyright: ignore[reportPrivateUsage]
_process: ContextVar[int] = ContextVar("process_of_own_code", default=0)
_lock: Final = Lock()
_users: int = 0


@contextmanager
def process_kept() -> Generator[None]:
    """For own code that runs inside of the block."""
    process = os.getpid()
    token = _process.set(process)
    _count(1)
    try:
        yield
    finally:
        if os.getpid() != process:
            _exit(0)
        _count(-1)
        _process.reset(token)


def _count(more: int) -> None:
    global _users
    with _lock:
        _users += more
        os._exit = _exit_of_own_code if _users else _exit


def _exit_of_own_code(status: int) -> NoReturn:
    # A child that own code has forked may end so, and must.
    if _process.get() != os.getpid():
        _exit(status)
    raise SystemExit(f"os._exit({status}) was called")
