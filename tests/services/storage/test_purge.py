import asyncio
import sqlite3
import time
from contextlib import closing

import pytest

from oracle.errors import LeaseHeld, NotFound
from oracle.services.journal.record import Place, Record
from oracle.services.journal.sinks import name_of
from oracle.services.journal.writer import journal_writer
from oracle.services.storage import purge, schema, sqlite
from oracle.services.storage.database import Database
from oracle.services.storage.exchanges import Exchanges
from oracle.services.storage.purge import Forgotten, forget, forget_session, keeping_for
from oracle.services.storage.records import insert
from oracle.services.storage.runs import Runs
from oracle.services.storage.sessions import Sessions

DAY = 86_400.0
OLD, NEW, BETWEEN = 10 * DAY, 1000 * DAY, 100 * DAY
SHARED, OWN, STRAY = "a" * 64, "b" * 64, "c" * 64


async def add_run(database, name, at, *, session=None, texts=(), held=False):
    """A run with a record that names its texts, an event, a report, and rows of the queue."""
    await Runs(database).begin(
        run_id=name,
        question="why?",
        tree="t",
        at=at,
        owner="me",
        lease_seconds=60 if held else 0,
        session_id=session,
    )
    event = {"type": "run.started", "source": "s", "severity": "info", "payload": {}, "at": at}
    record = {"seq": 1, "kind": "start", "body": " ".join(texts), "at": at}
    report = {"id": f"of {name}", "run_id": name, "body": {}, "created_at": at}
    await add_rows(database, schema.journal, {"run_id": name, **record})
    await add_rows(database, schema.events, {"run_id": name, **event})
    await add_rows(database, schema.shadow_reports, report)
    queued = {"request": {}, "failures": 0, "problem": {}, "at": at}
    await add_rows(database, schema.run_queue, {"run_id": name, **queued})
    await add_rows(database, schema.run_chunks, {"run_id": name, "seq": 0, "body": "[]"})
    await add_rows(database, schema.run_commands, {"run_id": name, "body": {}, "at": at})


async def add_rows(database, table, *rows):
    await database.write(lambda c: [insert(c, table, row) for row in rows])


async def add_texts(database, used_at):
    rows = [{"hash": h, "body": f"text {h}", "used_at": at} for h, at in used_at.items()]
    await add_rows(database, schema.blobs, *rows)


async def counts(database):
    return await database.read(
        lambda c: {name: c.first(f"SELECT count(*) FROM {name}") for name in schema.TABLES}
    )


@pytest.fixture
async def old_and_new(database, exchange):
    """An old session of two exchanges, an old run alone, and a new session; each with a run."""
    for session, at in [("old", OLD), ("new", NEW)]:
        await Sessions(database).create(session_id=session, title=session, at=at)
    await Exchanges(database).append(exchange("e1", session="old"))
    await Exchanges(database).append(exchange("e2", "e1", session="old"))
    await add_texts(database, {SHARED: NEW, OWN: OLD, STRAY: OLD})
    await add_run(database, "r1", OLD, session="old", texts=[SHARED, OWN])
    await add_run(database, "r2", OLD)
    await add_run(database, "r3", NEW, session="new", texts=[SHARED])
    return database


async def test_what_is_old_goes_with_all_its_traces(old_and_new):
    gone = await forget(old_and_new, before=BETWEEN)
    assert gone == Forgotten(sessions=1, exchanges=2, runs=2, events=2, texts=2)
    left = await counts(old_and_new)
    empty = ("context_nodes", "api_tokens", "run_workers", "spend", "spend_totals")
    assert {left.pop(name) for name in empty} == {0}
    assert set(left.values()) == {1}


async def test_pretending_counts_the_same_and_deletes_nothing(old_and_new):
    before = await counts(old_and_new)
    would_go = await forget(old_and_new, before=BETWEEN, pretend=True)
    assert await counts(old_and_new) == before
    assert await forget(old_and_new, before=BETWEEN) == would_go


async def test_a_session_is_forgotten_alone(old_and_new):
    gone = await forget_session(old_and_new, "ol")
    assert gone == Forgotten(sessions=1, exchanges=2, runs=1, events=1, texts=0)
    assert [run.id for run in await Runs(old_and_new).newest()] == ["r3", "r2"]


async def test_a_text_stays_while_a_run_may_name_it(database):
    """Whether one does is not looked up: that would mean to read every record there is."""
    await add_texts(database, {OWN: OLD, SHARED: OLD + 3 * DAY})
    await add_run(database, "r1", OLD + 5 * DAY)
    assert (await forget(database, before=OLD)).texts == 1
    assert await database.read(lambda c: c.firsts("SELECT hash FROM blobs")) == [SHARED]


async def test_a_text_that_a_run_uses_again_is_kept_from_then_on(database, database_url):
    await add_texts(database, {name_of("tree"): OLD})
    await Runs(database).begin(run_id="r1", question="q", tree="t", at=NEW, owner="me")
    writer = journal_writer(database_url, on_failure="stop")
    sink = writer.sink("r1", "me")
    sink.keep("tree")
    sink.keep("new")
    sink.append(Record(0, "start", Place("", 0, 0), {}))
    assert writer.close()
    assert (await forget(database, before=BETWEEN)).texts == 0
    used = await database.read(lambda c: c.firsts("SELECT used_at FROM blobs"))
    assert len(used) == 2
    assert all(at > NEW for at in used)


async def test_what_a_process_is_at_work_on_stays(database):
    await Sessions(database).create(session_id="s1", title="busy", at=OLD)
    await add_run(database, "r1", OLD, session="s1", held=True)
    await add_run(database, "r2", OLD, held=True)
    gone = await forget(database, before=BETWEEN)
    assert gone == Forgotten(sessions=0, exchanges=0, runs=0, events=0, texts=0)
    with pytest.raises(LeaseHeld, match="session s1 is in use: me is at work on run r1"):
        await forget_session(database, "s1")


async def test_a_run_that_was_let_go_is_forgotten(database):
    await add_run(database, "r1", OLD, held=True)
    await Runs(database).release("r1", "me")
    assert (await forget(database, before=BETWEEN)).runs == 1


async def test_what_is_older_than_the_days_to_keep_goes_by_itself(old_and_new, monkeypatch):
    """At once, and again every hour."""
    monkeypatch.setattr(purge, "SECONDS_BETWEEN_PURGES", 0.01)
    days = (time.time() - BETWEEN) / DAY
    async with keeping_for(days, old_and_new):
        while len(await Runs(old_and_new).newest()) > 1:
            pass
        later = {"run_id": "r4", "question": "q", "tree": "t", "at": OLD, "owner": "me"}
        await Runs(old_and_new).begin(**later, lease_seconds=0)
        while len(await Runs(old_and_new).newest()) > 1:
            pass
    assert [run.id for run in await Runs(old_and_new).newest()] == ["r3"]


async def test_without_a_number_of_days_everything_is_kept(old_and_new):
    async with keeping_for(None, old_and_new):
        await asyncio.sleep(0)
        assert len(await Runs(old_and_new).newest()) == 3


async def test_an_unknown_session_is_an_error(database):
    with pytest.raises(NotFound):
        await forget_session(database, "s1")


async def test_old_events_of_no_run_go(database):
    rows = [{"run_id": run, "at": at} for run, at in [(None, OLD), ("gone", OLD), (None, NEW)]]
    named = {"type": "events.dropped", "source": "s", "severity": "info", "payload": {}}
    await add_rows(database, schema.events, *({**named, **row} for row in rows))
    assert (await forget(database, before=BETWEEN)).events == 2


async def test_a_long_conversation_can_be_read_and_forgotten(database):
    """SQLite follows chains of triggers only a thousand links deep; ours must not need them."""
    await Sessions(database).create(session_id="s1", title="long", at=OLD)
    row = {"session_id": "s1", "question": "q", "answer": "a", "metadata": {}, "created_at": OLD}
    chain = [{**row, "id": f"e{n}", "parent_id": f"e{n - 1}" if n else None} for n in range(1500)]
    await add_rows(database, schema.context_nodes, *chain)
    assert len(await Exchanges(database).path_to("e1499")) == 1500
    assert (await forget(database, before=BETWEEN)).exchanges == 1500


async def test_more_sessions_than_a_statement_takes_are_forgotten(database):
    row = {"title": "t", "created_at": OLD, "updated_at": OLD}
    await add_rows(database, schema.sessions, *({**row, "id": f"s{n}"} for n in range(1200)))
    assert (await forget(database, before=BETWEEN)).sessions == 1200


@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
async def test_nothing_of_it_is_left_in_the_files(old_and_new, exchange, tmp_path):
    from dataclasses import replace

    secret = replace(exchange("e3", "e2", session="old"), answer="the word is swordfish" * 500)
    await Exchanges(old_and_new).append(secret)
    assert b"swordfish" in b"".join(file.read_bytes() for file in tmp_path.glob("oracle.db*"))
    await forget(old_and_new, before=BETWEEN)
    assert b"swordfish" not in b"".join(file.read_bytes() for file in tmp_path.glob("oracle.db*"))


async def test_traces_that_another_process_still_reads_are_reported(tmp_path, caplog, monkeypatch):
    monkeypatch.setattr(sqlite, "BUSY_SECONDS", 0.01)
    async with await Database.open(tmp_path / "o.db") as database:
        with closing(sqlite3.connect(tmp_path / "o.db", isolation_level=None)) as reader:
            reader.execute("BEGIN")
            reader.execute("SELECT * FROM sessions")
            await add_texts(database, {STRAY: OLD})
            await forget(database, before=BETWEEN)
    assert "o.db-wal until the other processes that use it have ended" in caplog.text
