"""Spans of time as people type them: `12h`, `30d`, `2w`."""

from __future__ import annotations

import re
from typing import Final

from oracle.errors import InputError

_SECONDS: Final = {"h": 3_600, "d": 86_400, "w": 604_800}
_DURATION: Final = re.compile(r"\s*([0-9]{1,6})\s*([hdw])\s*", re.IGNORECASE)


def seconds_of(typed: str) -> int:
    match = _DURATION.fullmatch(typed)
    if match is None:
        raise InputError(
            f"{typed!r} is no span of time; write hours, days or weeks, such as 12h, 30d or 2w"
        )
    return int(match[1]) * _SECONDS[match[2].lower()]
