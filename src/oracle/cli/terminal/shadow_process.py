"""Compares a question with the other loop, in a process that the user need not wait for."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING, Final

from oracle.logs import logger_of

if TYPE_CHECKING:
    from oracle.settings import Settings

log = logger_of(__name__)

COMMAND: Final = (sys.executable, "-c", "from oracle.cli.main import run; run()")


class ShadowProcess:
    """One at a time: a question that is asked while another is compared is not compared."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._process: subprocess.Popen[bytes] | None = None

    def follow(self, run_id: str, stop_reason: str) -> None:
        """Begin, if the run is chosen. It never raises: the user has the answer already."""
        from oracle.bt.wrappers.shadow_mode import is_chosen

        if not is_chosen(run_id, stop_reason, self._settings.loop.shadow_share):
            return
        if self._process is not None and self._process.poll() is None:
            return
        model = self._settings.model.name
        command = [*COMMAND, "shadow", "run", run_id, "--model", model, "--background"]
        try:
            # In a session of its own, so that a Ctrl-C or a closed terminal does not reach it.
            self._process = subprocess.Popen(
                command,
                cwd=self._settings.root,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
        except OSError as problem:
            log.info("run %s is not compared: %s", run_id, problem)
