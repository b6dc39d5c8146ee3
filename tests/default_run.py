"""What `make test` leaves to `make test-extra`, so that it answers within three minutes.

Rooms and databases that need much time, most rows of long tables, and most examples.
"""

from collections.abc import Iterable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

ROOMS = ("evaluation", "faults")
"""Folders of `tests/` whose tests ask many questions each."""


def leave_to_extra(items: Iterable[pytest.Item], tests: Path) -> None:
    """Mark what a run of all tests leaves out. Named on the command line, it is run as usual."""
    for item in items:
        if item.path.relative_to(tests).parts[0] in ROOMS or _needs_postgresql(item):
            item.add_marker(pytest.mark.extra)


def _needs_postgresql(item: pytest.Item) -> bool:
    """Its fixture is found by name, or by the row of a table. Most such rows have one on SQLite."""
    if "postgresql_server" in item.fixturenames:
        return True
    return hasattr(item, "callspec") and "postgresql" in item.callspec.id.split("-")


def thinned(rows: Iterable, every: int) -> list:
    """Mark all rows of a table as `extra`, except the first and each `every`-th one after it.

    For rows that are variants of one claim, and cost much time. A row that is one tuple, and not
    several values, is given as `pytest.param(row)`.
    """
    return [row if number % every == 0 else _extra(row) for number, row in enumerate(rows)]


def _extra(row):
    if hasattr(row, "marks"):
        return pytest.param(*row.values, id=row.id, marks=(*row.marks, pytest.mark.extra))
    return pytest.param(*(row if isinstance(row, tuple) else (row,)), marks=pytest.mark.extra)


def register_profiles() -> None:
    """The quick one tries the same few examples each time, the thorough one new ones.

    No limit of time: it would depend on what else the machine does.
    """
    common = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}
    settings.register_profile("quick", max_examples=20, derandomize=True, database=None, **common)
    settings.register_profile("thorough", max_examples=120, **common)
    settings.load_profile("quick")
