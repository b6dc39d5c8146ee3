"""What timeout and cooldown ask of their option."""

import math

from oracle.errors import StructureError


def checked_seconds(kind: str, seconds: float) -> float:
    if not (math.isfinite(seconds) and seconds > 0):
        raise StructureError(f"{kind}: seconds is {seconds}; use a number above 0")
    return float(seconds)
