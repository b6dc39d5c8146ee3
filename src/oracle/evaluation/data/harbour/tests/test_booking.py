from datetime import UTC, datetime, timedelta

import pytest

from harbour.domain.booking import Booking, State
from harbour.errors import WrongState

NOON = datetime(2026, 5, 4, 12, tzinfo=UTC)


def booking(**changes: object) -> Booking:
    values: dict[str, object] = {
        "id": 1,
        "call_sign": "SKVA1",
        "berth": "A1",
        "arrives": NOON,
        "departs": NOON + timedelta(hours=8),
    }
    return Booking(**{**values, **changes})  # type: ignore[arg-type]


def test_a_request_cannot_be_confirmed_without_a_pencil_mark():
    with pytest.raises(WrongState, match="HB-103"):
        booking().to(State.CONFIRMED, now=NOON)


def test_a_pencil_mark_expires_after_the_hold():
    marked = booking().to(State.PENCILLED, now=NOON)
    hold = timedelta(hours=4)
    assert not marked.pencil_expired(NOON + hold, hold)
    assert marked.pencil_expired(NOON + hold + timedelta(seconds=1), hold)


def test_going_back_to_requested_gives_up_the_berth():
    marked = booking().to(State.PENCILLED, now=NOON)
    assert marked.to(State.REQUESTED, now=NOON).berth is None


def test_a_vessel_may_arrive_after_it_was_a_no_show():
    missed = booking(state=State.NO_SHOW)
    assert missed.to(State.ALONGSIDE, now=NOON).state is State.ALONGSIDE
