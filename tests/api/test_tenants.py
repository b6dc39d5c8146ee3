"""Users share workers and budgets: none of them is kept waiting, or spends, for another."""

import asyncio
import time

import pytest

from oracle.errors import NotFound
from oracle.services.dispatch.queue import Queue
from oracle.services.settings.team_sections import SpendSettings
from oracle.services.storage.budgets import Need, budgets_from
from oracle.services.storage.runs import Runs
from oracle.services.storage.spend import Hold
from oracle.services.storage.spend_report import spend_rows
from oracle.testing import ScriptedModel
from tests.api.test_asking import GatedModel, asked, found, look, streamed
from tests.api.test_workers import working

SECONDS = 30


@pytest.fixture(autouse=True)
def database_of_all(database_url, monkeypatch):
    monkeypatch.setenv("ORACLE_DATABASE_URL", f"{database_url.with_password()}")


@pytest.fixture
def front_end(serve):
    with serve(has_workers_elsewhere=True) as server:
        yield server


class Blocked(ScriptedModel):
    """Answers nobody, but counts who asks."""

    def __init__(self):
        super().__init__()
        self.asked = 0

    async def stream(self, request):
        self.asked += 1
        await asyncio.Event().wait()
        yield


async def until(is_true):
    """Wait for something that happens in another thread or process."""
    ends_at = time.monotonic() + SECONDS
    while not await is_true():
        assert time.monotonic() < ends_at, "it does not happen"
        await asyncio.sleep(0.01)


async def held(queue):
    """The runs under way, by user."""
    entries = await queue.entries()
    return sorted(entry.run.user_id for entry in entries if entry.state == "running")


@pytest.mark.extra
def test_a_flood_of_one_user_leaves_a_place_for_another(front_end, root):
    """None of the runs ends, so the second user waits for none of them."""
    runs, queue = front_end.door.runs, Queue(front_end.door.store.database, None)

    async def flood():
        for number in range(12):
            await runs.seen_by("ann").ask(f"Why {number}?").begun()
        await until(lambda: is_held(["ann"] * 3))
        await runs.seen_by("bob").ask("Why?").begun()
        await until(lambda: is_held(["ann"] * 3 + ["bob"]))

    async def is_held(users):
        return await held(queue) == users

    with working(root, model=Blocked()):
        front_end.run(flood())


def test_a_user_has_no_more_runs_under_way_than_one_may_in_all_processes(
    front_end, root, monkeypatch
):
    monkeypatch.setenv("ORACLE_SERVER_MOST_RUNS_OF_USER", "2")
    queue = Queue(front_end.door.store.database, None)

    async def ask(user, count):
        for number in range(count):
            await front_end.door.runs.seen_by(user).ask(f"Why {number}?").begun()

    async def is_held():
        return await held(queue) == ["ann", "ann", "bob"]

    with working(root, model=Blocked()) as one, working(root, model=Blocked()) as other:
        front_end.run(ask("ann", 6))
        front_end.run(ask("bob", 1))
        front_end.run(until(is_held))
        for worker in (one, other):
            worker.run(worker._dispatcher.heartbeat())
        assert front_end.run(held(queue)) == ["ann", "ann", "bob"]


def test_the_limits_of_a_run_are_raised_wherever_it_is_worked_on(front_end, root):
    model, store = GatedModel(look(), found()), front_end.door.store

    async def is_on_record():
        records, _ = await store.record_of(run_id)
        return any(record.kind == "command" for record in records)

    with working(root, model=model), asked(front_end) as events:
        run_id = next(events)[0].partition(":")[0]
        assert model.is_reached.wait(20)
        path, more = f"/api/runs/{run_id}/limits", {"turns": 50, "seconds": 900.0, "tokens": 5}
        response = front_end.http.post(path, json=more)
        assert (response.status_code, response.json()["limits"]) == (202, more)
        front_end.run(until(is_on_record))
        model.gate.set()
        *_, (_, _, done) = events
    assert done["stop_reason"] == "answered"

    async def replayed():
        tree = await store.replay(run_id)
        outcome = await tree.settle()
        records, _ = await store.record_of(run_id)
        assert tree.summary(outcome) == records[-1].body
        return tree.read("ledger")["limits"]

    limits = front_end.run(replayed())
    # A limit is never made smaller.
    assert (limits["turns"], limits["seconds"], limits["tokens"]) == (50, 900.0, 400_000)


@pytest.mark.extra
def test_a_server_hears_what_another_process_wants_of_its_runs(serve):
    from oracle.services.dispatch import control

    model = GatedModel(look(), found())
    with serve(model=model) as server, asked(server) as events:
        run_id = next(events)[0].partition(":")[0]
        assert model.is_reached.wait(20)
        database = server.door.store.database
        run = server.run(Runs(database).get(run_id))
        server.run(control.raise_limits(database, run, {"turns": 50}, ()))
        server.run(control.Commands(database).give(run_id, {"cancel": "enough"}))
        *_, (_, _, done) = events
        model.gate.set()
    assert (done["stop_reason"], done["detail"]) == ("cancelled", "enough")
    (told,) = [
        each.body
        for each in server_records(serve, run_id)
        if each.kind == "command" and "raise" in each.body
    ]
    assert told == {"raise": {"turns": 50}}


def server_records(serve, run_id):
    with serve() as server:
        return server.run(server.door.store.record_of(run_id))[0]


@pytest.mark.parametrize(
    "body", [{}, {"turns": -1}, {"money": "much"}, {"uses_of_a_tool": 9}, {"turns": 1.5}]
)
def test_limits_that_make_no_sense_are_refused(server, body):
    response = server.http.post("/api/runs/r1/limits", json=body)
    assert response.status_code in (400, 422), response.text


def test_nobody_raises_the_limits_of_another_users_run(front_end):
    async def try_it():
        runs = front_end.door.runs
        run_id = await runs.seen_by("ann").ask("Why?").begun()
        with pytest.raises(NotFound):
            await runs.seen_by("bob").raise_limits(run_id, {"turns": 50})

    front_end.run(try_it())


# -- budgets ---------------------------------------------------------------------------------------

BUDGET = SpendSettings(user_tokens_per_day=5000)


async def spend(store, project, tokens):
    """A run that has used so many tokens."""
    hold = Hold(need=Need(0, tokens), budgets=budgets_from(BUDGET), project=project)
    run = {"run_id": "old", "owner": "a", "project": project}
    await store.runs.begin(question="?", tree="t", at=1.0, hold=hold, **run)
    usage = {"money": 0.0, "tokens": tokens}
    await store.runs.finish("old", owner="a", stop_reason="answered", usage=usage, at=2.0)


@pytest.mark.parametrize("has_workers_elsewhere", [False, True])
def test_a_question_beyond_a_budget_is_refused_in_each_shape(
    serve, monkeypatch, has_workers_elsewhere
):
    monkeypatch.setenv("ORACLE_SPEND_USER_TOKENS_PER_DAY", "5000")
    with serve(has_workers_elsewhere=has_workers_elsewhere) as server:
        server.run(spend(server.door.store.seen_by("local"), server.door.project, 4999))
        ours = server.http.post("/api/oracle", json={"question": "Why?"})
        messages = [{"role": "user", "content": "Why?"}]
        theirs = server.http.post(
            "/v1/chat/completions", json={"model": "oracle", "messages": messages}
        )
        rows = server.http.get("/api/spend").json()
    error = ours.json()["error"]
    assert (ours.status_code, error["kind"], error["left"], error["unit"]) == (
        429,
        "SpendLimitReached",
        1,
        "tokens",
    )
    assert "renews at" in error["message"]
    assert int(ours.headers["Retry-After"]) > 0
    assert ours.headers["X-Should-Retry"] == "false"
    assert (theirs.status_code, theirs.json()["error"]["code"]) == (429, "insufficient_quota")
    (row,) = [row for row in rows if row["limit"] is not None]
    assert (row["spent"], row["left"], row["name"]) == (4999, 1, "local")


def test_a_run_of_a_worker_holds_and_settles_what_it_costs(front_end, root):
    with working(root, look(), found()):
        *_, (_, _, done) = streamed(front_end)
    rows = front_end.run(
        spend_rows(front_end.door.store.database, "local", front_end.door.project, ())
    )
    assert {row.spent for row in rows if row.unit == "tokens"} == {done["usage"]["tokens"]}
    assert {row.held for row in rows} == {0}


def test_a_queued_run_waits_for_others_that_hold_the_budget(front_end, root, monkeypatch):
    """It is neither refused nor stuck: it begins when they have ended."""
    monkeypatch.setenv("ORACLE_SPEND_PROJECT_TOKENS_PER_DAY", "400000")
    model = GatedModel(look(), found())
    with working(root, model=model) as worker:
        with asked(front_end) as first:
            next(first)
            assert model.is_reached.wait(20)
            second = front_end.run(ask_only(front_end, "And then?"))
            entries = front_end.run(Queue(front_end.door.store.database, None).entries())
            assert [entry.state for entry in entries] == ["running", "waiting"]
            worker.run(worker._dispatcher.heartbeat())
            model.gate.set()
            model._replies += (look(), found())
            assert [*first][-1][2]["stop_reason"] == "answered"
        end = front_end.run(second.end())
    assert end["stop_reason"] in ("answered", "token_limit")


async def ask_only(server, question):
    run = server.door.runs.seen_by("local").ask(question)
    await run.begun()
    return run
