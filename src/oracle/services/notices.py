"""Notices that a user should read, but not each time: each at most once a day."""

from __future__ import annotations

import contextlib
import time
from typing import Final

from oracle.errors import StoreError

_TOPIC: Final = "notices"


def is_due(name: str) -> bool:
    """Whether this was not shown today. From now on it was."""
    from oracle.services.user_files import recall, remember

    today = time.strftime("%Y-%m-%d")
    if recall(_TOPIC).get(name) == today:
        return False
    # Where nothing can be kept, the notice is shown each time: it must be seen once.
    with contextlib.suppress(StoreError):
        remember(_TOPIC, name, today)
    return True
