"""`oracle purge`, as a user calls it."""

import asyncio
import json
import os
import time

import pytest

from oracle.services.storage.database import Database
from oracle.services.storage.sessions import Sessions
from tests.processes import DEVNULL, ORACLE, run


async def fill(address):
    async with await Database.open(address) as database:
        for name, days in [("old", 40), ("new", 20)]:
            at = time.time() - days * 86_400
            await Sessions(database).create(session_id=name, title=name, at=at)


@pytest.fixture
def purge(tmp_path):
    address = f"sqlite:///{tmp_path}/o.db"
    asyncio.run(fill(address))

    def purged(*arguments):
        return run(
            [*ORACLE, "purge", *arguments],
            capture_output=True,
            stdin=DEVNULL,
            text=True,
            env={**os.environ, "NO_COLOR": "1", "ORACLE_DATABASE_URL": address},
            timeout=300,
        )

    return purged


def test_what_is_older_is_forgotten(purge):
    result = purge("--older-than", "30d", "--yes")
    expected = "deleted 1 session, 0 exchanges, 0 runs, 0 events and 0 texts\n"
    assert (result.returncode, result.stdout, result.stderr) == (0, expected, "")


def test_programs_get_json(purge):
    gone = json.loads(purge("--older-than", "2w", "--yes", "--json").stdout)
    assert gone == {"sessions": 2, "exchanges": 0, "runs": 0, "events": 0, "texts": 0}


def test_without_a_terminal_and_a_yes_it_refuses(purge):
    result = purge("--older-than", "30d")
    assert (result.returncode, result.stdout) == (2, "")
    assert "give --yes" in result.stderr
    assert json.loads(purge("--older-than", "30d", "--yes", "--json").stdout)["sessions"] == 1


def test_nonsense_is_told_with_examples(purge):
    result = purge("--older-than", "a while", "--yes")
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr == (
        "oracle: 'a while' is not a time span; write hours, days or weeks, such as 12h, 30d or 2w\n"
    )
