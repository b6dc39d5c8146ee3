"""Moments as people write them: an age, or a date with or without a time."""

from __future__ import annotations

import re
from datetime import datetime

from oracle.errors import InputError

UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 604800}


def moment(text: str, *, now: float) -> float:
    """Seconds since the epoch: `10m` is ten minutes before `now`; a time without a zone is local.

    >>> moment("2h", now=10_000)
    2800.0
    """
    if match := re.fullmatch(r"(\d+(?:\.\d+)?)([smhdw])", text):
        return now - float(match[1]) * UNITS[match[2]]
    try:
        return datetime.fromisoformat(text).timestamp()
    except (ValueError, OverflowError):
        raise InputError(
            f"{text!r} is no moment; write an age like 10m, 2h or 3d, "
            "or a time like 2026-01-31 or 2026-01-31T09:30"
        ) from None
