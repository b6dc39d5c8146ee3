"""All that is stored comes to the other database, or nothing does."""

import json
import os
import sqlite3
from contextlib import closing

import pytest

from oracle.bt.wrappers.project_agent import project_agent
from oracle.bt.wrappers.run_store import open_store
from oracle.bt.wrappers.shadow_mode import ShadowMode
from oracle.errors import InputError, LeaseHeld, NotFound, StoreError
from oracle.models.session import Exchange
from oracle.models.stream_chunk import ChunkType
from oracle.services.ans.query import EventQuery
from oracle.services.ans.table import open_events
from oracle.services.storage import copying, schema
from oracle.services.storage.copying import COPIED, copy_database
from oracle.services.storage.database import Database, as_url
from oracle.services.storage.exchanges import Exchanges
from oracle.services.storage.integrity import flaws_of
from oracle.services.storage.leases import PARKED
from oracle.services.storage.records import insert
from oracle.services.storage.runs import Runs
from oracle.services.storage.sessions import Sessions
from oracle.settings import load_settings
from oracle.testing import ScriptedModel, signal
from tests import processes
from tests.scenarios import search

ENOUGH = "It is in `auth.py:1`." + signal("context_sufficient", sources_found=1)


def model():
    """Looks once in each run, then answers."""

    def reply(request):
        has_looked = any(message["role"] == "tool" for message in request.messages)
        return ENOUGH if has_looked else search(1)

    return ScriptedModel(reply, repeats_last=True)


def oracle(project, *arguments, database):
    return processes.run(
        [*processes.ORACLE, *arguments],
        cwd=project,
        env={
            **os.environ,
            "NO_COLOR": "1",
            "ORACLE_DATABASE_URL": database.with_password(),
        },
        capture_output=True,
        text=True,
    )


@pytest.fixture
async def used(tmp_path):
    """A project with a conversation, a comparison of loops, and a run that was interrupted."""
    root = tmp_path / "project"
    root.mkdir()
    (root / "auth.py").write_text("def login():\n    return True\n")
    url = as_url(root / "oracle.db")
    (root / "oracle.toml").touch()
    async with open_store(url) as store:
        agent = project_agent(load_settings(root), root=root, model=model(), store=store)
        first = [chunk async for chunk in agent.process_query("Where is login defined?")][-1]
        await ShadowMode(agent.setup, store, money=0.25).compare(first["run_id"])
        run = agent.new_run("Who calls login?", first["context_id"])
        async for chunk in run.chunks():
            if chunk.type == ChunkType.TURN_END:
                run.hand_over()
    return root, url, first["run_id"], run.tree.id


async def content_of(url):
    async with await Database.open(url) as database:
        return await database.read(
            lambda c: {
                name: sorted(map(repr, c.rows(copying._select(table))))
                for name, table in COPIED.items()
            }
        )


async def test_a_used_database_comes_to_postgresql_and_back_whole(used, tmp_path, postgresql_url):
    _, url, _, interrupted = used
    before = await content_of(url)
    filled = {name for name, rows in before.items() if rows}
    assert filled >= {"sessions", "context_nodes", "runs", "journal", "blobs", "events"}
    assert "shadow_reports" in filled
    there = await copy_database(url, postgresql_url)
    assert {t.name: t.rows for t in there.tables} == {n: len(rows) for n, rows in before.items()}
    assert there.unfinished == (interrupted,)
    assert flaws_of(postgresql_url) == []
    back = as_url(tmp_path / "back.db")
    assert await copy_database(postgresql_url, back) == there
    after = await content_of(back)
    # JSON may come back with other spaces and another order of its keys; the digest says the same.
    for name in set(before) - {"context_nodes", "runs", "events", "shadow_reports"}:
        assert after[name] == before[name], name
    assert {n: len(rows) for n, rows in after.items()} == {n: len(r) for n, r in before.items()}


@pytest.mark.extra
async def test_a_copied_run_is_replayed_resumed_and_audited(used, postgresql_url):
    root, url, done, interrupted = used
    replays = [oracle(root, "replay", done, database=url).stdout]
    copied = oracle(
        root, "database", "copy", "oracle.db", postgresql_url.with_password(), database=url
    )
    assert copied.returncode == 0, copied.stderr
    assert interrupted[:8] in copied.stderr
    replays.append(oracle(root, "replay", done, database=postgresql_url).stdout)
    assert replays[0] == replays[1] != ""
    events = oracle(root, "audit", "--run", interrupted, "--json", database=postgresql_url)
    assert "run.started" in events.stdout
    async with open_store(postgresql_url) as store:
        agent = project_agent(load_settings(root), root=root, model=model(), store=store)
        said = [chunk async for chunk in agent.resume(interrupted)]
        assert said[-1]["stop_reason"] in ("answered", "partial_answer")
    assert flaws_of(postgresql_url) == []
    # New events are numbered after those that were copied.
    newest = open_events(postgresql_url)
    try:
        [last] = newest.read(EventQuery(after=newest.last_id() - 1))
    finally:
        newest.close()
    assert last.event.run_id == interrupted


@pytest.fixture
async def small(database, exchange):
    await Sessions(database).create(session_id="s1", title="On tea", at=1.0)
    await Runs(database).begin(
        run_id="r1", question="q", tree="t", at=1.0, owner="host:1:a", lease_seconds=0
    )
    return database


@pytest.fixture
def target(request, database_url, tmp_path):
    """Of the other kind."""
    if database_url.kind == "sqlite":
        return request.getfixturevalue("postgresql_url")
    return as_url(tmp_path / "target.db")


async def test_an_exchange_that_is_older_than_the_one_it_continues_is_copied(small, target):
    """By the clock, which may be wrong."""
    for name, parent, at in [("e1", None, 9.0), ("e2", "e1", 5.0), ("e3", "e2", 1.0)]:
        await Exchanges(small).append(
            Exchange(
                id=name,
                session_id="s1",
                parent_id=parent,
                question="q",
                answer="ä\U0001f375\\u0000",
                metadata={"usage": {"money": 1e3, "tokens": 10**20}, "x": [1.5, None, "\ud800"]},
                created_at=at,
            )
        )
    copied = await copy_database(small.url, target)
    assert {t.name: t.rows for t in copied.tables}["context_nodes"] == 3
    async with await Database.open(target) as there:
        assert await Exchanges(there).path_to("e3") == await Exchanges(small).path_to("e3")


async def test_a_run_that_is_worked_on_is_named_and_nothing_is_copied(small, target):
    await Runs(small).claim("r1", "host:2:b")
    with pytest.raises(LeaseHeld, match=r"works on r1 \(host:2:b\)"):
        await copy_database(small.url, target)
    await Runs(small).park("r1", "host:2:b", 3600)
    assert (await copy_database(small.url, target)).unfinished == ("r1",)
    async with await Database.open(target) as there:
        assert (await Runs(there).get("r1")).lease_owner == PARKED


async def test_a_target_that_is_not_empty_is_refused(small, target):
    await copy_database(small.url, target)
    with pytest.raises(InputError, match="is not empty: it has 1 rows in sessions"):
        await copy_database(small.url, target)


async def test_nothing_is_copied_if_something_was_stored_differently(small, target, monkeypatch):
    """Here a driver that loses a character."""

    class Losing(copying._Digest):
        def add(self, row):
            super().add(tuple("On te" if value == "On tea" else value for value in row))

    kept = copying._Digest
    digests = iter([kept] * len(COPIED) + [Losing] * len(COPIED))
    monkeypatch.setattr(copying, "_Digest", lambda table: next(digests)(table))
    with pytest.raises(StoreError, match="did not store sessions as it was"):
        await copy_database(small.url, target)
    assert not any((await content_of(target)).values())


async def test_a_source_that_changes_meanwhile_is_noticed(small, target, monkeypatch):
    copy_table = copying._copy_table

    def and_write(table, source, written):
        copied = copy_table(table, source, written)
        if table is schema.journal:
            row = {"run_id": "r1", "seq": 0, "kind": "start", "body": "[]", "at": 1.0}
            with small._begin_writing() as connection:
                insert(connection, schema.journal, row)
        return copied

    monkeypatch.setattr(copying, "_copy_table", and_write)
    with pytest.raises(StoreError, match="was written to while it was copied"):
        await copy_database(small.url, target)
    assert not any((await content_of(target)).values())


async def test_a_text_that_postgresql_cannot_store_is_named(tmp_path, postgresql_url):
    async with await Database.open(tmp_path / "o.db") as database:
        await Sessions(database).create(session_id="s1", title="t", at=1.0)
    with closing(sqlite3.connect(tmp_path / "o.db")) as raw, raw:
        raw.execute("UPDATE sessions SET title = 'a' || char(0)")
    with pytest.raises(InputError, match="title in sessions 's1' has a character"):
        await copy_database(as_url(tmp_path / "o.db"), postgresql_url)


async def test_a_source_that_does_not_exist_is_not_made(tmp_path):
    with pytest.raises(NotFound, match="does not exist"):
        await copy_database(as_url(tmp_path / "no.db"), as_url(tmp_path / "to.db"))
    assert [*tmp_path.iterdir()] == []


async def test_a_database_is_not_copied_to_itself(small):
    with pytest.raises(InputError, match="to itself"):
        await copy_database(small.url, small.url)


def test_the_copy_is_shown_as_json_too(tmp_path):
    (tmp_path / "oracle.toml").touch()
    url = as_url(tmp_path / "o.db")
    assert oracle(tmp_path, "ask", "--model", "embedded", "Hello!", database=url).returncode == 0
    shown = oracle(tmp_path, "database", "copy", "o.db", "to.db", "--json", database=url)
    tables = {table["name"]: table["rows"] for table in json.loads(shown.stdout)["tables"]}
    assert tables["runs"] == 1
