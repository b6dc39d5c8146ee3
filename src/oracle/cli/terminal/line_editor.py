"""Reads what is typed into a chat: with an editor at a terminal, otherwise line by line."""

from __future__ import annotations

import os
import select
import sys
from collections.abc import Callable, Collection
from io import TextIOWrapper
from pathlib import Path
from typing import Any, ClassVar, Final

from oracle.cli.terminal.approval import says_yes
from oracle.cli.terminal.interrupts import ChatSignals
from oracle.cli.terminal.output import say
from oracle.cli.terminal.terminal_state import NO_CONTROLS, STATE

PROMPT: Final = "? "
CONTINUED: Final = ". "
LEAVE_HINT: Final = "press Ctrl-C again or Ctrl-D on an empty line to leave"


class LineEditor:
    """Plain lines, for a pipe and for a terminal that cannot move its cursor.

    With `leaves_next`, the next Ctrl-C leaves the chat if nothing was typed before it. An editor
    that takes long to show its first prompt calls `when_shown` then.
    """

    can_prefill: ClassVar[bool] = False

    def __init__(self, signals: ChatSignals) -> None:
        self.is_interactive = _is_terminal(sys.stdin)
        self.leaves_next = False
        self.when_shown: Callable[[], object] = do_nothing
        self.models: Collection[str] = ()
        """Names that Tab offers first."""
        self._signals = signals
        self._had_text = False
        self._drops_lines = False

    def read(self, prefill: str = "") -> str:
        """What was typed, which may have several lines; `prefill` can be edited first.

        Raises `EOFError` at the end of the input, and `KeyboardInterrupt` to leave. Ctrl-C clears
        the line first; with a `prefill`, that returns an empty text.
        """
        while True:
            self._had_text = False
            try:
                text = self._typed(prefill)
            except KeyboardInterrupt:
                if not self.is_interactive or (self.leaves_next and not self._had_text):
                    raise
                # A line that was cleared needs no words: the user sees it, and goes on typing.
                self.leaves_next = False
                if not self._had_text:
                    self.warn()
                if prefill:
                    return ""
                continue
            self.leaves_next = False
            return text

    def warn(self, because: str = "") -> None:
        """Say that the next Ctrl-C leaves."""
        self.leaves_next = True
        say(because + LEAVE_HINT)

    def stopped(self, because: str = "") -> None:
        """Ctrl-C has stopped an answer or a command: what was sent in the meantime stops too."""
        self._drops_lines = True
        self.warn(because)

    def confirm(self, question: str) -> bool:
        """Whether the user says yes. Without a keyboard nobody does."""
        if not self.is_interactive:
            return False
        try:
            with self._signals.raised():
                return says_yes(question)
        except KeyboardInterrupt:
            return False

    def _typed(self, prefill: str) -> str:
        try:
            lines = [self._line(PROMPT)]
            while lines[-1].endswith("\\"):
                lines[-1] = lines[-1][:-1]
                lines.append(self._line(CONTINUED))
        except (EOFError, KeyboardInterrupt):
            if self.is_interactive:
                # The cursor is still behind the prompt.
                print(file=sys.stderr, flush=True)
            raise
        return "\n".join(lines)

    def _line(self, prompt: str) -> str:
        with self._signals.raised(), STATE.reading_a_line():
            if self.is_interactive and not (prompt == CONTINUED and _is_typed_ahead()):
                # Not by `input(prompt)`: stdout may be a pipe that gets the answers.
                print(prompt, end="", file=sys.stderr, flush=True)
            line = sys.stdin.readline()
        if not line:
            raise EOFError
        return line.rstrip("\r\n")


def _is_typed_ahead() -> bool:
    """Whether the next line is there already, and was shown when it was typed."""
    return bool(select.select([sys.stdin], [], [], 0)[0])


def do_nothing() -> None: ...


def open_editor(history: Path | None, signals: ChatSignals) -> LineEditor:
    """The editor that suits stdin and stdout."""
    if not can_edit():
        # A wrong byte in a pipe must not end the chat.
        stdin: Any = sys.stdin
        if isinstance(stdin, TextIOWrapper):
            stdin.reconfigure(errors="replace")
        return LineEditor(signals)
    # Before the import, which takes long enough to type something.
    STATE.begin_chat()
    from oracle.cli.terminal.prompt_editor import PromptEditor

    return PromptEditor(history, signals)


def can_edit() -> bool:
    is_capable = os.environ.get("TERM", "") not in NO_CONTROLS
    return is_capable and _is_terminal(sys.stdin) and _is_terminal(sys.stdout)


def _is_terminal(stream: object) -> bool:
    isatty = getattr(stream, "isatty", None)
    return bool(isatty and isatty())
