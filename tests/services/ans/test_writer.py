"""The writer loses no event and keeps their order, whatever the database or the process does."""

import sqlite3
import subprocess
import sys
import threading
from functools import partial

import pytest

from oracle.errors import StoreError
from oracle.services.ans.bus import EventBus
from oracle.services.ans.event import Event
from oracle.services.ans.query import EventQuery
from oracle.services.ans.table import open_events, pages
from oracle.services.ans.writer import EventWriter, recording
from tests import processes


def event(number, **fields):
    payload = {"turns_without_signal": number}
    return Event(**{"type": "signal.missing", "source": "t", "payload": payload, **fields})


def numbers_in(table):
    stored = [stored for page in pages(table, EventQuery()) for stored in page]
    return [stored.event.payload["turns_without_signal"] for stored in stored]


class ShakyTable:
    """A table in memory. While `broken` is set, the database does not answer."""

    def __init__(self):
        self.rows = []
        self.broken = None
        self.attempts = threading.Semaphore(0)
        self.closed = 0

    def append(self, events):
        self.attempts.release()
        if self.broken:
            raise StoreError(self.broken)
        if any(event.source is None for event in events):
            raise ValueError("refused")
        self.rows.extend(events)

    def close(self):
        self.closed += 1

    @property
    def numbers(self):
        return [row.payload.get("turns_without_signal", row.type) for row in self.rows]


@pytest.fixture
def shaky():
    return ShakyTable()


@pytest.fixture
def writer(shaky):
    writer = EventWriter(lambda: shaky, gather=0, retry=0.001, bound=10)
    yield writer
    shaky.broken = None
    writer.close()


def test_everything_is_written_in_order_on_either_database(url, table):
    bus = EventBus()
    with recording(url, bus):
        for number in range(2500):
            bus.emit(event(number))
    bus.emit(event(-1))
    assert numbers_in(table) == list(range(2500))


def test_a_failing_subscriber_costs_the_writer_nothing(url, table):
    bus = EventBus()
    bus.subscribe(lambda _: 1 / 0)
    with recording(url, bus):
        bus.subscribe(lambda _: 1 / 0)
        bus.emit(event(1))
    assert numbers_in(table) == [1]


def test_flush_writes_what_waits_and_closing_may_happen_twice(shaky):
    writer = EventWriter(lambda: shaky, gather=3600)
    writer(event(1))
    assert writer.flush()
    assert shaky.numbers == [1]
    writer(event(2))
    writer.close()
    writer.close()
    assert (shaky.numbers, shaky.closed) == ([1, 2], 1)


def test_an_event_after_closing_is_written_too(writer, shaky):
    writer.close()
    writer(event(1))
    writer.close()
    assert shaky.numbers == [1]


def test_an_outage_is_reported_once_and_bridged(writer, shaky, caplog):
    shaky.broken = "database is locked"
    writer(event(1))
    for _ in range(3):
        assert shaky.attempts.acquire(timeout=10)
    writer(event(2))
    shaky.broken = None
    writer.close()
    assert shaky.numbers == [1, 2]
    assert [record.getMessage() for record in caplog.records] == [
        "events cannot be written: database is locked; up to 10 are kept in memory and tried again",
        "events are written again; 0 were dropped",
    ]


def test_what_memory_cannot_bridge_is_counted_in_the_table_itself(writer, shaky):
    shaky.broken = "disk is full"
    writer(event(0))
    assert shaky.attempts.acquire(timeout=10)
    assert not writer.flush()
    for number in range(1, 15):
        writer(event(number))
    shaky.broken = None
    writer.close()
    assert shaky.numbers == [*range(11), "events.dropped"]
    assert shaky.rows[-1].payload == {"count": 4}


def test_while_the_database_answers_any_number_may_wait(shaky):
    writer = EventWriter(lambda: shaky, gather=3600, bound=10)
    for number in range(5000):
        writer(event(number))
    writer.close()
    assert shaky.numbers == list(range(5000))


def test_lost_events_are_reported(shaky, caplog):
    shaky.broken = "disk is full"
    writer = EventWriter(lambda: shaky, gather=0, retry=3600)
    writer(event(1))
    writer(event(2))
    writer.close()
    assert "2 events are lost" in caplog.text


def test_the_others_are_written_when_the_database_refuses_one_event(writer, shaky, caplog):
    for number, source in enumerate(["t", None, "t"]):
        writer(event(number, source=source))
    writer.close()
    assert shaky.numbers == [0, 2]
    assert "the database refuses Event(type='signal.missing', source=None" in caplog.text


def test_a_table_that_cannot_be_opened_at_first_is_opened_later(shaky):
    opened = threading.Event()
    answers = iter([StoreError("not yet"), ImportError("no driver"), None])

    def open_table():
        if problem := next(answers):
            raise problem
        opened.set()
        return shaky

    writer = EventWriter(open_table, gather=0, retry=0)
    writer(event(1))
    assert opened.wait(10)
    writer.close()
    assert shaky.numbers == [1]


def test_a_locked_database_is_tried_again(sqlite_file, monkeypatch, caplog):
    monkeypatch.setattr("oracle.services.storage.sqlite.BUSY_SECONDS", 0)
    other = sqlite3.connect(sqlite_file, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    writer = EventWriter(partial(open_events, sqlite_file), gather=3600)
    writer(event(1))
    assert not writer.flush()
    assert "oracle.db is being written by another process" in caplog.text
    other.execute("COMMIT")
    writer.close()
    assert other.execute("SELECT count(*) FROM events").fetchone() == (1,)
    other.close()


PROGRAM = """
import os, sys
from oracle.services.ans.bus import get_event_bus
from oracle.services.ans.event import Event
from oracle.services.ans.table import open_events
from oracle.services.ans.writer import EventWriter

def emit(*numbers):
    for number in numbers:
        payload = {"turns_without_signal": number}
        get_event_bus().emit(Event(type="signal.missing", source="t", payload=payload))

writer = EventWriter(lambda: open_events(sys.argv[1]))
get_event_bus().subscribe(writer)
"""


def run_program(body, *arguments, first=""):
    command = [sys.executable, "-c", first + PROGRAM + body, *map(str, arguments)]
    # A fresh interpreter, because the order of the first import matters.
    run = subprocess.run if first else processes.run
    return run(command, capture_output=True, text=True, timeout=300)


@pytest.mark.parametrize(
    ("ending", "code"),
    [("", 0), ("raise RuntimeError('the end')", 1), ("sys.exit(3)", 3)],
    ids=["returning", "exception", "exit"],
)
def test_a_process_that_ends_at_once_loses_nothing(url, table, ending, code):
    result = run_program(f"emit(*range(2_000))\n{ending}", url)
    assert result.returncode == code, result.stderr
    assert numbers_in(table) == list(range(2_000))


@pytest.mark.extra
def test_an_event_from_the_last_breath_of_a_process_is_written(url, table):
    """The function that is registered first for the exit is called last, after the writer's end."""
    first = "import atexit\natexit.register(lambda: emit(2))\n"
    result = run_program("emit(1)", url, first=first)
    assert (result.returncode, result.stderr) == (0, "")
    assert numbers_in(table) == [1, 2]


def test_parent_and_child_of_a_fork_write_their_own_events_once(url, table):
    body = """
emit(*range(100))
writer.flush()
emit(*range(100, 200))
if (child := os.fork()) == 0:
    emit(*range(1000, 1100))
    sys.exit()
emit(*range(200, 300))
assert os.waitpid(child, 0)[1] == 0
emit(*range(300, 400))
"""
    result = run_program(body, url)
    assert result.returncode == 0, result.stderr
    written = numbers_in(table)
    assert [number for number in written if number < 1000] == list(range(400))
    assert [number for number in written if number >= 1000] == list(range(1000, 1100))


def test_a_full_disk_is_reported_and_survived(sqlite_file):
    body = """
import resource
limit = resource.RLIM_INFINITY
emit(0)
assert writer.flush()
resource.setrlimit(resource.RLIMIT_FSIZE, (os.path.getsize(sys.argv[2]), limit))
emit(*range(1, 3000))
assert not writer.flush()
resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
emit(3000)
"""
    result = run_program(body, sqlite_file, f"{sqlite_file}-wal")
    assert result.returncode == 0, result.stderr
    assert result.stderr.startswith("events cannot be written: ")
    assert result.stderr.endswith("events are written again; 0 were dropped\n")
    table = open_events(sqlite_file)
    assert numbers_in(table) == list(range(3001))
    table.close()
