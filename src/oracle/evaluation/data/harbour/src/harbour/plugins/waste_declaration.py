"""Reminds the agent to declare waste, a day before arrival."""

from datetime import datetime, timedelta

from harbour.events import types
from harbour.events.types import Event
from harbour.plugins.registry import plugin

LEAD = timedelta(hours=24)
EXEMPT_KINDS = frozenset({"fishing", "yacht"})

pending: dict[int, datetime] = {}


def due_at(event: Event) -> datetime | None:
    if event.payload.get("kind") in EXEMPT_KINDS:
        return None
    arrives = datetime.fromisoformat(str(event.payload["arrives"]))
    return max(event.at, arrives - LEAD)


@plugin("waste-declaration", events=[types.BOOKING_CONFIRMED, types.BOOKING_CANCELLED])
def plan(event: Event) -> None:
    booking_id = int(str(event.payload["booking_id"]))
    if event.name == types.BOOKING_CANCELLED:
        pending.pop(booking_id, None)
        return
    due = due_at(event)
    if due is not None:
        pending[booking_id] = due
