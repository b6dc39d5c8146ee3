"""Marks confirmed bookings whose vessel has not come."""

from datetime import datetime, timedelta

from harbour.config.settings import Settings
from harbour.domain.booking import State
from harbour.events import types
from harbour.events.bus import Bus
from harbour.events.types import Event
from harbour.storage.bookings import BookingStore
from harbour.storage.leases import Lease

# In a storm everybody is late. The harbour office sets the file, the sweep looks at it.
STORM_FILE = "/run/harbour/storm"


class SweepNoShows:
    def __init__(self, bookings: BookingStore, bus: Bus, settings: Settings):
        self._bookings = bookings
        self._bus = bus
        self._grace = timedelta(minutes=settings.no_show_grace_minutes)

    def __call__(self, lease: Lease, now: datetime) -> None:
        if self._storm():
            return
        for booking in self._bookings.in_state(State.CONFIRMED):
            if now - booking.arrives <= self._grace:
                continue
            self._bookings.save(booking.to(State.NO_SHOW, now=now))
            self._bus.publish(
                Event(
                    name=types.BOOKING_NO_SHOW,
                    at=now,
                    payload={"booking_id": booking.id, "call_sign": booking.call_sign},
                )
            )

    @staticmethod
    def _storm() -> bool:
        try:
            with open(STORM_FILE, encoding="utf-8"):
                return True
        except FileNotFoundError:
            return False
