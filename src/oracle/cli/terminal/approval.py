"""Asks the person at the terminal for approval. Anything but a yes means no."""

from __future__ import annotations

import asyncio
import os
import select
import sys
from collections.abc import Mapping
from concurrent.futures import Future
from threading import Event
from typing import TYPE_CHECKING, Any, Final

from oracle.cli.terminal.safe_text import printable
from oracle.cli.terminal.waiting import wait_begins

if TYPE_CHECKING:
    from oracle.cli.terminal.screen_thread import ScreenThread
    from oracle.services.agent_services import Approve

TERMINAL: Final = "/dev/tty"
_POLL_SECONDS: Final = 0.1


def can_ask_a_person() -> bool:
    """Whether a person sees stderr and has a keyboard to answer with."""
    if not sys.stderr.isatty():
        return False
    descriptor = _keyboard()
    if descriptor is None:
        return False
    os.close(descriptor)
    return True


async def say_yes(question: Mapping[str, Any]) -> bool:
    return True


def ask_on(screen: ScreenThread) -> Approve:
    """Ask in the thread that draws the screen, so that nothing is drawn over the question."""

    async def approve(question: Mapping[str, Any]) -> bool:
        said: Future[bool] = Future()
        is_over = Event()

        def ask() -> None:
            # False if the run was cancelled while the question waited in the queue.
            if not said.set_running_or_notify_cancel():
                return
            try:
                said.set_result(ask_now(printable(question["content"]), is_over))
            except BaseException:
                # The run waits for a result. Without one it would wait forever.
                said.set_result(False)
                raise

        screen.run_alone(ask)
        try:
            return await asyncio.wrap_future(said)
        finally:
            is_over.set()

    return approve


def ask_now(question: str, is_over: Event) -> bool:
    """Read a line from the keyboard; no if `is_over` is set first."""
    descriptor = _keyboard()
    if descriptor is None:
        return False
    try:
        print(f"oracle: {question} [y/N] ", end="", file=sys.stderr, flush=True)
        # A blocking read could not be ended by a cancelled run, so wait in short steps.
        while not is_over.is_set():
            ready, _, _ = select.select([descriptor], [], [], _POLL_SECONDS)
            if ready:
                return os.read(descriptor, 1024).strip().lower() in (b"y", b"yes")
        print(file=sys.stderr, flush=True)
        return False
    finally:
        os.close(descriptor)
        wait_begins()


def answer_to(question: str) -> str | None:
    """The line that a person types; None if there is no keyboard, or no line.

    Only for commands that do nothing else meanwhile: Ctrl-C ends it with KeyboardInterrupt.
    """
    descriptor = _keyboard()
    if descriptor is None:
        return None
    try:
        print(f"oracle: {question} ", end="", file=sys.stderr, flush=True)
        typed = os.read(descriptor, 1024)
    finally:
        os.close(descriptor)
        wait_begins()
    return typed.decode(errors="replace").strip() if typed else None


def _keyboard() -> int | None:
    """A new descriptor of the keyboard. It works even if stdin is a pipe."""
    try:
        # Without O_NOCTTY, opening the device could make it the controlling terminal.
        return os.open(TERMINAL, os.O_RDONLY | os.O_NOCTTY)
    except OSError:
        pass
    try:
        return os.dup(sys.stdin.fileno()) if sys.stdin.isatty() else None
    except (AttributeError, OSError, ValueError):
        return None
