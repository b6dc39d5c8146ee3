"""Times as people type and read them: `30d`, `10m`, `2026-01-31T09:30`."""

from __future__ import annotations

import re
from datetime import datetime
from typing import Final

from oracle.errors import InputError
from oracle.patterns import lazy_pattern

SECONDS: Final = {"s": 1, "m": 60, "h": 3_600, "d": 86_400, "w": 604_800}
_DURATION: Final = lazy_pattern(r"\s*([0-9]{1,6})\s*([hdw])\s*", re.IGNORECASE)
_AGE: Final = lazy_pattern(r"(\d+(?:\.\d+)?)([smhdw])")


def parse_duration(typed: str) -> int:
    """The seconds of whole hours, days or weeks: `12h`, `30d`, `2w`."""
    match = _DURATION.fullmatch(typed)
    if match is None:
        raise InputError(
            f"{typed!r} is not a time span; write hours, days or weeks, such as 12h, 30d or 2w"
        )
    return int(match[1]) * SECONDS[match[2].lower()]


def parse_moment(typed: str, *, now: float) -> float:
    """Seconds since 1970. `10m` is ten minutes before `now`; a time without a zone is local.

    >>> parse_moment("2h", now=10_000)
    2800.0
    """
    if match := _AGE.fullmatch(typed):
        return now - float(match[1]) * SECONDS[match[2]]
    try:
        return datetime.fromisoformat(typed).timestamp()
    except (ValueError, OverflowError):
        raise InputError(
            f"{typed!r} is not a time; write an age like 10m, 2h or 3d, "
            "or a time like 2026-01-31 or 2026-01-31T09:30"
        ) from None


def shown_time(seconds: float) -> str:
    """Seconds since 1970 as local date and time."""
    return datetime.fromtimestamp(seconds).astimezone().strftime("%Y-%m-%d %H:%M")
