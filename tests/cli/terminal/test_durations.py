import pytest

from oracle.cli.terminal.durations import seconds_of
from oracle.errors import InputError


@pytest.mark.parametrize(
    ("typed", "seconds"),
    [("12h", 43_200), ("30d", 2_592_000), ("2w", 1_209_600), (" 1 D ", 86_400), ("0h", 0)],
)
def test_hours_days_and_weeks_are_understood(typed, seconds):
    assert seconds_of(typed) == seconds


@pytest.mark.parametrize(
    "typed", ["", "d", "30", "-1d", "1.5d", "3m", "1d2h", "٣d", "9" * 5000 + "d"]
)
def test_nonsense_is_refused(typed):
    with pytest.raises(InputError, match="such as 12h, 30d or 2w"):
        seconds_of(typed)
