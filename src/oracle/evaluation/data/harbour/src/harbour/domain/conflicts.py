"""Do two stays at a berth get in each other's way?"""

from collections.abc import Iterable
from datetime import timedelta

from harbour.config.settings import Settings
from harbour.domain.berth import BERTHS
from harbour.domain.booking import OCCUPYING, Booking
from harbour.errors import BerthConflict


def turnaround(berth_name: str, settings: Settings) -> timedelta:
    """Time between two vessels: lines, fenders, gangway. The ramp is quicker."""
    if BERTHS[berth_name].ramp:
        return timedelta(minutes=settings.ramp_turnaround_minutes)
    return timedelta(minutes=settings.turnaround_minutes)


def overlapping(
    wanted: Booking, berth_name: str, others: Iterable[Booking], settings: Settings
) -> list[Booking]:
    gap = turnaround(berth_name, settings)
    return [
        other
        for other in others
        if other.id != wanted.id
        and other.berth == berth_name
        and other.state in OCCUPYING
        and wanted.arrives < other.departs + gap
        and other.arrives < wanted.departs + gap
    ]


def ensure_free(
    wanted: Booking, berth_name: str, others: Iterable[Booking], settings: Settings
) -> None:
    clashing = overlapping(wanted, berth_name, others, settings)
    if clashing:
        first = min(clashing, key=lambda booking: booking.arrives)
        raise BerthConflict(
            f"{berth_name} is taken by booking {first.id} until {first.departs:%d %b %H:%M}, "
            f"turnaround included it is free from "
            f"{first.departs + turnaround(berth_name, settings):%d %b %H:%M}"
        )
