"""Reads questions: from a terminal with editing and a history, from a pipe line by line."""

from __future__ import annotations

import contextlib
import os
import sys
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Final, Self

from oracle.cli.terminal.safe_text import printable
from oracle.errors import OracleError
from oracle.regular_file import check_regular

if TYPE_CHECKING:
    from oracle.settings import Settings

PROMPT: Final = "? "
CONTINUED: Final = "… "
HISTORY_LENGTH: Final = 1_000


def history_file(settings: Settings) -> Path | None:
    """Next to the project's database, which git ignores. None if it cannot be written."""
    from oracle.services.project.root import made_user_folder, oracle_folder

    try:
        folder = (
            oracle_folder(settings.root, ("chat_history",)) if settings.root else made_user_folder()
        )
    except OracleError:
        return None
    return folder / "chat_history"


class LineEditor:
    def __init__(self, history: Path | None) -> None:
        self._history = history
        self.is_interactive = sys.stdin is not None and sys.stdin.isatty()

    def __enter__(self) -> Self:
        if self.is_interactive:
            self._load_history()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self.is_interactive:
            self._save_history()

    def read(self) -> str:
        """The next question.

        Raises `EOFError` at the end of the input. Raises `KeyboardInterrupt` when Ctrl-C is pressed
        twice; the first one clears the line.
        """
        is_warned = False
        while True:
            try:
                return self._read_whole()
            except KeyboardInterrupt:
                if is_warned or not self.is_interactive:
                    raise
                is_warned = True
                print(
                    "\noracle: press Ctrl-C again or Ctrl-D to leave", file=sys.stderr, flush=True
                )
            except EOFError:
                if self.is_interactive:
                    print(file=sys.stderr, flush=True)
                raise

    def _read_whole(self) -> str:
        lines = [self._line(PROMPT)]
        while lines[-1].endswith("\\"):
            lines[-1] = lines[-1][:-1]
            lines.append(self._line(CONTINUED))
        return "\n".join(lines)

    def _line(self, prompt: str) -> str:
        if self.is_interactive:
            if sys.stdout.isatty():
                return input(prompt)
            # `input` would write the prompt into the pipe that gets the answers.
            print(prompt, end="", file=sys.stderr, flush=True)
            return input()
        line = "" if sys.stdin is None else sys.stdin.readline()
        if not line:
            raise EOFError
        return line.rstrip("\n")

    def _load_history(self) -> None:
        with contextlib.suppress(ImportError):
            import readline

            # A paste of several lines then arrives as one line, not as several questions.
            readline.parse_and_bind("set enable-bracketed-paste on")
            for line in _history_lines(self._history):
                readline.add_history(line)

    def _save_history(self) -> None:
        """Does nothing if the history cannot be written: the chat itself went well."""
        if self._history is None:
            return
        with contextlib.suppress(ImportError, OSError):
            import readline

            from oracle.services.project.redaction import redact

            check_regular(self._history)
            # Created here, because only the user may read it: questions can be private. A link or
            # a pipe in its place is refused: the first may lead anywhere, the second may block.
            flags = os.O_CREAT | os.O_WRONLY | os.O_NONBLOCK | os.O_NOFOLLOW
            count = readline.get_current_history_length()
            places = range(max(0, count - HISTORY_LENGTH), count)
            kept = (readline.get_history_item(place + 1) or "" for place in places)
            text = "".join(f"{redact(line)}\n" for line in kept)
            with os.fdopen(os.open(self._history, flags, 0o600), "w", encoding="utf-8") as file:
                file.truncate()
                file.write(text)


def _history_lines(file: Path | None) -> list[str]:
    """The lines of an earlier chat, safe to show: `.oracle/` may come from someone else.

    Empty if there is no such file, or something else in its place.
    """
    if file is None or not file.is_file():
        return []
    try:
        text = file.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return []
    return [line for line in map(printable, text.split("\n")[-HISTORY_LENGTH:]) if line]
