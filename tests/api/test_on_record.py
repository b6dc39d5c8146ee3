"""What a client hears under a number is on record, whatever becomes of the run and its process."""

import asyncio

import pytest

from oracle.bt.wrappers.retelling import chunks_of
from oracle.services.storage.runs import Runs
from oracle.services.storage.users import EVERYBODY
from tests.api.test_asking import GatedModel, asked, found, look, streamed
from tests.api.test_workers import working

START = "It is in `auth.py:1`. <s"
"""The first part of the answer. Its end may be the beginning of a signal, so it is held back."""

REFUSE = {
    "sqlite": [
        "CREATE TRIGGER refuse BEFORE INSERT ON journal "
        "BEGIN SELECT RAISE(ABORT, 'no space left'); END"
    ],
    "postgresql": [
        "CREATE FUNCTION refused() RETURNS trigger LANGUAGE plpgsql AS "
        "$$ BEGIN RAISE EXCEPTION 'no space left'; END $$",
        "CREATE TRIGGER refuse BEFORE INSERT ON journal EXECUTE FUNCTION refused()",
    ],
}
ACCEPT = {
    "sqlite": ["DROP TRIGGER refuse"],
    "postgresql": ["DROP TRIGGER refuse ON journal", "DROP FUNCTION refused"],
}


class PausingModel(GatedModel):
    """Waits in the middle of its last reply until the gate is opened."""

    async def stream(self, request):
        is_last = len(self.requests) == len(self._replies) - 1
        parts = super(GatedModel, self).stream(request)
        yield await anext(parts)
        if is_last:
            self.is_reached.set()
            await self.gate.wait()
        async for part in parts:
            yield part


@pytest.fixture(autouse=True)
def database_of_all(database_url, monkeypatch):
    monkeypatch.setenv("ORACLE_DATABASE_URL", f"{database_url.with_password()}")


def paused():
    return PausingModel(look(), found(f"{START}o, or in `web.py:2`? The first one."))


def run_sql(server, statements):
    def execute(connection):
        for sql in statements:
            connection.execute(sql)

    server.run(server.door.store.database.write(execute))


def until_paused(events, model):
    heard = []
    for event in events:
        heard.append(event)
        if event[1] == "content":
            break
    assert model.is_reached.wait(20)
    return heard


def numbered(events):
    return [(id_, kind, data.get("content")) for id_, kind, data in events if id_ is not None]


def told(server, run_id, *, has_end=False):
    store = server.door.store.seen_by(EVERYBODY)
    chunks = server.run(chunks_of(store, run_id, has_end=has_end))
    return [(f"{run_id}:{n}", c.type.value, c.data.get("content")) for n, c in enumerate(chunks)]


def assert_on_record(server, events):
    heard = numbered(events)
    assert told(server, heard[0][0].partition(":")[0])[: len(heard)] == heard


def test_what_could_not_be_recorded_has_no_number(serve, database_url):
    model = paused()
    with serve(model=model) as server, asked(server) as events:
        heard = until_paused(events, model)
        run_sql(server, REFUSE[database_url.kind])
        model.gate.set()
        heard += events
        assert (heard[-1][0], heard[-1][1]) == (None, "done")
        assert_on_record(server, heard)


def test_a_worker_stores_nothing_that_could_not_be_recorded(serve, root, database_url):
    model = paused()
    with serve(has_workers_elsewhere=True) as front_end, asked(front_end) as events:
        with working(root, model=model) as worker:
            heard = until_paused(events, model)
            run_id = heard[0][0].partition(":")[0]
            work = worker._tasks[run_id]
            run_sql(front_end, REFUSE[database_url.kind])
            model.gate.set()
            worker.run(asyncio.wait({work}))
        run_sql(front_end, ACCEPT[database_url.kind])
        with working(root, found()):
            heard += events
        assert heard[-1][2]["stop_reason"] == "answered"
        assert told(front_end, run_id, has_end=True) == numbered(heard)


def test_what_a_run_says_when_it_loses_its_lease_has_no_number(serve, database_url, monkeypatch):
    monkeypatch.setattr(Runs, "renew_seconds", 0.05)
    model = paused()
    with serve(model=model) as server, asked(server) as events:
        heard = until_paused(events, model)
        run_sql(server, ["UPDATE runs SET lease_owner = 'other:1:1'"])
        heard += events
        assert (heard[-1][0], heard[-1][1]) == (None, "done")
        assert_on_record(server, heard)


def test_what_a_run_says_when_it_is_handed_over_is_not_heard(serve, database_url):
    model = paused()
    with serve(model=model) as server:
        with asked(server) as events:
            heard = until_paused(events, model)
            server.run(server.door.runs.close(0))
            heard += events
        assert heard[-1][1] == "interrupted"
        assert_on_record(server, heard)
        server.stop()
    with serve(found()) as server:
        rest = streamed(server, headers={"Last-Event-ID": numbered(heard)[-1][0]})
        whole = numbered([*heard, *rest])
        assert rest[-1][2]["stop_reason"] == "answered"
        assert told(server, rest[-1][2]["run_id"], has_end=True) == whole
