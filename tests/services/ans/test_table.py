"""The events table, on both databases: every query returns what was stored."""

import pytest

from oracle.errors import StoreError
from oracle.services.ans.event import Event, Severity
from oracle.services.ans.query import EventQuery
from oracle.services.ans.table import open_events, pages


def event(number, **fields):
    values = {"type": "signal.missing", "source": "t", "at": float(number), "run_id": "r1"}
    return Event(**{**values, "payload": {"turns_without_signal": number}, **fields})


def test_an_event_comes_back_as_it_was(table):
    before = event(
        1,
        severity=Severity.ERROR,
        turn=3,
        at=1767866400.123456,
        payload={"text": 'ä "quoted" \\u0000 \n', "deep": [{"x": None}, 1.5, True]},
    )
    table.append([before])
    (stored,) = table.read(EventQuery())
    assert stored.event == before
    assert table.last_id() == stored.id


def test_an_unknown_severity_reads_as_an_error(table):
    table.append([event(1, severity="fatal")])
    assert table.read(EventQuery())[0].event.severity is Severity.ERROR


def test_a_severity_that_is_not_a_name_is_damage(table):
    table.append([event(1, severity="\x1b[31mXX")])
    with pytest.raises(StoreError, match="severity in events 1 is"):
        table.read(EventQuery())


def test_an_empty_table_answers(table):
    assert (table.read(EventQuery()), table.last_id()) == ([], 0)


@pytest.fixture
def filled(table):
    table.append(
        [
            event(1),
            event(2, run_id="r2"),
            event(3, type="run.ended"),
            event(4, run_id=None, type="events.dropped"),
            event(5, run_id="r2", type="run.ended"),
        ]
    )
    return table


@pytest.mark.parametrize(
    ("query", "times"),
    [
        ({}, [1, 2, 3, 4, 5]),
        ({"run_id": "r2"}, [2, 5]),
        ({"types": frozenset({"run.ended"})}, [3, 5]),
        ({"types": frozenset({"run.ended", "events.dropped"})}, [3, 4, 5]),
        ({"since": 3.0}, [3, 4, 5]),
        ({"limit": 2}, [1, 2]),
        ({"after": 3}, [4, 5]),
        ({"run_id": "r1", "types": frozenset({"run.ended"}), "since": 2.5}, [3]),
        ({"run_id": "nobody"}, []),
    ],
)
def test_questions(filled, query, times):
    assert [stored.event.at for stored in filled.read(EventQuery(**query))] == times


def test_pages_together_are_everything(filled):
    sizes = [[stored.id for stored in page] for page in pages(filled, EventQuery(limit=2))]
    assert sizes == [[1, 2], [3, 4], [5]]


def test_a_batch_is_written_whole_or_not_at_all(table):
    with pytest.raises(Exception, match=r"(?i)null"):
        table.append([event(1), event(2, source=None)])
    table.append([event(3)])
    assert [stored.event.at for stored in table.read(EventQuery())] == [3]


@pytest.mark.parametrize("where", ["sqlite:////nowhere/x.db", "postgresql://127.0.0.1:1/x"])
def test_a_missing_database_is_reported_as_missing(where):
    with pytest.raises(StoreError):
        open_events(where)
