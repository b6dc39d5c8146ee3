from datetime import UTC, datetime, timedelta

import pytest

from harbour.cli.plan import flat_water
from harbour.config.settings import Settings
from harbour.domain import planner
from harbour.domain.booking import Booking, State
from harbour.domain.vessel import Vessel
from harbour.errors import DraftTooDeep, TideDataStale, VesselTooLong

NOW = datetime(2026, 5, 4, 6, tzinfo=UTC)
SETTINGS = Settings()


def coaster(length: float = 80, draft: float = 5.0) -> Vessel:
    return Vessel(call_sign="SKVA1", name="Alke", kind="coaster", length_m=length, draft_m=draft)


def wanted(number: int = 1, hours: int = 3) -> Booking:
    start = NOW + timedelta(hours=hours)
    return Booking(
        id=number, call_sign="SKVA1", berth=None, arrives=start, departs=start + timedelta(hours=6)
    )


def test_the_tightest_berth_with_a_rail_wins():
    found = planner.propose(wanted(), coaster(), [], flat_water(NOW), SETTINGS, NOW)
    assert found.berth.name == "A1"


def test_a_taken_berth_is_reported_and_the_next_one_proposed():
    other = Booking(**{**vars(wanted(2)), "berth": "A1", "state": State.CONFIRMED})
    found = planner.propose(wanted(), coaster(), [other], flat_water(NOW), SETTINGS, NOW)
    assert found.berth.name == "A2"
    assert found.rejected[0][0] == "A1"


def test_too_little_water_everywhere_is_an_error():
    with pytest.raises(DraftTooDeep):
        planner.propose(wanted(), coaster(draft=9.5), [], flat_water(NOW, 0.2), SETTINGS, NOW)


def test_nothing_is_planned_on_old_tides():
    with pytest.raises(TideDataStale):
        old = flat_water(NOW - timedelta(hours=4))
        planner.propose(wanted(), coaster(), [], old, SETTINGS, NOW)


def test_a_vessel_that_fits_nowhere():
    with pytest.raises(VesselTooLong, match="120 m"):
        planner.propose(wanted(), coaster(length=130), [], flat_water(NOW), SETTINGS, NOW)
