"""Ranges hold the value, are the same each time, and know what is alike."""

from statistics import fmean

import pytest

from oracle.evaluation.intervals import grouped, interval, redrawn, share


def test_an_interval_is_the_same_each_time_and_holds_the_mean():
    found = interval([0.0, 1.0] * 20)
    assert found == interval([0.0, 1.0] * 20)
    assert 0.2 < found.low < found.mean == 0.5 < found.high < 0.8


def test_members_of_a_group_are_drawn_together():
    alike = [[0.0] * 10, [1.0] * 10]
    apart = [[value] for group in alike for value in group]
    assert redrawn(alike, fmean).high == 1.0
    assert redrawn(apart, fmean).high < 0.9
    assert grouped([1, 2, 3, 4], by=lambda number: number % 2) == [[1, 3], [2, 4]]


@pytest.mark.parametrize(
    ("part", "count", "low", "high"),
    [(5, 5, 0.57, 1.0), (0, 5, 0.0, 0.43), (50, 100, 0.40, 0.60), (0, 0, 0.0, 1.0)],
)
def test_a_share_has_a_width_even_if_all_are_alike(part, count, low, high):
    found = share(part, count)
    assert (round(found.low, 2), round(found.high, 2)) == (low, high)
