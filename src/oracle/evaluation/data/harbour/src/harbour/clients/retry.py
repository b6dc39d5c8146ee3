"""Calls something over the network again when it is worth it."""

import logging
import random
import time
from collections.abc import Callable
from typing import TypeVar

from harbour.errors import Upstream

log = logging.getLogger("harbour.retry")

T = TypeVar("T")

ATTEMPTS = 4
BASE_SECONDS = 0.5
CAP_SECONDS = 8.0
MAX_RETRY_AFTER = 30.0
TRANSIENT_STATUS = frozenset({429, 502, 503, 504})


def call(
    work: Callable[[], T],
    *,
    attempts: int = ATTEMPTS,
    sleep: Callable[[float], None] = time.sleep,
    chance: Callable[[], float] = random.random,
) -> T:
    """Only `Upstream` with `transient` is tried again; everything else is raised at once.

    The pause is random between nothing and the bound, so that our two servers spread out. If the
    other side says when to come back, that counts instead, unless it is more than 30 seconds:
    then we give up, because the job comes round again anyway.
    """
    for attempt in range(attempts):
        try:
            return work()
        except Upstream as error:
            if not error.transient or attempt == attempts - 1:
                raise
            if error.retry_after is not None:
                if error.retry_after > MAX_RETRY_AFTER:
                    raise
                pause = error.retry_after
            else:
                pause = chance() * min(BASE_SECONDS * 2**attempt, CAP_SECONDS)
            log.info("again", extra={"fields": {"attempt": attempt + 1, "pause": f"{pause:.2f}"}})
            sleep(pause)
    raise AssertionError("not reached")


def from_status(service: str, status: int, retry_after: str | None) -> Upstream:
    seconds = float(retry_after) if retry_after and retry_after.isdigit() else None
    return Upstream(
        f"{service} answered {status}",
        transient=status in TRANSIENT_STATUS,
        retry_after=seconds,
    )
