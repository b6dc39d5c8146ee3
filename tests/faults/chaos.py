"""A team of front ends and workers on one PostgreSQL, to which bad things happen.

`rampage` is one attempt, the same for the same seed as far as processes allow it. It checks that
every run ends, that every client gets its whole stream, that all of it is on record, and that no
write happens twice. The first flaw ends the attempt, and says what the processes did.
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
CHUNKS_OF_RUN = 40
"""A run says a few more."""
IS_READY = "stop with Ctrl-C"
SECONDS_TO_RESTART = 0.5
SECONDS = 900
"""Of one attempt. None takes as long, also on a machine that does much else."""
LINES_OF_EVIDENCE = 30
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
        """A process, and the line that says that it is ready, or its last line."""
        command = [*ORACLE, *arguments]
        process = Process(command, cwd=self.root, env=self.environment, stderr=PIPE, text=True)
        self.processes.append(process)
        said = self.said[process.pid] = deque(maxlen=1000)
        loop, ready = asyncio.get_running_loop(), asyncio.get_running_loop().create_future()
        # To the end: a process that says much would wait for ever until somebody reads it.
        reading = threading.Thread(target=_read, args=(process, said, loop, ready), daemon=True)
        reading.start()
        return process, await ready

    async def supervised(self, *arguments):
        """Started again, as systemd does it, as long as the database is away."""
        while True:
            process, line = await self.start(*arguments)
            if IS_READY in line:
                return process, line
            code = await asyncio.to_thread(process.wait, 60)
            assert code == os.EX_IOERR, f"{arguments} ended with {code}: {line}"
            await asyncio.sleep(SECONDS_TO_RESTART)

    async def worker(self, concurrency=3):  # two runs of one user: a place is kept for others
        """One that hands its runs over as soon as it is stopped."""
        command = ["worker", "--concurrency", str(concurrency), "--drain", "0"]
        return (await self.supervised(*command))[0]

    async def front_end(self):
        process, line = await self.supervised("serve", "--port", "0", "--workers", "0")
        return process, re.search(r"http://\S+", line).group()


def _read(process, said, loop, ready):
    def tell(line):
        if not ready.done():
            ready.set_result(line)

    with process.stderr as stream, suppress(RuntimeError):  # the event loop may be closed
        for line in stream:
            said.append(line)
            if IS_READY in line:
                loop.call_soon_threadsafe(tell, line)
        loop.call_soon_threadsafe(tell, said[-1] if said else "")


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
    while True:
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
    """`group` has the tasks of everything that happens, so that the first flaw ends it all."""

    def __init__(self, team, database, group, *, seed, runs, strikes):
        self.team = team
        self.database = database
        self.group = group
        self.random = random.Random(seed)
        self.struck = Struck()
        # Room for all runs in each worker, also for those whose client never heard the reply.
        self.concurrency = 4 * runs
        # After so many chunks of all clients together something happens.
        moments = sorted(self.random.sample(range(runs, CHUNKS_OF_RUN * runs), len(strikes)))
        self.to_come = deque(zip(moments, strikes, strict=True))
        self.heard = 0
        self.workers = []
        self.address = ""
        self.front_end = None

    async def begin(self):
        self.workers = [await self.team.worker(self.concurrency) for _ in range(WORKERS)]
        self.front_end, self.address = await self.team.front_end()

    def hear(self):
        self.heard += 1
        while self.to_come and self.heard >= self.to_come[0][0]:
            _, what = self.to_come.popleft()
            self.struck.strikes.append(what)
            self.group.create_task(self.strike(what))

    async def strike(self, what):
        match what:
            case "front end":
                self.front_end.send_signal(signal.SIGKILL)
                self.front_end, self.address = await self.team.front_end()
            case "server":
                await asyncio.to_thread(crash_server, self.database.url)
            case _ if self.workers:
                victim = self.workers.pop(self.random.randrange(len(self.workers)))
                lost = {id_ for id_, pid in (await self.holders()).items() if pid == victim.pid}
                victim.send_signal(signal.SIGKILL if what == "worker" else signal.SIGSTOP)
                self.group.create_task(self.watch(what, victim, lost))
                self.workers.append(await self.team.worker(self.concurrency))

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


class Client:
    """Listens to one run until `done`, at whatever front end there is, and approves what is asked:
    at once, and again after each break, as the front end may have died with the answer.
    """

    def __init__(self, chaos, number, run_id=None):
        self.chaos = chaos
        self.number = number
        self.run_id = run_id
        self.events = {}

    @property
    def has_heard_all(self):
        return bool(self.events) and [*self.events.values()][-1][0] == "done"

    async def listen(self):
        while not self.has_heard_all:
            with suppress(httpx.HTTPError):
                async with client_of(self.chaos.address) as client:
                    await self._connect(client)
            await asyncio.sleep(0.2)
        return self

    async def _connect(self, client):
        if self.run_id is None:
            # If the reply is lost, the run goes on without its client.
            self.chaos.struck.asked[self.number] += 1
            body = {"question": f"Where is login defined? ({self.number})"}
            stream = client.stream("POST", "/api/oracle/stream", json=body)
        else:
            await approve(client, self.run_id)
            headers = {"Last-Event-ID": [*self.events][-1]} if self.events else {}
            stream = client.stream("GET", f"/api/runs/{self.run_id}/stream", headers=headers)
        event = {}
        async with stream as response:
            self.run_id = response.headers.get("Oracle-Run", self.run_id)
            async for line in response.aiter_lines():
                name, _, value = line.partition(": ")
                if name:
                    event[name] = value
                    continue
                if "id" in event:
                    await self._hear(client, event)
                event = {}

    async def _hear(self, client, event):
        data = json.loads(event["data"])
        assert event["id"] not in self.events, f"{event} was heard before"
        self.events[event["id"]] = (data["type"], data.get("content"))
        self.chaos.hear()
        if data["type"] == "approval":
            await approve(client, self.run_id)


async def rampage(root, url, *, seed, runs, strikes=STRIKES):
    began = time.monotonic()
    model = Model()
    model.stalls = False
    async with AsyncExitStack() as stack:
        team = await stack.enter_async_context(team_of(root, url, model))
        database = await stack.enter_async_context(await Database.open(url))
        try:
            async with asyncio.timeout(SECONDS):
                struck = await survived(team, database, seed=seed, runs=runs, strikes=strikes)
        except Exception as problem:
            problem.add_note(await evidence(team, database))
            raise
        assert flaws_of(url) == []
        # A note may be missing: nobody knows whether a write that was cut off has happened.
        notes = Counter(
            int(re.search(r"Of run (\d+)\.", path.read_text()).group(1))
            for path in root.rglob("*ote*.md")
        )
        assert all(count <= struck.asked[number] for number, count in notes.items()), notes
        struck.lines = sum(map(len, team.said.values()))
        struck.seconds = time.monotonic() - began
        return struck


async def survived(team, database, *, seed, runs, strikes):
    """All that has happened, when every run has ended and was found whole."""
    room = asyncio.Semaphore(CLIENTS_AT_ONCE)

    async def client_number(chaos, number):
        async with room:
            return await Client(chaos, number).listen()

    async with asyncio.TaskGroup() as group:
        chaos = Chaos(team, database, group, seed=seed, runs=runs, strikes=strikes)
        await chaos.begin()
        listening = [group.create_task(client_number(chaos, number)) for number in range(runs)]
    clients = [task.result() for task in listening]
    # Those whose question was stored, but whose client has not heard the reply, end as well.
    others = [Client(chaos, -1, run_id) for run_id in await chaos.holders()]
    clients += await asyncio.gather(*(each.listen() for each in others))
    store = RunStore(database.seen_by(EVERYBODY))
    async with client_of(chaos.address) as client:
        for each in clients:
            assert [*each.events] == [f"{each.run_id}:{n}" for n in range(len(each.events))]
            assert await recorded(client, each.run_id) == each.events
            told = await retold(store, await store.runs.get(each.run_id))
            assert (told.not_replayed, told.run.status) == ("", "done")
    return chaos.struck


async def evidence(team, database):
    """What the processes said last, and the runs that have not ended."""
    found = [f"{pid}: {line}" for pid, said in team.said.items()
             for line in [*said][-LINES_OF_EVIDENCE:]]  # fmt: skip
    with suppress(OracleError):
        unfinished = await Runs(database.seen_by(EVERYBODY)).unfinished()
        found += [f"not ended: {run}\n" for run in unfinished]
    return "".join(found)
