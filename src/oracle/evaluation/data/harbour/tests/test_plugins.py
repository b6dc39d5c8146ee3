from datetime import UTC, datetime

import pytest

from harbour.errors import UnknownPlugin
from harbour.events import types
from harbour.events.types import Event
from harbour.plugins.registry import QUARANTINE_AFTER, QUARANTINE_SECONDS, Plugin, Registry

EVENT = Event(name=types.TIDE_STALE, at=datetime(2026, 5, 4, tzinfo=UTC))


def test_a_plugin_that_keeps_failing_is_left_alone_for_ten_minutes():
    now = [0.0]
    calls: list[Event] = []

    def handler(event: Event) -> None:
        calls.append(event)
        raise RuntimeError("no")

    plugin = Plugin("x", frozenset({types.TIDE_STALE}), handler, clock=lambda: now[0])
    for _ in range(QUARANTINE_AFTER):
        with pytest.raises(RuntimeError):
            plugin.guarded(EVENT)
    plugin.guarded(EVENT)
    assert len(calls) == QUARANTINE_AFTER
    now[0] += QUARANTINE_SECONDS
    with pytest.raises(RuntimeError):
        plugin.guarded(EVENT)


def test_an_unknown_plugin_is_an_error_at_start():
    with pytest.raises(UnknownPlugin, match="HB-501"):
        Registry(["fax-notices"])
