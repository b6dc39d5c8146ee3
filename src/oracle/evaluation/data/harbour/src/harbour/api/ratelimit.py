"""A bucket of tokens for each key, in memory: each server counts for itself."""

import time
from collections.abc import Callable
from dataclasses import dataclass

from harbour.api.auth import Caller

PER_MINUTE = 60
BURST = 20
EXEMPT_ROLES = frozenset({"master", "board"})


@dataclass
class _Bucket:
    tokens: float
    filled_at: float


class RateLimit:
    def __init__(self, clock: Callable[[], float] = time.monotonic):
        self._clock = clock
        self._buckets: dict[int, _Bucket] = {}

    def wait_for(self, caller: Caller) -> float:
        """0 if the call may go on, otherwise the seconds until it may."""
        if caller.role in EXEMPT_ROLES:
            return 0.0
        now = self._clock()
        bucket = self._buckets.setdefault(caller.key_id, _Bucket(BURST, now))
        rate = PER_MINUTE / 60
        bucket.tokens = min(BURST, bucket.tokens + (now - bucket.filled_at) * rate)
        bucket.filled_at = now
        if bucket.tokens >= 1:
            bucket.tokens -= 1
            return 0.0
        return (1 - bucket.tokens) / rate
