"""How many requests each client may send: a bucket that fills with time, one for each client."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable
from typing import Final

MOST_CLIENTS: Final = 10_000
"""Clients that are remembered. Beyond it, those are forgotten who were silent for longest."""


class Rates:
    """A client may send `per_minute` requests at once, and then as many in each minute.

    None means without a limit.
    """

    def __init__(
        self, per_minute: float | None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._most = per_minute
        self._clock = clock
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def seconds_to_wait(self, client: str) -> float:
        """Count a request. 0 if it may pass, else when the next one may."""
        if self._most is None:
            return 0.0
        now = self._clock()
        left, at = self._left.pop(client, (self._most, now))
        left = min(self._most, left + (now - at) * self._most / 60)
        is_allowed = left >= 1
        self._left[client] = (left - 1 if is_allowed else left, now)
        if len(self._left) > MOST_CLIENTS:
            self._left.popitem(last=False)
        return 0.0 if is_allowed else (1 - left) * 60 / self._most
