"""Feature flags. A flag is a default here and an override in the environment.

HARBOUR_FLAG_CRANE_POOLING=off harbour serve
"""

import os
from collections.abc import Mapping

from harbour.errors import UnknownFlag

FLAGS: dict[str, bool] = {
    "crane_pooling": True,
    "tide_windows_v2": True,
    "fuel_berth_priority": True,
    "auto_reassign": False,
    "radio_notices": False,
    "berthql_push": False,
}

_ON = {"on", "1", "true", "yes"}
_OFF = {"off", "0", "false", "no"}


def enabled(name: str, environ: Mapping[str, str] | None = None) -> bool:
    if name not in FLAGS:
        raise UnknownFlag(name)
    environ = os.environ if environ is None else environ
    raw = environ.get(f"HARBOUR_FLAG_{name.upper()}", "").strip().lower()
    if raw in _ON:
        return True
    if raw in _OFF:
        return False
    # Anything else, also a typing error, means the default.
    return FLAGS[name]


def overridden(environ: Mapping[str, str] | None = None) -> dict[str, bool]:
    """The flags whose value differs from the default; `harbour doctor` prints them."""
    return {
        name: value
        for name, default in FLAGS.items()
        if (value := enabled(name, environ)) != default
    }
