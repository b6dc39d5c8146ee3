"""A bucket that fills with time, for each client."""

import pytest

from oracle.api import rates
from oracle.api.rates import Rates


class Clock:
    now = 0.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


def test_a_minute_of_requests_at_once_and_then_one_by_one(clock):
    limited = Rates(60, clock)
    assert [limited.seconds_to_wait("a") for _ in range(60)] == [0.0] * 60
    assert limited.seconds_to_wait("a") == pytest.approx(1.0)
    assert limited.seconds_to_wait("b") == 0.0
    clock.now = 0.5
    assert limited.seconds_to_wait("a") == pytest.approx(0.5)
    clock.now = 1.0
    assert limited.seconds_to_wait("a") == 0.0
    assert limited.seconds_to_wait("a") == pytest.approx(1.0)


def test_what_was_not_used_is_not_saved_up(clock):
    limited = Rates(2, clock)
    clock.now = 10_000.0
    assert [limited.seconds_to_wait("a") > 0 for _ in range(3)] == [False, False, True]


def test_off_is_no_limit(clock):
    limited = Rates(None, clock)
    assert {limited.seconds_to_wait("a") for _ in range(10_000)} == {0.0}


def test_a_flood_of_addresses_does_not_fill_the_memory(clock, monkeypatch):
    monkeypatch.setattr(rates, "MOST_CLIENTS", 3)
    limited = Rates(1, clock)
    for client in "abcdef":
        limited.seconds_to_wait(client)
    assert limited.seconds_to_wait("f") > 0
    assert limited.seconds_to_wait("a") == 0.0
