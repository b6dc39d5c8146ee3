"""Questions typed at a prompt, with editing and a history; from a pipe, a question a line."""

from __future__ import annotations

import contextlib
import os
import sys
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Final, Self

from oracle.errors import OracleError

if TYPE_CHECKING:
    from oracle.settings import Settings

PROMPT: Final = "? "
GOES_ON: Final = "… "
MOST_KEPT: Final = 1_000


def history_file(settings: Settings) -> Path | None:
    """Beside the project's database, which nobody commits. None where nothing can be written."""
    from oracle.services.project.root import made_user_folder, oracle_folder

    try:
        folder = oracle_folder(settings.root) if settings.root else made_user_folder()
    except OracleError:
        return None
    return folder / "chat_history"


class LineEditor:
    def __init__(self, history: Path | None) -> None:
        self._history = history
        self.is_interactive = sys.stdin is not None and sys.stdin.isatty()

    def __enter__(self) -> Self:
        if self.is_interactive:
            self._set_up()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self.is_interactive:
            self._keep()

    def read(self) -> str:
        """The next question. Raises `EOFError` at the end, and at Ctrl-C on an empty line, pressed
        twice, `KeyboardInterrupt`.
        """
        is_warned = False
        while True:
            try:
                return self._read_whole()
            except KeyboardInterrupt:
                if is_warned or not self.is_interactive:
                    raise
                is_warned = True
                print("\noracle: Ctrl-C again or Ctrl-D leaves", file=sys.stderr, flush=True)
            except EOFError:
                if self.is_interactive:
                    print(file=sys.stderr, flush=True)
                raise

    def _read_whole(self) -> str:
        lines = [self._line(PROMPT)]
        while lines[-1].endswith("\\"):
            lines[-1] = lines[-1][:-1]
            lines.append(self._line(GOES_ON))
        return "\n".join(lines)

    def _line(self, prompt: str) -> str:
        if self.is_interactive:
            return input(prompt)
        line = "" if sys.stdin is None else sys.stdin.readline()
        if not line:
            raise EOFError
        return line.rstrip("\n")

    def _set_up(self) -> None:
        with contextlib.suppress(ImportError):
            import readline

            readline.parse_and_bind("set enable-bracketed-paste on")
            if self._history is not None:
                with contextlib.suppress(OSError):
                    readline.read_history_file(self._history)

    def _keep(self) -> None:
        """A history that cannot be kept is no reason to complain."""
        if self._history is None:
            return
        with contextlib.suppress(ImportError, OSError):
            import readline

            readline.set_history_length(MOST_KEPT)
            os.close(os.open(self._history, os.O_CREAT | os.O_WRONLY, 0o600))
            readline.write_history_file(self._history)
