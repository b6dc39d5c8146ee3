"""Who listens to what, apart from plugins."""

from harbour.events import types
from harbour.events.bus import Bus
from harbour.events.types import Event
from harbour.plugins.registry import Registry
from harbour.storage.bookings import BookingStore
from harbour.storage.cranes import CraneStore


def connect(bus: Bus, registry: Registry, bookings: BookingStore, cranes: CraneStore) -> None:
    def release_cranes(event: Event) -> None:
        cranes.release_for(int(str(event.payload["booking_id"])))

    def drop_pencil_marks(event: Event) -> None:
        # Other pencilled bookings for the same berth and time are sent back to `requested`.
        bookings.bounce_rivals(int(str(event.payload["booking_id"])))

    bus.on(types.VESSEL_DEPARTED, release_cranes)
    bus.on(types.BOOKING_CANCELLED, release_cranes)
    bus.on(types.BOOKING_NO_SHOW, release_cranes)
    bus.on(types.BOOKING_CONFIRMED, drop_pencil_marks)
    for name in types.ALL:
        for plugin in registry.listening_to(name):
            bus.on(name, plugin.guarded)
