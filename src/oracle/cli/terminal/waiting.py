"""Since when the user waits for the answer: the time that is shown and recorded.

That is the start of the process. It begins again after a person was asked something, and after
stdin was read, because `make test | oracle "why?"` waits for `make`.
"""

from __future__ import annotations

import os
import time

_since: float | None = None


def command_begins() -> None:
    """To be called once, by the command itself."""
    global _since
    _since = time.monotonic() - _age_of_process()


def wait_begins() -> None:
    """Nobody has waited until now."""
    global _since
    _since = time.monotonic()


def waiting_since() -> float:
    """On the clock of `time.monotonic`; now, if no command has begun."""
    return time.monotonic() if _since is None else _since


def _age_of_process() -> float:
    """Starting Python takes time too. 0 if the system does not say when it began."""
    try:
        with open("/proc/self/stat", encoding="utf-8", errors="replace") as file:
            # The name of the program is in brackets, and may have blanks.
            ticks = float(file.read().rpartition(")")[2].split()[19])
        age = time.clock_gettime(time.CLOCK_BOOTTIME) - ticks / os.sysconf("SC_CLK_TCK")
    except (OSError, ValueError, AttributeError, IndexError):
        return 0.0
    return max(0.0, age)
