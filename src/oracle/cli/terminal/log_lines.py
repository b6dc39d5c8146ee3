"""What becomes of log records: no record is printed as it is.

Without a handler, Python prints every warning of ours and of any library on stderr, into the middle
of a status line. Here a record becomes a line like all others. Records about storage and settings
are for everybody: nothing else says what they say. The rest is for `-vv`.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Final

from oracle.cli.terminal.progress import Line

FOR_EVERYBODY: Final = (
    "oracle.acp.agent",
    "oracle.acp.permissions",
    "oracle.acp.projects",
    "oracle.bt.lua.library",
    "oracle.bt.wrappers.definitions",
    "oracle.bt.wrappers.lease",
    "oracle.bt.wrappers.oracle_wrapper",
    "oracle.bt.wrappers.project_agent",
    "oracle.bt.wrappers.run_store",
    "oracle.cli.terminal.conversation",
    "oracle.services.ans.writer",
    "oracle.services.journal.writer",
    "oracle.services.mcp.server_tools",
    "oracle.services.own_code.calling",
    "oracle.services.settings.keys",
    "oracle.services.storage.purge",
    "oracle.services.telemetry.sending",
    "oracle.services.tools.project_index",
)
"""Loggers whose warnings tell a user something that no answer and no error message contains."""

Print = Callable[[Line], object]


class LogLines(logging.Handler):
    """Passes each record on as a line. `to` decides whether it is printed."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.to: Print = print_on_stderr

    def emit(self, record: logging.LogRecord) -> None:
        try:
            self.to(line_of(record))
        except Exception:
            # A record that cannot be shown must not stop the work that it is about.
            return


def line_of(record: logging.LogRecord) -> Line:
    from oracle.services.project.redaction import redact

    text = redact(record.getMessage())
    if record.name in FOR_EVERYBODY:
        # Only the first line: a traceback is nothing for a user.
        return Line(kind="warning", text=text.partition("\n")[0], tone="yellow", least="normal")
    return Line(kind="log", text=f"{record.name}: {text}", whole=True, least="everything")


def print_on_stderr(line: Line) -> None:
    """For commands that draw nothing. A developer sees everything."""
    if line.is_for("everything" if sys.flags.dev_mode else "normal"):
        print(line, file=sys.stderr, flush=True)


_handler: Final = LogLines()


def show_log_lines() -> None:
    """To be called once, before a command begins."""
    logging.getLogger().addHandler(_handler)
    # Warnings of Python are for developers, who ask for them with -W or PYTHONDEVMODE.
    logging.captureWarnings(not (sys.flags.dev_mode or sys.warnoptions))


@contextmanager
def log_lines_to(to: Print) -> Generator[None]:
    """Inside the block, print them there: what is drawn now must not be broken by a line."""
    before, _handler.to = _handler.to, to
    try:
        yield
    finally:
        _handler.to = before
