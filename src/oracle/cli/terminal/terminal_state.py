"""The state of the terminal while a command runs, and how it is left at every exit.

While something is drawn, keys are not echoed, because they would break the lines that are redrawn.
They are kept for what reads next: a prompt, or the shell. Everything here may be called from a
signal handler, so it takes no lock and writes directly to the descriptor.
"""

from __future__ import annotations

import contextlib
import os
import select
import sys
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any, Final

ERASE_LINE: Final = b"\r\x1b[2K"
LINE_ABOVE: Final = b"\x1b[1A\x1b[2K"
SHOW_CURSOR: Final = b"\x1b[?25h"
NO_BRACKETED_PASTE: Final = b"\x1b[?2004l"

NO_CONTROLS: Final = ("", "dumb", "unknown")
"""Values of TERM for terminals that cannot move their cursor."""

_INPUT: Final = 0
_LOCAL: Final = 3
"""Indexes into what `tcgetattr` returns."""


class TerminalState:
    """`lines_drawn` is how many lines are drawn now that must be erased at the end."""

    def __init__(self) -> None:
        self.lines_drawn = 0
        self.times_stopped = 0
        """How often Ctrl-Z has handed the terminal to a shell, which has drawn on it since."""
        self.typed_ahead = b""
        """Keys that were read to make room for a question. The next prompt of a chat gets them."""
        self._before: list[Any] | None = None
        self._for_chat: list[Any] | None = None

    def hide_keys(self) -> None:
        """Do not echo keys. Cheap, so it can be called again and again: a shell may undo it."""
        modes = _modes()
        # Without an echo, another program in the same pipeline has done so. It will undo it too:
        # who keeps the modes of that moment would leave the user without an echo.
        if modes is not None and modes[_LOCAL] & _flag("ECHO"):
            self._before = self._before or modes
            _set_modes(_changed(modes, without=("ECHO",), with_=("NOFLSH",)))

    def show_keys(self) -> None:
        if self._before is not None and self._for_chat is None:
            _set_modes(self._before)
            self._before = None

    def begin_chat(self) -> None:
        """Until the end of the chat, keep keys as they are pressed, for the next prompt.

        Enter stays another key than Ctrl-J, and Backspace and Ctrl-D are for the prompt to obey.
        Ctrl-C is a signal, which does not drop what was typed before it.
        """
        modes = _modes()
        if modes is not None:
            self._before = modes
            quiet = _changed(modes, without=("ECHO", "ICANON", "IEXTEN"), with_=("NOFLSH",))
            quiet[_INPUT] &= ~_flag("ICRNL")
            self._for_chat = quiet
            _set_modes(quiet)
            # Until now, the terminal turned Enter into the character of Ctrl-J.
            self.typed_ahead = _pending().replace(b"\n", b"\r")

    def end_chat(self) -> None:
        self._for_chat = None
        self.show_keys()

    @contextmanager
    def asking(self, keyboard: int) -> Generator[None]:
        """Inside the block, a person answers a question that is printed now.

        What was typed before cannot be an answer to it. Outside of a chat it is dropped: the keys
        were typed for something else, and a `y` among them would allow what nobody has read.
        """
        if self._for_chat is None:
            self.show_keys()
            _drop_typed(keyboard)
        with self.reading_a_line():
            yield

    @contextmanager
    def reading_a_line(self) -> Generator[None]:
        """Inside the block, the terminal lets a person type a line, as it did at the start."""
        if self._for_chat is None or self._before is None:
            yield
            return
        # What was typed before is for the next prompt of the chat.
        self.typed_ahead += _pending()
        _set_modes(self._before)
        try:
            yield
        finally:
            self.resume()

    def resume(self) -> None:
        """What a chat needs, after another program or a person had the terminal."""
        if self._for_chat is not None:
            _set_modes(self._for_chat)

    def leave(self) -> None:
        """Erase what is drawn, and leave the terminal as it was."""
        if self._before is not None:
            _set_modes(self._before)
        end = b""
        if self.lines_drawn:
            end = ERASE_LINE + LINE_ABOVE * (self.lines_drawn - 1)
        if os.environ.get("TERM", "") not in NO_CONTROLS:
            end += SHOW_CURSOR if self._for_chat is None else NO_BRACKETED_PASTE + SHOW_CURSOR
        self.lines_drawn = 0
        for stream in (sys.stderr, sys.stdout):
            if stream.isatty():
                # Not through the stream: the interrupted code may hold its lock.
                with contextlib.suppress(OSError):  # the terminal may be gone
                    os.write(stream.fileno(), end)
                break


STATE: Final = TerminalState()


def _terminal() -> int | None:
    """Its descriptor; None if no stream is one, or if another program has the keyboard.

    A program in the background would be stopped if it changed the modes.
    """
    for stream in (sys.stdin, sys.stderr, sys.stdout):
        with contextlib.suppress(OSError, ValueError, AttributeError):
            if stream.isatty() and os.tcgetpgrp(stream.fileno()) == os.getpgrp():
                return stream.fileno()
    return None


def _modes() -> list[Any] | None:
    import termios

    descriptor = _terminal()
    if descriptor is not None:
        with contextlib.suppress(OSError, termios.error):
            return termios.tcgetattr(descriptor)
    return None


def _set_modes(modes: list[Any]) -> None:
    import termios

    descriptor = _terminal()
    if descriptor is not None:
        with contextlib.suppress(OSError, termios.error):
            # At once, and without dropping what was typed.
            termios.tcsetattr(descriptor, termios.TCSANOW, modes)


def _pending() -> bytes:
    """The keys that can be read without waiting."""
    typed = b""
    descriptor = _terminal()
    if descriptor is not None:
        with contextlib.suppress(OSError):
            while select.select([descriptor], [], [], 0)[0] and (more := os.read(descriptor, 4096)):
                typed += more
    return typed


def _drop_typed(keyboard: int) -> None:
    """Also a line that is not ended yet: Enter alone would send it."""
    import termios

    with contextlib.suppress(OSError, termios.error):
        if not _is_in_background(keyboard):
            termios.tcflush(keyboard, termios.TCIFLUSH)


def _is_in_background(terminal: int) -> bool:
    try:
        return os.tcgetpgrp(terminal) != os.getpgrp()
    except OSError:  # a terminal that does not control this process has no background
        return False


def _changed(modes: list[Any], *, without: tuple[str, ...], with_: tuple[str, ...]) -> list[Any]:
    changed = list(modes)
    for name in without:
        changed[_LOCAL] &= ~_flag(name)
    for name in with_:
        changed[_LOCAL] |= _flag(name)
    return changed


def _flag(name: str) -> int:
    import termios

    return int(getattr(termios, name))
