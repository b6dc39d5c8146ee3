"""Following other processes: each event once, in order, through restarts of the database."""

import os
import signal
import sys
from contextlib import closing
from functools import partial
from itertools import islice

import psycopg
import pytest

from oracle.services.ans.event import Event
from oracle.services.ans.follow import follow
from oracle.services.ans.query import EventQuery
from oracle.services.ans.table import open_events
from tests.processes import ORACLE, PIPE, Process

PROGRAM = """
import sys
from oracle.services.ans.bus import get_event_bus
from oracle.services.ans.event import Event
from oracle.services.ans.writer import recording

with recording(sys.argv[1]) as writer:
    for number in range(int(sys.argv[2])):
        payload = {"turns_without_signal": number}
        get_event_bus().emit(Event(type="signal.missing", source=sys.argv[3], payload=payload))
        if number % 10 == 0:
            writer.flush()
"""


def emitting_process(url, count, name):
    return Process([sys.executable, "-c", PROGRAM, url, str(count), name])


def event(number=0, **fields):
    return Event(**{"type": "signal.missing", "source": str(number), **fields})


def heard(pages):
    """The events one by one. Empty pages are skipped."""
    return (stored for page in pages for stored in page)


def test_processes_that_write_at_once_are_heard_completely_and_in_order(url, open_table):
    with closing(follow(open_table, EventQuery())) as pages:
        assert next(pages) == []
        processes = [emitting_process(url, 300, name) for name in "ab"]
        stored = list(islice(heard(pages), 600))
        assert [process.wait(30) for process in processes] == [0, 0]
        assert next(pages) == []
    assert [s.id for s in stored] == sorted({s.id for s in stored})
    for name in "ab":
        numbers = [
            s.event.payload["turns_without_signal"] for s in stored if s.event.source == name
        ]
        assert numbers == list(range(300))


def test_only_events_of_the_query_are_heard(open_table, table):
    query = EventQuery(types=frozenset({"signal.missing"}))
    with closing(follow(open_table, query)) as pages:
        assert next(pages) == []
        table.append([event(1, type="run.ended"), event(2)])
        assert next(heard(pages)).event.source == "2"


only_postgresql = pytest.mark.parametrize("database_url", ["postgresql"], indirect=True)


@only_postgresql
def test_a_lost_connection_is_made_again_and_nothing_is_missed(
    open_table, postgresql_server, caplog
):
    pages = follow(open_table, EventQuery())
    append(open_table, event(1))
    assert [stored.event.source for stored in next(pages)] == ["1"]
    assert next(pages) == []
    end_connections(postgresql_server)
    append(open_table, event(2))
    heard = [stored.event.source for page in islice(pages, 9) for stored in page]
    pages.close()
    assert heard == ["2"]
    assert caplog.text.count("events cannot be read") == 1


def append(open_table, event):
    with closing(open_table()) as table:
        table.append([event])


def end_connections(server):
    with psycopg.connect(server) as connection:
        connection.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname LIKE 'test_%'"
        )


@only_postgresql
def test_postgresql_wakes_who_waits_and_is_not_asked_meanwhile(open_table, table):
    assert table.wait(300)
    assert not table.wait(0)
    append(open_table, event())
    assert table.wait(300)


def test_a_database_that_is_away_is_reported_once(tmp_path, caplog):
    pages = follow(partial(open_events, tmp_path / "nothing.db"), EventQuery())
    assert list(islice(pages, 3)) == [[], [], []]
    pages.close()
    assert caplog.text.count("nothing.db cannot be opened") == 1


def test_the_terminal_follows_on_either_database(url, table):
    environment = {**os.environ, "ORACLE_DATABASE_URL": url}
    table.append([event("earlier")])
    pipes = {"stdout": PIPE, "stderr": PIPE, "text": True}
    with Process([*ORACLE, "audit", "--follow"], env=environment, **pipes) as process:
        assert process.stderr.readline().startswith("oracle: waiting for events")
        table.append([event("now", run_id="r9")])
        assert process.stdout.readline().endswith("  r9  signal.missing\n")
        process.send_signal(signal.SIGTERM)
