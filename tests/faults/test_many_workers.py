"""Front ends and workers that are killed, suspended and stopped: every run ends, and no client
loses anything.
"""

import asyncio
import json
import os
import random
import re
import signal
from contextlib import AsyncExitStack, asynccontextmanager, suppress

import httpx
import pytest

from oracle.services.storage.database import Database
from oracle.services.storage.integrity import flaws_of
from oracle.services.storage.runs import Runs
from oracle.services.storage.users import EVERYBODY
from oracle.testing import signal as signal_of_model
from oracle.testing.servers import openai
from oracle.testing.servers.scripted import Reply, ScriptedServer, Stall
from tests.faults.test_killed_server import client_of, heard, recorded
from tests.processes import ORACLE, PIPE, Process

CLIENTS = 6
STRIKES = 6
MOST_CONNECTIONS = 1000
"""Of one client, each some time after the one before: then the run hangs."""
WORDS = [f"word{number} " for number in range(40)]
END = "It is in `auth.py:1`." + signal_of_model("context_sufficient")
ASK = "Hm." + signal_of_model("need_capability", capability="write_note", reason="to keep it")


class Model:
    """Searches, asks to write a note, writes it, and then answers. While it `stalls` it stops in
    the middle of its answer.
    """

    stalls = True

    def __call__(self, request):
        messages = request.body["messages"]
        number = re.search(r"\((\d+)\)", json.dumps(messages)).group(1)
        calls = sum(message["role"] == "tool" for message in messages)
        if calls == 0:
            call = openai.tool_call("c1", "search_code", '{"query": "login"}')
            return Reply(body=openai.stream(call))
        if "write_note" not in json.dumps(request.body.get("tools", [])):
            return Reply(body=openai.stream(openai.text(ASK)))
        if calls == 1:
            note = json.dumps({"title": f"Note {number}", "content": f"Of run {number}."})
            return Reply(body=openai.stream(openai.tool_call("c2", "write_note", note)))
        whole = openai.stream(openai.text(*WORDS, END))
        return Reply(body=[*whole[: len(WORDS) // 2], Stall()] if self.stalls else whole)


class Team:
    """Processes of one project that share a database and a model."""

    def __init__(self, root, database, model_url):
        self.root = root
        self.environment = {
            **os.environ,
            "ORACLE_DATABASE_URL": database.with_password(),
            "ORACLE_MODEL_NAME": "openai:m",
            "ORACLE_MODEL_BASE_URL": model_url,
            "OPENAI_API_KEY": "k",
        }
        self.processes = []

    async def start(self, *arguments):
        """A process, and the line that says that it is ready."""
        command = [*ORACLE, *arguments]
        process = Process(command, cwd=self.root, env=self.environment, stderr=PIPE, text=True)
        self.processes.append(process)
        return process, await asyncio.to_thread(process.stderr.readline)

    async def worker(self):
        """One that holds two runs at once, and hands them over as soon as it is stopped."""
        return (await self.start("worker", "--concurrency", "2", "--drain", "0"))[0]

    async def front_end(self):
        process, line = await self.start("serve", "--port", "0", "--workers", "0")
        return process, re.search(r"http://\S+", line).group()


@asynccontextmanager
async def team_of(root, database, model):
    (root / "oracle.toml").touch()
    (root / "auth.py").write_text("def login():\n    return True\n")
    async with ScriptedServer(model, endless=True) as server:
        team = Team(root, database, f"{server.url}/v1")
        try:
            yield team
        finally:
            for process in team.processes:
                process.send_signal(signal.SIGCONT)
                process.send_signal(signal.SIGKILL)
            for process in team.processes:
                await asyncio.to_thread(process.wait, 60)


async def approve_all(client, run_ids):
    """As a person would who looks at the page now and then."""
    while True:
        for run_id in list(run_ids):
            await approve(client, run_id)
        await asyncio.sleep(0.1)


async def approve(client, run_id):
    for asked in (await client.get(f"/api/runs/{run_id}/approvals")).json():
        path = f"/api/runs/{run_id}/approvals/{asked['id']}"
        await client.post(path, json={"approve": True})


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


async def holders(database):
    found = await Runs(database.seen_by(EVERYBODY)).unfinished()
    return {run.id: int((run.lease_owner or "::").split(":")[1] or 0) for run in found}


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


class Chaos:
    """Does something bad to the team, chosen by a seed, each time that a client has heard a little
    more.
    """

    def __init__(self, team, database, seed):
        self.team = team
        self.database = database
        self.random = random.Random(seed)
        self.workers = []
        self.address = ""
        self.front_end = None
        self.left = STRIKES

    async def begin(self):
        self.workers = [await self.team.worker() for _ in range(3)]
        self.front_end, self.address = await self.team.front_end()

    async def strike(self):
        self.left -= 1
        match self.random.randrange(5):
            case 0:
                self.front_end.send_signal(signal.SIGKILL)
                self.front_end, self.address = await self.team.front_end()
            case 1:
                await self.database.write(lambda connection: connection.rows(CUT_OFF))
            case 2:
                victim = self.workers.pop(self.random.randrange(len(self.workers)))
                victim.send_signal(signal.SIGSTOP)
                self.workers.append(await self.team.worker())
                # The next line runs when the new worker is ready: sometimes past the lease.
                victim.send_signal(signal.SIGCONT)
                victim.send_signal(signal.SIGTERM)
            case _:
                victim = self.workers.pop(self.random.randrange(len(self.workers)))
                victim.send_signal(signal.SIGKILL)
                self.workers.append(await self.team.worker())


CUT_OFF = (
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
    "WHERE datname = current_database() AND pid <> pg_backend_pid()"
)
"""As a restart of the server does: all other connections are lost."""


async def whole_stream(chaos, number, striking):
    """Listen until `done`, at whatever front end there is, and approve what is asked: at once, and
    again after each break, as the front end may have died with the answer.
    """
    events, event, run_id, breaks = {}, {}, None, chaos.random.sample(range(5, 60), 3)
    for _ in range(MOST_CONNECTIONS):
        if events and [*events.values()][-1][0] == "done":
            return events
        with suppress(httpx.HTTPError):
            async with client_of(chaos.address) as client:
                headers = {"Last-Event-ID": [*events][-1]} if events else {}
                body = {"question": f"Where is login defined? ({number})"}
                path = "/api/oracle/stream" if run_id is None else f"/api/runs/{run_id}/stream"
                method = "POST" if run_id is None else "GET"
                more = {"json": body} if run_id is None else {}
                if run_id is not None:
                    await approve(client, run_id)
                async with client.stream(method, path, headers=headers, **more) as response:
                    run_id = response.headers.get("Oracle-Run", run_id)
                    async for line in response.aiter_lines():
                        name, _, value = line.partition(": ")
                        if name:
                            event[name] = value
                            continue
                        if "id" in event:
                            data = json.loads(event["data"])
                            assert event["id"] not in events
                            events[event["id"]] = (data["type"], data.get("content"))
                            if data["type"] == "approval":
                                await approve(client, run_id)
                            if len(events) in breaks and chaos.left and not striking.locked():
                                async with striking:
                                    await chaos.strike()
                        event = {}
        event = {}
        await asyncio.sleep(0.2)
    pytest.fail(f"run {run_id} does not end")


@pytest.mark.extra
@pytest.mark.parametrize("seed", range(int(os.environ.get("CHAOS_SEEDS", "2"))))
async def test_nothing_is_lost_whatever_dies_and_when(tmp_path, postgresql_url, seed):
    model = Model()
    model.stalls = False
    async with AsyncExitStack() as stack:
        team = await stack.enter_async_context(team_of(tmp_path, postgresql_url, model))
        database = await stack.enter_async_context(await Database.open(postgresql_url))
        chaos = Chaos(team, database, seed)
        await chaos.begin()
        striking = asyncio.Lock()
        streams = await asyncio.gather(*(whole_stream(chaos, n, striking) for n in range(CLIENTS)))
        assert chaos.left < STRIKES
        client = await stack.enter_async_context(client_of(chaos.address))
        for events in streams:
            run_id = next(iter(events)).partition(":")[0]
            assert [*events] == [f"{run_id}:{number}" for number in range(len(events))]
            assert await recorded(client, run_id) == events
        assert await holders(database) == {}
        assert flaws_of(postgresql_url) == []
        # A note may be missing: nobody knows whether a write that was cut off has happened.
        notes = [path.read_text() for path in tmp_path.rglob("*ote*.md")]
        assert len(notes) == len(set(notes)) <= CLIENTS
