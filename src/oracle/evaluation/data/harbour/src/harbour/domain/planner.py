"""Finds a berth for a request. The first candidate without an objection wins."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from harbour.config import flags
from harbour.config.settings import Settings
from harbour.domain import conflicts, tides
from harbour.domain.berth import BERTHS, Berth, candidates
from harbour.domain.booking import Booking
from harbour.domain.vessel import Vessel
from harbour.errors import BerthConflict, DraftTooDeep, HarbourError

# A tanker that waits longer than this goes ahead of those who asked before it.
FUEL_PATIENCE = timedelta(hours=6)


@dataclass(frozen=True, kw_only=True)
class Proposal:
    berth: Berth
    rejected: tuple[tuple[str, str], ...]  # berth and why not


def propose(
    wanted: Booking,
    vessel: Vessel,
    others: Iterable[Booking],
    snapshot: tides.Snapshot | None,
    settings: Settings,
    now: datetime,
) -> Proposal:
    """Raises the last objection if every berth has one."""
    fresh = tides.ensure_fresh(snapshot, now, timedelta(minutes=settings.tide_max_age_minutes))
    others = list(others)
    rejected: list[tuple[str, str]] = []
    last: HarbourError | None = None
    for berth in candidates(vessel):
        try:
            conflicts.ensure_free(wanted, berth.name, others, settings)
            tides.ensure_water(
                vessel, berth, wanted.arrives, fresh, settings.under_keel_clearance_m
            )
        except (BerthConflict, DraftTooDeep) as objection:
            rejected.append((berth.name, str(objection)))
            last = objection
            continue
        return Proposal(berth=berth, rejected=tuple(rejected))
    assert last is not None
    raise last


def order(requests: Iterable[tuple[Booking, Vessel, datetime]], now: datetime) -> list[Booking]:
    """Who is planned first: by time of request, with an exception for the fuel berth."""

    def rank(item: tuple[Booking, Vessel, datetime]) -> tuple[int, datetime]:
        _, vessel, asked_at = item
        hurried = (
            flags.enabled("fuel_berth_priority")
            and vessel.kind == "tanker"
            and now - asked_at > FUEL_PATIENCE
        )
        return (0 if hurried else 1, asked_at)

    return [booking for booking, _, _ in sorted(requests, key=rank)]


def utilisation(bookings: Iterable[Booking], start: datetime, end: datetime) -> dict[str, float]:
    """Share of the time each berth is taken, for the weekly report."""
    span = (end - start).total_seconds()
    taken = dict.fromkeys(BERTHS, 0.0)
    for booking in bookings:
        if booking.berth is None:
            continue
        overlap = min(end, booking.departs) - max(start, booking.arrives)
        taken[booking.berth] += max(0.0, overlap.total_seconds())
    return {name: round(seconds / span, 3) for name, seconds in taken.items()}
