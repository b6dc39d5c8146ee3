"""Front ends and workers that are killed, suspended and stopped: every run ends, and no client
loses anything.
"""

import asyncio
import json
import signal
from contextlib import AsyncExitStack

import pytest

from oracle.services.storage.database import Database
from oracle.services.storage.integrity import flaws_of
from tests.faults.chaos import WORDS, Model, approve_all, holders, team_of
from tests.faults.test_killed_server import client_of, heard, recorded

CLIENTS = 6


async def asked(client, number, run_ids):
    """Ask, and hear the run up to the middle of its answer; different clients hear differently
    much.
    """
    events, event = {}, {}
    body = {"question": f"Where is login defined? ({number})"}
    async with client.stream("POST", "/api/oracle/stream", json=body) as response:
        run_ids.append(response.headers["Oracle-Run"])
        async for line in response.aiter_lines():
            name, _, value = line.partition(": ")
            if name:
                event[name] = value
                continue
            if "id" in event:
                data = json.loads(event["data"])
                events[event["id"]] = (data["type"], data.get("content"))
                if WORDS[2 * number] in str(data.get("content")):
                    return events
            event = {}
    return events


async def until_done(client, number, last):
    """As a browser does: a stream that ends early is asked for again."""
    rest = {}
    while not rest or [*rest.values()][-1][0] != "done":
        rest |= await heard(client, number, last=[*rest][-1] if rest else last)
    return rest


@pytest.mark.extra
async def test_nothing_is_lost_when_workers_and_front_ends_die(tmp_path, postgresql_url):
    model = Model()
    async with AsyncExitStack() as stack:
        team = await stack.enter_async_context(team_of(tmp_path, postgresql_url, model))
        front_end, address = await team.front_end()
        killed, suspended, stopped = [await team.worker() for _ in range(3)]
        run_ids = []
        async with client_of(address) as client:
            approving = asyncio.create_task(approve_all(client, run_ids))
            before = await asyncio.gather(*(asked(client, n, run_ids) for n in range(CLIENTS)))
            approving.cancel()
            front_end.send_signal(signal.SIGKILL)
        database = await stack.enter_async_context(await Database.open(postgresql_url))
        held = [*(await holders(database)).values()]
        assert all(held.count(each.pid) == 2 for each in (killed, suspended, stopped)), held
        killed.send_signal(signal.SIGKILL)
        suspended.send_signal(signal.SIGSTOP)
        model.stalls = False
        stopped.send_signal(signal.SIGTERM)
        assert await asyncio.to_thread(stopped.wait, 120) == 0
        await team.worker()
        _, address = await team.front_end()
        client = await stack.enter_async_context(client_of(address))
        rest = await asyncio.gather(
            *(until_done(client, n, [*events][-1]) for n, events in enumerate(before))
        )
        # Runs of a worker that only slept have ended elsewhere. It notices, and ends in order.
        suspended.send_signal(signal.SIGCONT)
        suspended.send_signal(signal.SIGTERM)
        assert await asyncio.to_thread(suspended.wait, 120) == 0
        for events, more in zip(before, rest, strict=True):
            assert not events.keys() & more.keys()
            whole = {**events, **more}
            run_id = next(iter(whole)).partition(":")[0]
            assert [*whole] == [f"{run_id}:{number}" for number in range(len(whole))]
            assert await recorded(client, run_id) == whole
        assert await holders(database) == {}
        assert flaws_of(postgresql_url) == []
        notes = sorted(path.read_text() for path in tmp_path.rglob("*ote*.md"))
        assert len(notes) == CLIENTS
        assert all(f"Of run {n}." in note for n, note in enumerate(notes)), notes
