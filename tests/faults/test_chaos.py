"""Workers, a front end and PostgreSQL die while clients listen. See `scripts/chaos.py` for more."""

import pytest

from tests.faults.chaos import rampage

STRIKES = ("worker", "server", "asleep", "front end")


@pytest.mark.extra
async def test_every_run_is_whole_whatever_dies(tmp_path, postgresql_url):
    struck = await rampage(tmp_path, postgresql_url, seed=1, runs=6, strikes=STRIKES)
    assert struck.strikes == [*STRIKES]
