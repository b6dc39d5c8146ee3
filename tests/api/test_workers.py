"""A front end that answers nothing itself, and workers: no client sees a difference."""

import asyncio
import json
import queue
import socket
import threading
import time
from contextlib import contextmanager

import psycopg
import pytest

from oracle.api.workers.opening import opened_worker
from oracle.errors import InputError, NotFound
from oracle.services.dispatch.protocol import Job
from oracle.services.dispatch.queue import MOST_FAILURES, Queue
from oracle.services.dispatch.workers import Workers
from oracle.settings import load_settings
from oracle.testing import Reply, ScriptedModel, signal
from tests.api.test_asking import GatedModel, asked, events_in, found, look, streamed


@contextmanager
def working(root, *replies, model=None, drain=0.0):
    """A worker in a thread of its own. It is stopped at the end, with `drain` seconds."""
    started: queue.SimpleQueue = queue.SimpleQueue()

    async def work():
        settings = load_settings(root)
        given = model or ScriptedModel(*replies)
        async with opened_worker(settings, root, model=given, most_runs=4) as worker:
            started.put((worker, asyncio.get_running_loop()))
            await worker.work()

    thread = threading.Thread(target=lambda: asyncio.run(work()), daemon=True)
    thread.start()
    worker, loop = started.get(timeout=30)
    worker.run = lambda work: asyncio.run_coroutine_threadsafe(work, loop).result(30)
    try:
        yield worker
    finally:
        asyncio.run_coroutine_threadsafe(worker.drain(drain), loop).result(30)
        thread.join(30)
        assert not thread.is_alive(), "the worker does not stop"


@pytest.fixture(autouse=True)
def database_of_all(database_url, monkeypatch):
    monkeypatch.setenv("ORACLE_DATABASE_URL", f"{database_url.with_password()}")


@pytest.fixture
def front_end(serve):
    with serve(has_workers_elsewhere=True) as server:
        yield server


def numbers_in(events):
    return [int(id_.rpartition(":")[2]) for id_, _, _ in events]


def test_the_whole_answer_comes_from_a_worker(front_end, root):
    with working(root, look(), found()):
        answer = front_end.ask().json()
    assert (answer["text"], answer["stop_reason"]) == ("It is in `auth.py:1`.", "answered")
    assert [source["path"] for source in answer["sources"] if source["cited"]] == ["auth.py"]


def test_a_stream_is_whole_and_goes_on_after_any_event(front_end, root):
    with working(root, look(), found()):
        events = streamed(front_end)
    assert numbers_in(events) == list(range(len(events)))
    assert (events[-1][1], events[-1][2]["answer"]) == ("done", "It is in `auth.py:1`.")
    for at in (0, len(events) // 2, len(events) - 1):
        rest = streamed(front_end, headers={"Last-Event-ID": events[at][0]})
        assert [(id_, kind) for id_, kind, _ in rest] == [e[:2] for e in events[at + 1 :]]


def test_a_question_waits_until_there_is_a_worker(front_end, root):
    with asked(front_end) as events:
        (waiting,) = front_end.run(Queue(front_end.door.store.database, None).entries())
        assert (waiting.state, waiting.run.status) == ("waiting", "running")
        with working(root, look(), found()):
            *_, (_, kind, done) = events
    assert (kind, done["stop_reason"]) == ("done", "answered")


def test_a_conversation_goes_on_where_it_was(front_end, root):
    with working(root, look(), found(), found("In the same file.")):
        first = front_end.ask().json()
        second = front_end.ask("And logout?", context_id=first["context_id"]).json()
    (session,) = front_end.http.get("/api/sessions").json()
    assert second["text"].startswith("In the same file.")
    runs = front_end.http.get("/api/runs").json()
    assert {run["session_id"] for run in runs} == {session["id"]}


def test_a_run_is_cancelled_wherever_it_is_worked_on(front_end, root):
    model = GatedModel(look(), found())
    with working(root, model=model), asked(front_end) as events:
        run_id = next(events)[0].partition(":")[0]
        assert model.is_reached.wait(20)
        assert front_end.http.post(f"/api/runs/{run_id}/cancel").status_code == 202
        *_, (_, kind, done) = events
        model.gate.set()
    assert (kind, done["stop_reason"]) == ("done", "cancelled")
    assert "auth.py" in done["answer"]


def test_a_run_that_nobody_has_begun_is_cancelled_at_once(front_end, root):
    with front_end.http.stream(
        "POST", "/api/oracle/stream", json={"question": "Where is login defined?"}
    ) as response:
        run_id = response.headers["Oracle-Run"]
        assert front_end.http.post(f"/api/runs/{run_id}/cancel").status_code == 202
        *_, (_, kind, done) = events_in(response.iter_lines())
    assert (kind, done["stop_reason"], done["run_id"]) == ("done", "cancelled", run_id)


@pytest.mark.parametrize("is_yes", [True, False])
def test_a_person_is_asked_at_the_front_end(front_end, root, is_yes):
    ask = signal("need_capability", capability="write_note", reason="to keep it")
    write = Reply(calls=[("write_note", {"title": "Login", "content": "It is in auth.py."})])
    after = write if is_yes else found()
    with working(root, look(), "Hm." + ask, after, found()), asked(front_end) as events:
        for _, kind, chunk in events:
            if kind == "approval":
                run_id, id_ = chunk["id"].partition("-")[0], chunk["id"]
                (waiting,) = front_end.http.get(f"/api/runs/{run_id}/approvals").json()
                assert waiting["id"] == id_
                path = f"/api/runs/{run_id}/approvals/{id_}"
                assert front_end.http.post(path, json={"approve": is_yes}).status_code == 200
                assert front_end.http.get(f"/api/runs/{run_id}/approvals").json() == []
    notes = list(root.rglob("*ogin*.md"))
    assert notes != [] if is_yes else notes == []
    assert front_end.http.post(path, json={"approve": True}).status_code == 404


def test_a_worker_that_stops_hands_its_runs_over(front_end, root):
    model = GatedModel(look(), found())
    with asked(front_end) as events:
        with working(root, model=model):
            seen = [next(events)]
            assert model.is_reached.wait(20)
        with working(root, found()):
            seen += events
    assert numbers_in(seen) == list(range(len(seen)))
    assert seen[-1][2]["stop_reason"] == "answered"
    run_id = seen[-1][2]["run_id"]
    told = list(events_in(front_end.http.get(f"/api/runs/{run_id}/stream").text.split("\n")))
    assert [e[:2] for e in told] == [e[:2] for e in seen]


def test_a_front_end_that_stops_ends_its_streams_and_another_goes_on(front_end, serve, root):
    model = GatedModel(look(), found())
    with working(root, model=model):
        with asked(front_end) as events:
            seen = [next(events)]
            assert model.is_reached.wait(20)
            front_end.run(front_end.door.runs.close(0))
            *more, (id_, kind, _) = events
            assert (id_, kind) == (None, "interrupted")
            seen += more
        model.gate.set()
        with serve(has_workers_elsewhere=True) as other:
            rest = streamed(other, headers={"Last-Event-ID": seen[-1][0]})
    assert numbers_in(seen + rest) == list(range(len(seen + rest)))
    assert rest[-1][2]["stop_reason"] == "answered"


def test_a_question_that_cannot_be_begun_ends_with_the_reason(front_end, root):
    """For example one of a newer version, with a field that the worker does not know."""
    database = front_end.door.store.database
    with asked(front_end) as events:
        other = json.dumps({"question": "?", "history": None, "limits": {"moons": 3}})
        sql = "UPDATE run_queue SET request = ?"
        front_end.run(database.write(lambda connection: connection.execute(sql, [other])))
        with working(root):
            (_, first, _), (_, last, done) = events
    assert (first, last, done["error_kind"]) == ("error", "done", "KeyError")
    assert front_end.http.get("/api/runs").json()[0]["stop_reason"] == "never_begun"


def test_a_job_that_comes_too_early_is_not_a_failure(front_end, root):
    """A worker of this machine has died, and its lease has not run out yet."""
    model = GatedModel(look(), found())
    database = front_end.door.store.database
    queue_of_all = Queue(database, None)
    with asked(front_end) as events:
        with working(root, model=model):
            run_id = next(events)[0].partition(":")[0]
            assert model.is_reached.wait(20)
        owner = f"{socket.gethostname()}:{2**22 + 1}:x"
        hold = "UPDATE runs SET lease_owner = ?, lease_until = ?"
        front_end.run(database.write(lambda c: c.execute(hold, [owner, time.time() + 3600])))
        with working(root, found()) as worker:
            for _ in range(MOST_FAILURES):
                worker.run(worker._work_on(Job(0, run_id)))
            assert front_end.run(queue_of_all.problem_of(run_id))[0] == 0
            front_end.run(database.write(lambda c: c.execute(hold, [None, None])))
            worker.run(worker._dispatcher.heartbeat())
            *_, (_, kind, done) = events
    assert (kind, done["stop_reason"]) == ("done", "answered")


def test_a_job_whose_run_was_deleted_is_forgotten(front_end, root):
    with asked(front_end):
        (session,) = front_end.http.get("/api/sessions").json()
        assert front_end.http.delete(f"/api/sessions/{session['id']}").status_code < 300
    with working(root, look(), found()):
        assert front_end.ask().json()["stop_reason"] == "answered"


def test_a_waiting_run_is_not_taken_by_those_who_only_resume(front_end, root, serve):
    """It has no record yet, so it would be taken for one that died before it began."""
    with asked(front_end) as events:
        store = front_end.door.store
        (waiting,) = front_end.run(Queue(store.database, None).entries())
        with serve(), pytest.raises(InputError, match="waits for a worker"):
            front_end.run(store.resume(waiting.run.id))
        with working(root, look(), found()):
            *_, (_, _, done) = events
    assert done["stop_reason"] == "answered"


def test_nobody_hears_or_cancels_the_run_of_another_user(front_end):
    async def try_all(runs, run_id):
        with pytest.raises(NotFound):
            await anext(runs.follow(run_id))
        with pytest.raises(NotFound):
            await runs.cancel(run_id, "no")
        with pytest.raises(NotFound):
            await runs.asked_by(run_id)

    async def ask():
        return await front_end.door.runs.seen_by("ann").ask("Why?").begun()

    front_end.run(try_all(front_end.door.runs.seen_by("ben"), front_end.run(ask())))


def test_workers_are_listed_until_they_leave(front_end, root):
    model = GatedModel(look(), found())
    workers = Workers(front_end.door.store.database)
    with working(root, model=model) as worker, asked(front_end) as events:
        run_id = next(events)[0].partition(":")[0]
        assert model.is_reached.wait(20)
        (row,) = front_end.run(workers.all())
        assert (row.id, row.is_alive, row.state) == (worker.id, True, "working")
        assert row.run_ids == (run_id,)
        model.gate.set()
        list(events)
    assert front_end.run(workers.all()) == []


def test_a_change_that_the_database_refuses_is_a_failure_and_not_an_outage(front_end, root):
    """It would be tried again for ever."""
    database = front_end.door.store.database
    with asked(front_end) as events:
        row = "INSERT INTO spend_totals VALUES ('user', 'local', 'x', 0, 0, 0, 0)"
        front_end.run(database.write(lambda connection: connection.execute(row)))
        forbid = "CREATE UNIQUE INDEX one_only ON spend_totals (scope)"
        front_end.run(database.write(lambda connection: connection.execute(forbid)))
        with working(root):
            *_, (_, kind, done) = events
    assert (kind, done["error_kind"]) == ("done", "StoreRuleError")
    assert "refuses a change" in done["detail"]


def test_a_question_that_is_stored_is_accepted_whatever_the_queue_says(serve, root, database_url):
    """Otherwise its client would ask again, and pay twice."""
    if not database_url.kind.startswith("postgres"):
        pytest.skip("its queue is in memory, and cannot fail")
    url = database_url.with_password()
    hidden = "ALTER TABLE procrastinate_jobs RENAME TO hidden"
    shown = "ALTER TABLE hidden RENAME TO procrastinate_jobs"
    with serve(has_workers_elsewhere=True) as front_end:
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute(hidden)
            with asked(front_end) as events:
                run_id = next(iter(front_end.http.get("/api/runs").json()))["id"]
                connection.execute(shown)
                with working(root, look(), found()):
                    *_, (_, kind, done) = events
        assert (kind, done["stop_reason"], done["run_id"]) == ("done", "answered", run_id)
        assert len(front_end.http.get("/api/runs").json()) == 1


def looks_once(request):
    has_looked = any(message["role"] == "tool" for message in request.messages)
    return found() if has_looked else look()


def test_a_run_whose_stream_cannot_be_stored_is_not_left_to_itself(front_end, root, monkeypatch):
    under_way: queue.SimpleQueue = queue.SimpleQueue()

    async def broken(streams, run_id, live, heard):
        await live.begun()
        under_way.put(live)
        raise RuntimeError("a bug")

    model = GatedModel(look(), found())
    with asked(front_end) as events:
        with monkeypatch.context() as patched:
            patched.setattr("oracle.api.workers.worker.publish", broken)
            with working(root, model=model) as worker:
                live = under_way.get(timeout=20)
                worker.run(asyncio.wait({live.task}))
        with working(root, model=ScriptedModel(looks_once, repeats_last=True)):
            *_, (_, kind, done) = events
    assert (kind, done["stop_reason"]) == ("done", "answered")
