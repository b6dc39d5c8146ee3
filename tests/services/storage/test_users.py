"""Each user sees their own rows. Those of others are like rows that do not exist."""

import asyncio
from contextlib import closing

import pytest

from oracle.errors import NotFound
from oracle.models.session import LOCAL, Exchange
from oracle.services.ans.event import Event
from oracle.services.ans.query import EventQuery
from oracle.services.ans.table import open_events
from oracle.services.storage import schema
from oracle.services.storage.database import Database
from oracle.services.storage.exchanges import Exchanges
from oracle.services.storage.migrations import MIGRATIONS
from oracle.services.storage.naming import Naming, short_run_ids
from oracle.services.storage.purge import forget_session
from oracle.services.storage.runs import Runs
from oracle.services.storage.sessions import Sessions
from oracle.services.storage.users import EVERYBODY, seen

IDS = {LOCAL: "aaaa1111", "ann": "aaaa2222", "bob": "bbbb3333"}


@pytest.fixture
async def shared(database):
    """One session, one exchange, one run and one event of each user."""
    for user, id_ in IDS.items():
        await add(database.seen_by(user), id_)
    with closing(open_events(database.url)) as table:
        table.append([event(id_) for id_ in (*IDS.values(), None, "unstored")])
    return database


async def add(own, id_):
    question = {"question": "why?", "tree": "oracle-agent", "owner": "me", "lease_seconds": 0.0}
    await Runs(own).begin(run_id=id_, at=1.0, session_id=id_, opens_session=True, **question)
    await Exchanges(own).append(
        Exchange(id=id_, session_id=id_, question="why?", answer="so", created_at=1.0)
    )


def event(run_id):
    return Event(type="run.started", source="test", payload={}, run_id=run_id, turn=None, at=1.0)


@pytest.mark.parametrize("user", IDS)
async def test_a_user_lists_and_finds_only_what_is_theirs(shared, user):
    own, id_ = shared.seen_by(user), IDS[user]
    assert [run.id for run in await Runs(own).newest()] == [id_]
    assert [run.id for run in await Runs(own).unfinished()] == [id_]
    assert [one.session.id for one in await Sessions(own).newest()] == [id_]
    assert (await Naming(own).run(id_[:1])).user_id == user
    assert (await Naming(own).session()).user_id == user
    assert [one.id for one in await Exchanges(own).path_to(id_)] == [id_]
    assert await short_run_ids(own, [id_]) == {id_: id_}
    assert set(await Sessions(own).endings([*IDS.values()])) == {id_}


@pytest.mark.parametrize("user", IDS)
async def test_what_belongs_to_others_is_like_what_does_not_exist(shared, user):
    own = shared.seen_by(user)
    theirs = next(id_ for other, id_ in IDS.items() if other != user)
    reaching = [
        lambda id_: Runs(own).get(id_),
        lambda id_: Runs(own).claim(id_, "me", 1.0),
        lambda id_: Sessions(own).get(id_),
        lambda id_: Sessions(own).rename(id_, "mine"),
        lambda id_: forget_session(own, id_),
        lambda id_: Exchanges(own).get(id_),
        lambda id_: Exchanges(own).path_to(id_),
        lambda id_: go_on(own, id_),
    ]
    for reach in reaching:
        with pytest.raises(NotFound) as refused:
            await reach(theirs)
        # Also not as a hint: "did you mean" and "it is a run" would give it away.
        assert str(refused.value).count(theirs) == 1
        with pytest.raises(NotFound) as unknown:
            await reach("zzzz9999")
        assert str(refused.value).replace(theirs, "zzzz9999") == str(unknown.value)
    assert await Exchanges(own).of_session(theirs) == []
    assert (await Sessions(shared.seen_by(EVERYBODY)).get(theirs)).title == "why?"


async def go_on(own, session_id):
    question = {"question": "and?", "tree": "oracle-agent", "owner": "me", "lease_seconds": 0.0}
    await Runs(own).begin(run_id="new", at=2.0, session_id=session_id, **question)


async def test_events_belong_to_the_user_of_their_run(shared):
    def ids(user):
        with closing(open_events(shared.url, user)) as table:
            assert table.run_beginning("bbbb") == (IDS["bob"] if user == "bob" else None)
            return [stored.event.run_id for stored in table.read(EventQuery())]

    assert ids("ann") == [IDS["ann"]]
    assert ids("bob") == [IDS["bob"]]
    assert ids(LOCAL) == [IDS[LOCAL], None, "unstored"]


async def test_work_of_several_users_that_is_written_together_stays_apart(database):
    users = [f"user{n}" for n in range(20)]
    await asyncio.gather(*(add(database.seen_by(user), f"run-of-{user}") for user in users))
    found = await Runs(database.seen_by(EVERYBODY)).newest()
    assert {run.user_id: run.id for run in found} == {user: f"run-of-{user}" for user in users}


async def test_old_rows_belong_to_the_local_user(database_url):
    async with await Database.open(database_url, migrations=MIGRATIONS[:6]) as old:
        as_then = (
            "INSERT INTO sessions (id, title, created_at, updated_at) VALUES ('s1', 'kept', 1, 1)"
        )
        await old.write(lambda c: c.execute(as_then))
    async with await Database.open(database_url) as database:
        assert (await Sessions(database).get("s1")).user_id == LOCAL
        with pytest.raises(NotFound):
            await Sessions(database.seen_by("ann")).get("s1")


SHARED = {
    "journal": "read by the id of a run",
    "blobs": "read by their hash, which a journal names",
    "api_tokens": "not read for a user",
    "run_queue": "read by the id of a run",
    "run_chunks": "read by the id of a run",
    "run_commands": "read by the id of a run",
    "run_workers": "not of a user",
    "spend": "read by the id of a run",
    "spend_totals": "read by the name of a user, or of a project for all of its users",
}


@pytest.mark.parametrize("table", schema.TABLES)
def test_each_table_has_a_rule_or_a_reason(table):
    assert table in SHARED or "user_id" in seen(table, "ann").sql
