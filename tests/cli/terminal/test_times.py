"""Times as people type them."""

from datetime import UTC, datetime

import pytest

from oracle.cli.terminal.times import (
    parse_duration,
    parse_moment,
    shown_age,
    shown_duration,
    shown_money,
)
from oracle.errors import InputError
from tests.tables import each_row

NOW = 1_000_000.0


@each_row(
    ("text", "seconds_ago"),
    [("30s", 30), ("10m", 600), ("2h", 7200), ("1.5h", 5400), ("3d", 259200), ("1w", 604800)],
)
def test_an_age_counts_back_from_now(text, seconds_ago):
    assert parse_moment(text, now=NOW) == NOW - seconds_ago


@pytest.mark.parametrize(
    ("text", "time"),
    [
        ("2026-01-31T09:30:00Z", datetime(2026, 1, 31, 9, 30, tzinfo=UTC)),
        ("2026-01-31T09:30+02:00", datetime(2026, 1, 31, 7, 30, tzinfo=UTC)),
        ("2026-01-31 09:30", datetime(2026, 1, 31, 9, 30).astimezone()),
        ("2026-01-31", datetime(2026, 1, 31).astimezone()),
    ],
)
def test_a_time_is_taken_in_its_zone_or_in_the_local_one(text, time):
    assert parse_moment(text, now=NOW) == time.timestamp()


@each_row("text", ["", "10", "10x", "m", "-5m", "yesterday", "2026-13-01"])
def test_anything_else_is_refused_with_examples(text):
    with pytest.raises(InputError, match=r"is not a time; write an age like 10m"):
        parse_moment(text, now=NOW)


@each_row(
    ("typed", "seconds"),
    [("12h", 43_200), ("30d", 2_592_000), ("2w", 1_209_600), (" 1 D ", 86_400), ("0h", 0)],
)
def test_hours_days_and_weeks_are_understood(typed, seconds):
    assert parse_duration(typed) == seconds


@each_row("typed", ["", "d", "30", "-1d", "1.5d", "3m", "1d2h", "٣d", "9" * 5000 + "d"])
def test_any_other_span_is_refused_with_examples(typed):
    with pytest.raises(InputError, match="such as 12h, 30d or 2w"):
        parse_duration(typed)


@each_row(
    ("age", "shown"),
    [
        (-5, "just now"),
        (59, "just now"),
        (60, "1 min ago"),
        (7_200, "2 h ago"),
        (90_000, "1 day ago"),
    ],
)
def test_an_age_is_rounded_down_to_its_unit(age, shown):
    assert shown_age(1_000_000.0 - age, now=1_000_000.0) == shown


@each_row(
    ("seconds", "shown"),
    [(0.04, "0.0 s"), (12.4, "12 s"), (60, "1 min"), (200, "3 min 20 s"), (3_900, "1 h 5 min")],
)
def test_a_duration_has_at_most_two_units(seconds, shown):
    assert shown_duration(seconds) == shown


@each_row(
    ("amount", "shown"),
    [(12.5, "12.50"), (0.354, "0.35"), (0.0121, "0.012"), (0.00012, "0.00012"), (1e-6, "< 0.0001")],
)
def test_small_amounts_keep_two_digits_that_count(amount, shown):
    assert shown_money(amount) == shown
