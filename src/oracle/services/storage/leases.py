"""Whether a process still works on a run, as far as can be known on this machine."""

from __future__ import annotations

import os
import socket
import time
from typing import Final

PARKED: Final = "parked"
"""The owner of a run that waits for a person. Nobody works on it, and it is not taken up by itself
while the lease lasts; but it can be claimed at any time, by the process that gets the
person's answer.
"""


def is_left(owner: str | None, until: float | None) -> bool:
    """Whether no process holds the lease of an open run any more, as far as can be known here."""
    return owner == PARKED or (until or 0) <= time.time() or has_ended(owner or "")


def has_ended(owner: str) -> bool:
    """Whether the process of an owner is known to have ended: one of this machine that is gone."""
    host, _, process = owner.rpartition(":")[0].rpartition(":")
    # Elsewhere than on POSIX, a signal of 0 is not a question but a signal.
    if host != socket.gethostname() or not process.isdecimal() or os.name != "posix":
        return False
    try:
        os.kill(int(process), 0)
    except (ProcessLookupError, OverflowError):
        return True
    except OSError:
        # It is there, and belongs to another user.
        return False
    return False
