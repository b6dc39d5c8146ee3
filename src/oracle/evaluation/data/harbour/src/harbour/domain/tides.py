"""Is there enough water? Heights are metres above LAT, as on the chart."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from harbour.config import flags
from harbour.domain.berth import Berth
from harbour.domain.vessel import Vessel
from harbour.errors import DraftTooDeep, TideDataStale

MIN_WINDOW = timedelta(minutes=40)


@dataclass(frozen=True, kw_only=True)
class Height:
    at: datetime
    metres: float


@dataclass(frozen=True, kw_only=True)
class Snapshot:
    station: str
    fetched_at: datetime
    heights: tuple[Height, ...]

    def age(self, now: datetime) -> timedelta:
        return now - self.fetched_at


def needed_height(vessel: Vessel, berth: Berth, clearance_m: float) -> float:
    return vessel.draft_m + clearance_m + berth.extra_clearance_m - berth.depth_m


def ensure_fresh(snapshot: Snapshot | None, now: datetime, max_age: timedelta) -> Snapshot:
    if snapshot is None:
        raise TideDataStale("there is no tide snapshot yet; run `harbour jobs once fetch-tides`")
    if snapshot.age(now) > max_age:
        raise TideDataStale(f"tide snapshot is from {snapshot.fetched_at:%d %b %H:%M}, too old")
    return snapshot


def windows(heights: Sequence[Height], needed: float) -> list[tuple[datetime, datetime]]:
    """Stretches with enough water. Version 2 drops those shorter than MIN_WINDOW."""
    found: list[tuple[datetime, datetime]] = []
    start: datetime | None = None
    for height in heights:
        if height.metres >= needed and start is None:
            start = height.at
        elif height.metres < needed and start is not None:
            found.append((start, height.at))
            start = None
    if start is not None:
        found.append((start, heights[-1].at))
    if flags.enabled("tide_windows_v2"):
        found = [each for each in found if each[1] - each[0] >= MIN_WINDOW]
    return found


def ensure_water(
    vessel: Vessel, berth: Berth, arrives: datetime, snapshot: Snapshot, clearance_m: float
) -> None:
    """Only the arrival is checked: a vessel may lie aground on soft mud at A3 and B2."""
    needed = needed_height(vessel, berth, clearance_m)
    if needed <= 0:
        return
    for start, end in windows(snapshot.heights, needed):
        if start <= arrives <= end:
            return
    raise DraftTooDeep(
        f"{vessel.name} needs {needed:.1f} m of tide at {berth.name}, "
        f"there is less at {arrives:%d %b %H:%M}"
    )
