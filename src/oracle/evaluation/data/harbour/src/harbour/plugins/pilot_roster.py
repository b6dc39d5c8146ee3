"""Asks the pilots' office for a pilot, and takes the wish back when the vessel stays away."""

from datetime import datetime, timedelta

from harbour.domain.vessel import Vessel
from harbour.events import types
from harbour.events.types import Event
from harbour.plugins.registry import plugin

NOTICE = timedelta(hours=3)
BOARDING_AHEAD = timedelta(minutes=50)

_wishes: dict[int, dict[str, object]] = {}


def wish(event: Event) -> dict[str, object] | None:
    vessel = Vessel(**event.payload["vessel_data"])  # type: ignore[arg-type]
    if not vessel.needs_pilot:
        return None
    arrives = datetime.fromisoformat(str(event.payload["arrives"]))
    return {
        "call_sign": vessel.call_sign,
        "board_at": (arrives - BOARDING_AHEAD).isoformat(),
        "short_notice": arrives - event.at < NOTICE,
    }


@plugin(
    "pilot-roster",
    events=[types.BOOKING_CONFIRMED, types.BOOKING_CANCELLED, types.BOOKING_NO_SHOW],
)
def follow(event: Event) -> None:
    booking_id = int(str(event.payload["booking_id"]))
    if event.name == types.BOOKING_CONFIRMED:
        wanted = wish(event)
        if wanted is not None:
            _wishes[booking_id] = wanted
    else:
        _wishes.pop(booking_id, None)
