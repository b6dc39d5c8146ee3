"""Asks the person at the terminal for approval. Anything but a yes means no.

Every yes/no question of every command is asked here, because only a line that was typed after the
question is an answer to it.
"""

from __future__ import annotations

import asyncio
import os
import select
import sys
from collections.abc import Generator, Mapping
from concurrent.futures import Future
from contextlib import contextmanager
from threading import Event
from typing import TYPE_CHECKING, Any, Final

from oracle.cli.terminal.safe_text import printable
from oracle.cli.terminal.terminal_state import STATE
from oracle.cli.terminal.waiting import wait_begins

if TYPE_CHECKING:
    from oracle.cli.terminal.screen_thread import ScreenThread
    from oracle.services.agent_services import Approve

TERMINAL: Final = "/dev/tty"
KEYS: Final = "[y/N]"
CALL_KEYS: Final = "[y/N/a=all its calls]"
YES: Final = ("y", "yes")
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
    """Ask in the thread that draws the screen, so that nothing is drawn over the question.

    About a call, "a" allows all further calls of the same tools, until the answer is there.
    """
    allowed: set[str] = set()

    async def approve(question: Mapping[str, Any]) -> bool:
        if allowed.issuperset(question["tools"]):
            return True
        said: Future[str] = Future()
        is_over = Event()

        def ask() -> None:
            # False if the run was cancelled while the question waited in the queue.
            if not said.set_running_or_notify_cancel():
                return
            try:
                keys = CALL_KEYS if question["calls"] else KEYS
                said.set_result(reply_to(printable(question["content"]), is_over, keys=keys) or "")
            except BaseException:
                # The run waits for a result. Without one it would wait forever.
                said.set_result("")
                raise

        screen.run_alone(ask)
        try:
            reply = await asyncio.wrap_future(said)
        finally:
            is_over.set()
        if question["calls"] and reply in ("a", "all"):
            allowed.update(question["tools"])
            return True
        return reply in YES

    return approve


def reply_to(question: str, is_over: Event, *, keys: str = KEYS) -> str | None:
    """The line that a person types, in small letters; empty for Enter.

    None if `is_over` is set first, or if there is nobody: no keyboard, or Ctrl-D.
    """
    with _keyboard_for(question, f"{keys} ") as descriptor:
        # A blocking read could not be ended by a cancelled run, so wait in short steps.
        while descriptor is not None and not is_over.is_set():
            ready, _, _ = select.select([descriptor], [], [], _POLL_SECONDS)
            if ready:
                if typed := os.read(descriptor, 1024):
                    return typed.decode(errors="replace").strip().lower()
                break
    if descriptor is not None:
        print(file=sys.stderr, flush=True)
    return None


def says_yes(question: str) -> bool:
    """Whether a person says yes. Ctrl-C ends it like `answer_to`."""
    try:
        typed = answer_to(f"{question} {KEYS}")
    except KeyboardInterrupt:
        print(file=sys.stderr, flush=True)
        raise
    if typed is None:
        print(file=sys.stderr, flush=True)
    return (typed or "").lower() in YES


def answer_to(question: str) -> str | None:
    """The line that a person types; None if there is no keyboard, or no line.

    Only for commands that do nothing else meanwhile: Ctrl-C ends it with KeyboardInterrupt.
    """
    with _keyboard_for(question) as descriptor:
        typed = b"" if descriptor is None else os.read(descriptor, 1024)
    return typed.decode(errors="replace").strip() if typed else None


@contextmanager
def _keyboard_for(question: str, choices: str = "") -> Generator[int | None]:
    """Ask, and give the keyboard that the answer is typed on; None if there is none."""
    descriptor = _keyboard()
    if descriptor is None:
        yield None
        return
    try:
        with STATE.asking(descriptor):
            print(f"oracle: {question} {choices}", end="", file=sys.stderr, flush=True)
            yield descriptor
    finally:
        os.close(descriptor)
        wait_begins()


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
