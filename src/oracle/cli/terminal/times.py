"""Times, tokens and money as people type and read them: `30d`, `3 min ago`, `1.2 s`, `0.35`."""

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


def shown_age(seconds: float, *, now: float) -> str:
    """How long ago a moment was; from a week on, its date.

    >>> shown_age(1000.0, now=1200.0)
    '3 min ago'
    """
    age = now - seconds
    # A clock that was set back, or that of another machine, may be ahead of ours.
    if age < 60:
        return "just now"
    for limit, unit, name in ((3_600, 60, "min"), (86_400, 3_600, "h"), (604_800, 86_400, "day")):
        if age < limit:
            number = int(age // unit)
            return f"{number} {name}{'s' if name == 'day' and number > 1 else ''} ago"
    return datetime.fromtimestamp(seconds).astimezone().strftime("%Y-%m-%d")


def shown_duration(seconds: float) -> str:
    """`0.3 s`, `12 s`, `3 min 20 s`, `1 h 5 min`."""
    if seconds < 10:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    minutes, rest = divmod(whole, 60)
    if minutes < 60:
        return f"{minutes} min {rest} s" if rest else f"{minutes} min"
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if minutes else f"{hours} h"


def shown_tokens(tokens: int, *, is_estimate: bool = False) -> str:
    """An estimate is rounded, so that nobody takes it for a count.

    >>> shown_tokens(9_136), shown_tokens(9_136, is_estimate=True)
    ('9,136 tokens', 'about 9,100 tokens')
    """
    if not is_estimate:
        return f"{tokens:,} tokens"
    return f"about {int(float(f'{tokens:.2g}')):,} tokens"


def shown_money(amount: float) -> str:
    """Two digits that count, however small the amount is: `0.0012`, `0.35`, `12.50`."""
    if amount >= 0.1:
        return f"{amount:.2f}"
    return f"{amount:.2g}" if amount >= 0.0001 else "< 0.0001"
