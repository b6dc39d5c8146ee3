"""A lease in these tests is for 60 s, or for 0 s, which means that it expires at once."""

import os
import re
import subprocess
import sys
import time

import pytest

from oracle.errors import InputError, LeaseHeld, NotFound
from oracle.services.storage.leases import has_ended, is_left
from oracle.services.storage.runs import Runs, new_owner
from oracle.services.storage.sessions import Sessions
from tests.processes import PIPE, Process

ENDING = {"stop_reason": "answered", "usage": {"turns": 2, "money": 0.25}, "at": 8.0}


async def begin(database, name="r1", *, owner="a", seconds=60, at=5.0, **context):
    question = {"question": "why?", "tree": "oracle-agent"}
    begun = {"run_id": name, "owner": owner, "lease_seconds": seconds, "at": at}
    return await Runs(database).begin(**question, **begun, **context)


async def test_a_run_is_held_by_the_process_that_began_it(database):
    run = await begin(database)
    assert (run.status, run.lease_owner, run.ended_at) == ("running", "a", None)
    assert run == await Runs(database).get("r")


async def test_a_run_goes_on_from_an_exchange_and_marks_its_session_as_used(conversation):
    run = await begin(conversation, session_id="s1", context_id="e3")
    assert (run.session_id, run.context_node_id) == ("s1", "e3")
    assert (await Sessions(conversation).get("s1")).updated_at == 5.0


async def test_a_context_that_is_not_in_the_session_is_refused(conversation):
    with pytest.raises(NotFound, match="no exchange 'e9' in session 's1'"):
        await begin(conversation, session_id="s1", context_id="e9")
    with pytest.raises(NotFound):
        await begin(conversation, context_id="e1")
    assert await Runs(conversation).newest() == []


async def test_the_last_begun_is_listed_first(conversation):
    await begin(conversation, "r1", at=1.0)
    await begin(conversation, "r2", at=2.0, session_id="s1")
    assert [run.id for run in await Runs(conversation).newest()] == ["r2", "r1"]
    assert [run.id for run in await Runs(conversation).newest(session_id="s1")] == ["r2"]


async def test_a_finished_run_has_its_stop_reason_and_no_holder(database):
    await begin(database)
    run = await Runs(database).finish("r1", owner="a", **ENDING)
    assert (run.status, run.stop_reason, run.ended_at) == ("done", "answered", 8.0)
    assert (run.usage, run.lease_owner) == ({"turns": 2, "money": 0.25}, None)


async def test_a_held_run_cannot_be_claimed_and_the_holder_is_named(database):
    await begin(database)
    with pytest.raises(LeaseHeld, match="run r1 is held by a; it is free when") as refusal:
        await Runs(database).claim("r1", "b", 60)
    assert refusal.value.holder == "a"
    assert re.search(r"expires: try again in \d+ s$", str(refusal.value))


def number_of_a_process_that_has_ended():
    with subprocess.Popen([sys.executable, "-c", ""]) as process:
        process.wait()
    return process.pid


async def test_a_holder_that_has_ended_is_called_so(database):
    mine = new_owner()
    dead = mine.replace(f":{os.getpid()}:", f":{number_of_a_process_that_has_ended()}:")
    assert [has_ended(owner) for owner in (mine, dead, f"x{dead}", "a", "a:b:c")] == [
        *(False, True, False, False, False)
    ]
    await begin(database, owner=dead)
    if database.backend.is_of_this_machine:
        assert (await Runs(database).claim("r1", "b", 60)).lease_owner == "b"
        with pytest.raises(LeaseHeld, match="held by b"):
            await Runs(database).claim("r1", "c", 60)
        return
    # A machine of the same name may be another one.
    with pytest.raises(LeaseHeld, match=r"that process has ended, .*: try again in \d+ s$"):
        await Runs(database).claim("r1", "b", 60)


async def test_a_run_whose_lease_ran_out_can_be_claimed(database):
    await begin(database, seconds=0)
    assert (await Runs(database).claim("r1", "b", 60)).lease_owner == "b"


async def test_a_released_run_can_be_claimed(database):
    await begin(database)
    await Runs(database).release("r1", "a")
    assert (await Runs(database).claim("r1", "b", 60)).lease_owner == "b"


async def test_a_parked_run_has_a_lease_that_anyone_may_claim_once(database):
    await begin(database)
    parked = await Runs(database).park("r1", "a", 60)
    assert is_left(parked.lease_owner, parked.lease_until)
    assert (parked.lease_until or 0) > time.time()
    assert (await Runs(database).claim("r1", "b", 60)).lease_owner == "b"
    with pytest.raises(LeaseHeld):
        await Runs(database).claim("r1", "c", 60)
    with pytest.raises(LeaseHeld):
        await Runs(database).park("r1", "a", 60)


async def test_renewing_holds_a_run_for_longer(database):
    before = await begin(database, seconds=60)
    after = await Runs(database).renew("r1", "a", 600)
    assert after.lease_until > before.lease_until + 500


@pytest.mark.parametrize("verb", ["renew", "release", "finish"])
async def test_who_lost_a_run_can_do_nothing_to_it(database, verb):
    await begin(database, seconds=0)
    held = await Runs(database).claim("r1", "b", 60)
    attempts = {
        "renew": lambda: Runs(database).renew("r1", "a", 60),
        "release": lambda: Runs(database).release("r1", "a"),
        "finish": lambda: Runs(database).finish("r1", owner="a", **ENDING),
    }
    with pytest.raises(LeaseHeld, match="held by b"):
        await attempts[verb]()
    assert await Runs(database).get("r1") == held


async def test_a_run_that_is_done_cannot_be_claimed(database):
    await begin(database)
    await Runs(database).finish("r1", owner="a", **ENDING)
    with pytest.raises(InputError, match="run r1 is done; `oracle replay r1`"):
        await Runs(database).claim("r1", "b", 60)


async def test_an_unknown_run_is_an_error(database):
    with pytest.raises(NotFound, match="no run 'r1'; `oracle runs` shows"):
        await Runs(database).claim("r1", "b", 60)


CLAIMER = """
import asyncio, sys
from oracle.errors import LeaseHeld
from oracle.services.storage.database import Database
from oracle.services.storage.leases import has_ended, is_left
from oracle.services.storage.runs import Runs, new_owner

async def main(url, owner):
    async with await Database.open(url) as database:
        print("ready", flush=True)
        sys.stdin.readline()
        try:
            run = await Runs(database).claim("r1", owner, 60)
        except LeaseHeld as refusal:
            print(refusal.holder)
        else:
            print(run.lease_owner)

asyncio.run(main(*sys.argv[1:]))
"""


@pytest.fixture
def claimers(database_url):
    """Three processes that wait, and then print who holds the run."""
    address = database_url.with_password()
    pipes = {"stdin": PIPE, "stdout": PIPE, "text": True}
    processes = [
        Process([sys.executable, "-c", CLAIMER, address, owner], **pipes) for owner in "bcd"
    ]
    assert [process.stdout.readline() for process in processes] == ["ready\n"] * 3
    yield processes
    for process in processes:
        process.communicate()


async def test_of_processes_that_claim_at_once_one_wins_and_the_others_know_who(database, claimers):
    await begin(database, seconds=0)
    for process in claimers:
        process.stdin.write("go\n")
        process.stdin.flush()
    holders = {process.stdout.readline().strip() for process in claimers}
    assert holders == {(await Runs(database).get("r1")).lease_owner}
