"""What can happen in the port. Names are part of the contract with plugins."""

from dataclasses import dataclass, field
from datetime import datetime

BOOKING_REQUESTED = "booking.requested"
BOOKING_PENCILLED = "booking.pencilled"
BOOKING_CONFIRMED = "booking.confirmed"
BOOKING_CANCELLED = "booking.cancelled"
BOOKING_NO_SHOW = "booking.no_show"
VESSEL_ALONGSIDE = "vessel.alongside"
VESSEL_DEPARTED = "vessel.departed"
CRANE_STOPPED = "crane.stopped"
CRANE_RESUMED = "crane.resumed"
TIDE_REFRESHED = "tide.refreshed"
TIDE_STALE = "tide.stale"

ALL = frozenset(
    value for name, value in list(globals().items()) if name.isupper() and isinstance(value, str)
)

# Only these survive a restart; the rest is gone if nobody listens.
DURABLE = frozenset(name for name in ALL if name.startswith(("booking.", "vessel.")))


@dataclass(frozen=True, kw_only=True)
class Event:
    name: str
    at: datetime
    payload: dict[str, object] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.name not in ALL:
            raise ValueError(f"nobody has declared the event {self.name!r}")
