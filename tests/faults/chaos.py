"""A team of front ends and workers on one PostgreSQL, to which bad things happen.

`rampage` is one attempt, the same for the same seed as far as processes allow it. It checks that
every run ends, that every client gets its whole stream, that all of it is on record, and that no
write happens twice.
"""

import asyncio
import json
import os
import random
import re
import signal
import threading
import time
from collections import Counter, deque
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field

import httpx
import psycopg

from oracle.bt.wrappers.retelling import retold
from oracle.bt.wrappers.run_store import RunStore
from oracle.errors import OracleError
from oracle.services.storage.database import Database
from oracle.services.storage.integrity import flaws_of
from oracle.services.storage.runs import Runs
from oracle.services.storage.users import EVERYBODY
from oracle.testing import signal as signal_of_model
from oracle.testing.servers import openai
from oracle.testing.servers.scripted import Reply, ScriptedServer, Stall
from tests.faults.test_killed_server import client_of, recorded
from tests.processes import ORACLE, PIPE, Process

WORKERS = 3
CLIENTS_AT_ONCE = 50
STRIKES = ("worker", "server", "asleep", "front end", "worker", "server", "asleep", "worker")
"""What happens, one after the other, each time that clients have heard a little more."""
MOST_CONNECTIONS = 1000
"""Of one client, each some time after the one before: then the run hangs."""
MOST_STARTS = 20
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
            # All clients have the same address here.
            "ORACLE_SERVER_REQUESTS_PER_MINUTE": "off",
            "ORACLE_SERVER_MOST_RUNS_OF_USER": "1000",
        }
        self.processes = []
        self.said = {}

    async def start(self, *arguments):
        """A process, and the line that says that it is ready."""
        command = [*ORACLE, *arguments]
        process = Process(command, cwd=self.root, env=self.environment, stderr=PIPE, text=True)
        self.processes.append(process)
        ready = await asyncio.to_thread(process.stderr.readline)
        # A process that says much would wait for ever until somebody reads it.
        said = self.said[process.pid] = deque(maxlen=1000)
        threading.Thread(target=said.extend, args=(process.stderr,), daemon=True).start()
        return process, ready

    async def supervised(self, *arguments):
        """Started again, as systemd does it, if it ends because the database is away just then."""
        for _ in range(MOST_STARTS):
            process, line = await self.start(*arguments)
            if "stop with Ctrl-C" in line:
                return process, line
            await asyncio.to_thread(process.wait, 60)
        raise AssertionError(f"{arguments} does not start: {line}")

    async def worker(self, concurrency=3):  # two runs of one user: a place is kept for others
        """One that hands its runs over as soon as it is stopped."""
        command = ["worker", "--concurrency", str(concurrency), "--drain", "0"]
        return (await self.supervised(*command))[0]

    async def front_end(self):
        process, line = await self.supervised("serve", "--port", "0", "--workers", "0")
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
    """Until it is accepted: while the database starts again, the front end refuses it."""
    for _ in range(MOST_CONNECTIONS):
        waiting = await client.get(f"/api/runs/{run_id}/approvals")
        replies = [waiting]
        for asked in waiting.json() if waiting.is_success else ():
            path = f"/api/runs/{run_id}/approvals/{asked['id']}"
            replies.append(await client.post(path, json={"approve": True}))
        if all(reply.status_code < 500 for reply in replies):
            return
        await asyncio.sleep(0.2)


async def holders(database):
    found = await Runs(database.seen_by(EVERYBODY)).unfinished()
    return {run.id: int((run.lease_owner or "::").split(":")[1] or 0) for run in found}


@dataclass
class Struck:
    """What was done to the team, and how long the runs of a worker waited for another one."""

    strikes: list[str] = field(default_factory=list)
    recoveries: dict[str, list[float]] = field(default_factory=lambda: {"worker": [], "asleep": []})
    """Seconds, after a worker was killed, and after one fell asleep."""
    asked: Counter[int] = field(default_factory=Counter)
    seconds: float = 0.0
    lines: int = 0
    """Of the logs of all processes."""


class Chaos:
    def __init__(self, team, database, seed, runs):
        self.team = team
        self.database = database
        self.random = random.Random(seed)
        self.struck = Struck()
        # Two workers have room for all runs, so that those of a third need not wait for a place.
        self.concurrency = -(-runs // 2) + 2
        # After so many chunks of all clients together something happens.
        most = 40 * runs
        self.moments = sorted(self.random.sample(range(runs, most), len(STRIKES)))
        self.heard = 0
        self.workers = []
        self.address = ""
        self.front_end = None
        self.watching = []

    async def begin(self):
        self.workers = [await self.team.worker(self.concurrency) for _ in range(WORKERS)]
        self.front_end, self.address = await self.team.front_end()

    async def hear(self):
        self.heard += 1
        if self.moments and self.heard >= self.moments[0]:
            self.moments.pop(0)
            what = STRIKES[len(self.struck.strikes)]
            self.struck.strikes.append(what)
            await self.strike(what)

    async def strike(self, what):
        match what:
            case "front end":
                self.front_end.send_signal(signal.SIGKILL)
                self.front_end, self.address = await self.team.front_end()
            case "server":
                await asyncio.to_thread(crash_server, self.database.url)
            case "worker":
                victim = await self.lose(what)
                victim.send_signal(signal.SIGKILL)
                self.workers.append(await self.team.worker(self.concurrency))
            case _:
                victim = await self.lose(what)
                victim.send_signal(signal.SIGSTOP)
                self.workers.append(await self.team.worker(self.concurrency))

    async def lose(self, what):
        """A worker, with somebody who watches how long its runs wait."""
        victim = self.workers.pop(self.random.randrange(len(self.workers)))
        held = await self.holders()
        lost = {run_id for run_id, process in held.items() if process == victim.pid}
        self.watching.append(asyncio.create_task(self.watch(what, victim, lost)))
        return victim

    async def watch(self, what, victim, lost):
        began = time.monotonic()
        while lost:
            held = await self.holders()
            free = {run_id for run_id in lost if held.get(run_id) not in (victim.pid, 0)}
            self.struck.recoveries[what] += [time.monotonic() - began] * len(free)
            lost = lost - free
            await asyncio.sleep(0.1)
        # One that only slept finds out that its runs are not its own any more, and ends in order.
        victim.send_signal(signal.SIGCONT)
        victim.send_signal(signal.SIGTERM)

    async def holders(self):
        """The process of each run that is not done, as soon as the database can be asked."""
        while True:
            with suppress(OracleError):
                return await holders(self.database)
            await asyncio.sleep(0.1)


def crash_server(url):
    """Kill a process of PostgreSQL: it then ends all the others, and starts again from its log."""
    with suppress(psycopg.Error), psycopg.connect(url.with_password()) as connection:
        os.kill(connection.info.backend_pid, signal.SIGKILL)
        connection.execute("SELECT 1")


async def whole_stream(chaos, number):
    """Listen until `done`, at whatever front end there is, and approve what is asked: at once, and
    again after each break, as the front end may have died with the answer.
    """
    events, event, run_id = {}, {}, None
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
                else:
                    # If the reply is lost, the run goes on without its client.
                    chaos.struck.asked[number] += 1
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
                            await chaos.hear()
                            if data["type"] == "approval":
                                await approve(client, run_id)
                        event = {}
        event = {}
        await asyncio.sleep(0.2)
    raise AssertionError(f"run {run_id} does not end")


async def rampage(root, url, *, seed, runs):
    began = time.monotonic()
    model = Model()
    model.stalls = False
    async with AsyncExitStack() as stack:
        team = await stack.enter_async_context(team_of(root, url, model))
        database = await stack.enter_async_context(await Database.open(url))
        chaos = Chaos(team, database, seed, runs)
        await chaos.begin()
        room = asyncio.Semaphore(CLIENTS_AT_ONCE)

        async def client_number(number):
            async with room:
                return await whole_stream(chaos, number)

        streams = await asyncio.gather(*map(client_number, range(runs)))
        await asyncio.gather(*chaos.watching)
        client = await stack.enter_async_context(client_of(chaos.address))
        store = RunStore(database.seen_by(EVERYBODY))
        for events in streams:
            run_id = next(iter(events)).partition(":")[0]
            assert [*events] == [f"{run_id}:{number}" for number in range(len(events))]
            assert await recorded(client, run_id) == events
            told = await retold(store, await store.runs.get(run_id))
            assert (told.not_replayed, told.run.status) == ("", "done")
        assert flaws_of(url) == []
        # A note may be missing: nobody knows whether a write that was cut off has happened.
        notes = Counter(
            int(re.search(r"Of run (\d+)\.", path.read_text()).group(1))
            for path in root.rglob("*ote*.md")
        )
        assert all(count <= chaos.struck.asked[number] for number, count in notes.items()), notes
        chaos.struck.lines = sum(map(len, team.said.values()))
        chaos.struck.seconds = time.monotonic() - began
        return chaos.struck
