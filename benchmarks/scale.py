"""What a queued run costs with 1, 2 and 4 workers, and what that means for 10 to 100,000 at once.

`BENCH_SCALE_RUNS=20` asks fewer questions. The workers are processes of their own. This process is
the front end: it stores the questions and follows the streams. The model is the embedded one.

- CPU: of all workers, without that of their start; of this process; and of PostgreSQL.
- Dispatch: the CPU of this process for all that a run needs from the queue, without the run itself.
- Rows, bytes of the log, bytes on disk, notifications and connections: as PostgreSQL counts them.

The second part is arithmetic on these figures, with the assumptions that it prints: which part is
the first to be fully used at each size, and what helps.
"""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from benchmarks.many import FILES, _in_a_fresh_process, ask_many, postgresql, small_project
from benchmarks.measure import report

RUNS = int(os.environ.get("BENCH_SCALE_RUNS", "60"))
IDLE_QUESTIONS = 12
MOST_DISPATCH_MS = 5.0
MOST_START_MS = 200.0
MOST_CLAIM_RATIO = 1.5
ORACLE = [sys.executable, "-c", "from oracle.cli.main import run; run()"]


@dataclass
class Load:
    """Of `runs` questions; times in seconds, the rest for all of them together."""

    workers: int
    runs: int
    wall: float = 0.0
    worker_cpu: float = 0.0
    front_end_cpu: float = 0.0
    server_cpu: float = 0.0
    rows: int = 0
    log_bytes: int = 0
    disk_bytes: int = 0
    commits: int = 0
    notices: int = 0
    connections: int = 0
    starts: list[float] = field(default_factory=list[float])

    def each(self, name: str) -> float:
        return getattr(self, name) / self.runs


def run() -> None:
    with postgresql() as url:
        if url is None:
            print("        no PostgreSQL: its server is not installed")
            return
        alone = _in_a_fresh_process(ask_many, "embedded", url, RUNS)
        plain = alone.cpu / RUNS
        loads = [_measured(url, workers) for workers in (1, 2, 4)]
        _report_loads(loads, plain, asyncio.run(_dispatch_ms(url)))
        _report_claims(url)
    simulate(loads[0])


def _report_loads(loads: Sequence[Load], plain: float, dispatch: float) -> None:
    print(f"        {RUNS} questions; without a queue {plain * 1e3:.1f} ms CPU each, PostgreSQL")
    for load in loads:
        print(
            f"        {load.workers} worker(s): {load.runs / load.wall:.1f} runs/s; CPU ms each: "
            f"worker {load.each('worker_cpu') * 1e3:.1f}, front end "
            f"{load.each('front_end_cpu') * 1e3:.1f}, "
            f"PostgreSQL {load.each('server_cpu') * 1e3:.1f}"
        )
    one = loads[0]
    print(
        f"        each run: {one.each('rows'):.0f} rows, {one.each('commits'):.0f} commits, "
        f"{one.each('log_bytes') / 1024:.0f} KB of log, {one.each('disk_bytes') / 1024:.0f} KB on "
        f"disk, {one.each('notices'):.0f} notices; a worker and a front end have "
        f"{one.connections} connections"
    )
    report("dispatch: store, enqueue, claim, publish, finish; CPU", f"{dispatch:.1f} ms",
           f"at most {MOST_DISPATCH_MS:g} ms", dispatch <= MOST_DISPATCH_MS)  # fmt: skip
    starts = sorted(one.starts)
    p95 = starts[int(0.95 * (len(starts) - 1))] * 1e3
    report("from the question to the first record, idle, p95", f"{p95:.0f} ms",
           f"at most {MOST_START_MS:g} ms", p95 <= MOST_START_MS)  # fmt: skip


# -- measuring -------------------------------------------------------------------------------------


def _measured(url: str, workers: int) -> Load:
    import psycopg

    name = f"scale_{workers}"
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}".encode())
    address = psycopg.conninfo.make_conninfo(url, dbname=name)
    own = url.replace("/postgres?", f"/{name}?")
    assert own != url, address
    with small_project(own) as folder:
        start_up = _start_up(folder)
        return asyncio.run(_load(folder, own, workers, start_up))


@contextmanager
def _worker(folder: Path) -> Iterator[list[float]]:
    """A worker that is ready. The list gets the CPU seconds of its whole life."""
    process = subprocess.Popen(
        [*ORACLE, "worker", "--concurrency", "8", "--model", "embedded", "--drain", "0"],
        cwd=folder,
        stderr=subprocess.PIPE,
    )
    assert process.stderr is not None
    process.stderr.readline()
    used: list[float] = []
    try:
        yield used
    finally:
        process.send_signal(signal.SIGTERM)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = status
        process.stderr.close()
        used.append(usage.ru_utime + usage.ru_stime)


def _start_up(folder: Path) -> float:
    """CPU seconds of a worker that does nothing."""
    with _worker(folder) as used:
        pass
    return used[0]


async def _load(folder: Path, url: str, workers: int, start_up: float) -> Load:
    from contextlib import ExitStack

    from oracle.api.metrics import Metrics
    from oracle.api.workers.queued_runs import opened_queue
    from oracle.bt.wrappers.project_agent import project_agent
    from oracle.bt.wrappers.run_store import open_store
    from oracle.services.storage.database import as_url
    from oracle.settings import load_settings

    load = Load(workers, RUNS)
    settings = load_settings(folder)
    async with open_store(as_url(url)) as store:
        agent = project_agent(settings, root=folder, store=store)
        async with opened_queue(agent, store, Metrics(), RUNS) as queue:
            with ExitStack() as processes:
                used = [processes.enter_context(_worker(folder)) for _ in range(workers)]
                for number in range(IDLE_QUESTIONS):
                    await queue.ask(_question(number)).end()
                with _Counted(url, load):
                    wall, cpu = time.perf_counter(), time.process_time()
                    asked = [queue.ask(_question(number)) for number in range(RUNS)]
                    await asyncio.gather(*(each.end() for each in asked))
                    load.wall = time.perf_counter() - wall
                    load.front_end_cpu = time.process_time() - cpu
    share = RUNS / (RUNS + IDLE_QUESTIONS)
    load.worker_cpu = share * (sum(each[0] for each in used) - workers * start_up)
    load.starts = _first_records(url)[:IDLE_QUESTIONS]
    return load


def _question(number: int) -> str:
    return f"Where is handler_{number % FILES} defined?"


def _first_records(url: str) -> list[float]:
    """Seconds from the question to the first record, in the order of the questions."""
    import psycopg

    with psycopg.connect(url) as connection:
        rows = connection.execute(
            "SELECT j.at - r.started_at FROM runs r JOIN journal j ON j.run_id = r.id "
            "WHERE j.seq = 0 ORDER BY r.started_at"
        ).fetchall()
    return [float(seconds) for (seconds,) in rows]


class _Counted:
    """What PostgreSQL counts between the beginning and the end of the block."""

    def __init__(self, url: str, load: Load) -> None:
        import psycopg

        self._load = load
        self._connection = psycopg.connect(url, autocommit=True)
        self._connection.execute("LISTEN oracle_runs")
        ((name,),) = self._connection.execute("SELECT current_database()").fetchall()
        self._name = name

    def __enter__(self) -> None:
        self._before = self._now()

    def __exit__(self, *_: object) -> None:
        # The server writes its counts down after a second.
        time.sleep(1.5)
        after = self._now()
        changed = {name: after[name] - self._before[name] for name in after}
        for name in ("rows", "commits", "log_bytes", "disk_bytes", "server_cpu"):
            setattr(self._load, name, changed[name])
        self._load.notices = sum(1 for _ in self._connection.notifies(timeout=0.1))
        ((count,),) = self._connection.execute(
            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"
        ).fetchall()
        # Without this one; each worker has as many as the others.
        self._load.connections = round((count - 1) / (self._load.workers + 1) * 2)
        self._connection.close()

    def _now(self) -> dict[str, float]:
        row = self._connection.execute(
            "SELECT tup_inserted + tup_updated + tup_deleted, xact_commit, "
            "pg_current_wal_lsn() - '0/0', pg_database_size(datname), "
            "(SELECT pid FROM pg_stat_activity WHERE backend_type = 'checkpointer') "
            "FROM pg_stat_database WHERE datname = %s",
            [self._name],
        ).fetchone()
        assert row is not None
        rows, commits, log, disk, of_server = map(float, row)
        return {
            "rows": rows,
            "commits": commits,
            "log_bytes": log,
            "disk_bytes": disk,
            "server_cpu": _cpu_of_family(_parent(int(of_server))),
        }


def _stat(process: int) -> list[str]:
    return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()


def _parent(process: int) -> int:
    return int(_stat(process)[1])


def _cpu_of_family(parent: int) -> float:
    """Seconds of a process and its children, also of those that have ended."""
    ticks = sum(map(int, _stat(parent)[11:15]))
    for name in os.listdir("/proc"):
        try:
            if name.isdecimal() and _parent(int(name)) == parent:
                ticks += sum(map(int, _stat(int(name))[11:13]))
        except OSError:
            continue  # it has just ended
    return ticks / os.sysconf("SC_CLK_TCK")


async def _dispatch_ms(url: str, jobs: int = 100) -> float:
    """For one run, the best of three rounds: what front end and worker do around a run."""
    from oracle.services.dispatch.commands import Commands
    from oracle.services.dispatch.opening import open_dispatcher
    from oracle.services.dispatch.queue import Queue
    from oracle.services.dispatch.streams import Streams
    from oracle.services.storage.database import Database
    from oracle.services.storage.runs import QUEUED, Runs

    own = url.replace("/postgres?", "/scale_1?")
    async with await Database.open(own) as database, open_dispatcher(database, "d") as dispatcher:
        runs, queue = Runs(database), Queue(database, "d")
        streams, commands = Streams(database), Commands(database)

        async def one(run_id: str) -> None:
            given = {"question": "q", "tree": "t", "at": time.time(), "project": "d"}
            await runs.begin(run_id=run_id, owner=None, door=QUEUED, request={"a": 1}, **given)
            await dispatcher.enqueue(run_id)
            job = await dispatcher.claim(5)
            assert job is not None
            run, _ = await queue.look_at(job.run_id)
            await runs.begin_queued(run.id, "me", "t")
            await commands.of_run(run.id)
            for number in range(3):
                await streams.append(run.id, "me", number, [{"type": "content", "content": "x"}])
            await runs.finish(run.id, owner="me", stop_reason="answered", usage={}, at=time.time())
            await queue.ended(run.id)
            await dispatcher.finish(job)

        best = float("inf")
        for turn in range(3):
            before = time.process_time()
            for number in range(jobs):
                await one(f"dispatch-{turn}-{number}")
            best = min(best, (time.process_time() - before) / jobs)
    return best * 1e3


def _report_claims(url: str) -> None:
    few, many = (asyncio.run(_claim_seconds(url, waiting)) for waiting in (10, 10_000))
    ratio = many / few
    report("a claim with 10,000 waiting runs, to one with 10",
           f"{many * 1e3:.2f} ms, ratio {ratio:.2f}", f"at most {MOST_CLAIM_RATIO:g}",
           ratio <= MOST_CLAIM_RATIO)  # fmt: skip


async def _claim_seconds(url: str, waiting: int) -> float:
    """The shortest of some claims: the machine is busy with other things."""
    from oracle.services.dispatch.opening import open_dispatcher
    from oracle.services.storage.database import Database

    own = url.replace("/postgres?", "/scale_1?")
    async with await Database.open(own) as database, open_dispatcher(database, "x") as dispatcher:
        await dispatcher.enqueue("claim")
        more = (
            "INSERT INTO procrastinate_jobs (queue_name, task_name, args, queueing_lock) "
            "SELECT queue_name, task_name, args, queueing_lock || n "
            f"FROM procrastinate_jobs, generate_series(2, {waiting}) AS n"
        )
        await database.write(lambda c: c.execute(more))
        await database.outside_transactions(lambda c: c.execute("ANALYZE procrastinate_jobs"))
        best = float("inf")
        for _ in range(10):
            began = time.perf_counter()
            job = await dispatcher.claim(0)
            best = min(best, time.perf_counter() - began)
            assert job is not None
            await dispatcher.finish(job)
        await database.write(lambda c: c.execute("DELETE FROM procrastinate_jobs"))
    return best


# -- beyond this machine ---------------------------------------------------------------------------

RUN_SECONDS = 30.0
"""With a language model, which takes most of that time."""
CHUNKS_PER_SECOND = 4.0
"""Batches of a run that streams: a model says more, a worker stores what came meanwhile."""
CORES_OF_SERVER = 16
MOST_USED = 0.7
"""Of any part. Beyond that, waiting grows quickly."""
RUNS_OF_WORKER = 64
STREAMS_OF_FRONT_END = 1000
CONNECTIONS_OF_SERVER = 500
COMMIT_SECONDS = 0.0005
"""During which a commit with a notice, or one of events, keeps the others waiting."""
DISK_BYTES_PER_SECOND = 200e6
CORE_HOUR, SERVER_CORE_HOUR, GB_MONTH = 0.04, 0.10, 0.12
DELIVERY_CPU = 20e-6
"""To wake a process that listens, and to find that the run is not one of its own."""


@dataclass(frozen=True)
class Design:
    name: str
    servers: int = 1
    shards_of_queue: int = 1
    """Databases among which projects are divided, each with its own queue and notices."""
    chunks_elsewhere: bool = False
    """Chunks go through a stream broker, and not through PostgreSQL."""


def simulate(load: Load) -> None:
    print(
        f"\n        assumed: {RUN_SECONDS:g} s a run, {CHUNKS_PER_SECOND:g} batches of chunks a "
        f"second, {RUNS_OF_WORKER} runs a worker, servers with {CORES_OF_SERVER} cores, "
        f"{MOST_USED:.0%} of each part at most"
    )
    for runs in (10, 1_000, 100_000):
        design = Design("one PostgreSQL")
        for step in range(6):
            used = utilisation(load, runs, design)
            first = max(used, key=lambda part: used[part])
            print(
                f"        {runs:>7,} runs at once, {design.name}: {first} at {used[first]:.0%}"
                f"{costs(load, runs, design) if used[first] <= MOST_USED else ''}"
            )
            if used[first] <= MOST_USED or step == 5:
                break
            design = _next_design(design, first, used[first])


def utilisation(load: Load, runs: int, design: Design) -> dict[str, float]:
    """How much of each shared part is used. Workers and front ends are added as needed."""
    rate = runs / RUN_SECONDS / design.shards_of_queue
    batches = 0.0 if design.chunks_elsewhere else runs * CHUNKS_PER_SECOND / design.shards_of_queue
    measured = load.each("server_cpu") / max(1.0, load.each("commits"))
    commits = rate * load.each("commits") + batches
    processes = (_workers(runs) + _front_ends(runs)) / design.shards_of_queue
    notices = rate * 3 + batches
    return {
        "CPU of PostgreSQL": commits * measured / CORES_OF_SERVER,
        "the log of PostgreSQL": (rate * load.each("log_bytes") + batches * 600)
        / DISK_BYTES_PER_SECOND,
        "connections": processes * load.connections / 2 / CONNECTIONS_OF_SERVER,
        "commits with notices, one at a time": notices * COMMIT_SECONDS,
        "commits of events, one at a time": min(rate * 3, processes * 20) * COMMIT_SECONDS,
        "a core of each process, for notices of others": notices * DELIVERY_CPU,
    }


def _next_design(design: Design, first: str, used: float) -> Design:
    """What helps most against the first limit."""
    if "notices" in first and not design.chunks_elsewhere:
        return replace(design, name=f"{design.name}, chunks through a broker",
                       chunks_elsewhere=True)  # fmt: skip
    # Room for twice the load, not just enough.
    shards = design.shards_of_queue
    while used * design.shards_of_queue / shards > MOST_USED / 2:
        shards *= 2
    broker = ", chunks through a broker" if design.chunks_elsewhere else ""
    return replace(design, name=f"{shards} PostgreSQL, projects divided{broker}",
                   servers=shards, shards_of_queue=shards)  # fmt: skip


def costs(load: Load, runs: int, design: Design) -> str:
    rate = runs / RUN_SECONDS
    cores = rate * (load.each("worker_cpu") + load.each("front_end_cpu")) / MOST_USED
    server = max(2.0, rate * load.each("server_cpu") / MOST_USED)
    gigabytes = rate * 86_400 * 30 * load.each("disk_bytes") / 1e9
    money = 730 * (max(1.0, cores) * CORE_HOUR + server * SERVER_CORE_HOUR) + gigabytes * GB_MONTH
    return (
        f"; {_workers(runs):,} workers and {_front_ends(runs):,} front ends on "
        f"{max(1, cores):,.0f} cores, {server:,.0f} cores of {design.servers} PostgreSQL, "
        f"{gigabytes:,.0f} GB a month: about {money:,.0f} a month"
    )


def _workers(runs: int) -> int:
    return max(2, -(-runs // RUNS_OF_WORKER))


def _front_ends(runs: int) -> int:
    return max(2, -(-runs // STREAMS_OF_FRONT_END))
