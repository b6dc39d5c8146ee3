"""Frees berths that were pencilled and never confirmed."""

import logging
from datetime import datetime, timedelta

from harbour.config.settings import Settings
from harbour.domain.booking import State
from harbour.errors import WrongState
from harbour.storage.bookings import BookingStore
from harbour.storage.leases import Lease

log = logging.getLogger("harbour.jobs.pencils")


class ExpirePencils:
    def __init__(self, bookings: BookingStore, settings: Settings):
        self._bookings = bookings
        self._hold = timedelta(minutes=settings.pencil_hold_minutes)

    def __call__(self, lease: Lease, now: datetime) -> None:
        """Back to `requested`, not cancelled. No event is published, so no mail is sent."""
        for booking in self._bookings.in_state(State.PENCILLED):
            if not booking.pencil_expired(now, self._hold):
                continue
            try:
                self._bookings.save(booking.to(State.REQUESTED, now=now))
            except WrongState:
                log.info("confirmed meanwhile", extra={"fields": {"booking": booking.id}})
