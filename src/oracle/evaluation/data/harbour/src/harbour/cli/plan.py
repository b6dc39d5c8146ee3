"""Tries the planner on a file of requests, without a database."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

from harbour.config.settings import Settings
from harbour.domain import planner
from harbour.domain.booking import Booking, State
from harbour.domain.tides import Height, Snapshot
from harbour.domain.vessel import Vessel
from harbour.errors import HarbourError


def flat_water(now: datetime, metres: float = 2.0) -> Snapshot:
    """Two metres of water all the time: good enough to try things out."""
    heights = tuple(
        Height(at=now + timedelta(minutes=10 * step), metres=metres) for step in range(1440)
    )
    return Snapshot(station="flat", fetched_at=now, heights=heights)


def run(file: str, settings: Settings) -> int:
    now = datetime.now(UTC)
    water = flat_water(now)
    taken: list[Booking] = []
    failed = 0
    for number, item in enumerate(json.loads(Path(file).read_text(encoding="utf-8")), start=1):
        vessel = Vessel(**item["vessel"])
        wanted = Booking(
            id=number,
            call_sign=vessel.call_sign,
            berth=None,
            arrives=datetime.fromisoformat(item["arrives"]),
            departs=datetime.fromisoformat(item["departs"]),
        )
        try:
            proposal = planner.propose(wanted, vessel, taken, water, settings, now)
        except HarbourError as error:
            failed += 1
            print(f"{vessel.name}: {error}")
            continue
        print(f"{vessel.name}: {proposal.berth.name}")
        taken.append(
            Booking(**{**vars(wanted), "berth": proposal.berth.name, "state": State.PENCILLED})
        )
    return 0 if failed == 0 else 3
