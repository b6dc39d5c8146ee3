"""Questions that come at once begin a few at a time, and their clients hear of it."""

import asyncio
import json
from contextlib import contextmanager

import pytest

from oracle.api.server_sent_events import queued
from oracle.api.starts import MOST_AT_ONCE, Starts
from oracle.bt.wrappers.queueing import store_in_line
from oracle.bt.wrappers.recipe import AgentSetup
from oracle.bt.wrappers.run_store import open_store
from oracle.errors import LeaseHeld
from oracle.testing import ScriptedModel
from tests.api.test_asking import QUESTION, events_in, found, look


async def turns(*places):
    """Which of them may begin now."""
    tasks = [asyncio.ensure_future(place.turn()) for place in places]
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    return [task.result() if task.done() else None for task in tasks]


async def test_so_many_begin_at_once_and_the_others_in_the_order_in_which_they_came():
    starts = Starts(2)
    one, two, three, four = (starts.place() for _ in range(4))
    assert [place.ahead for place in (one, two, three, four)] == [0, 0, 2, 3]
    assert await turns(one, two, three, four) == [True, True, None, None]
    two.leave()
    two.leave()
    assert await turns(three, four) == [True, None]
    one.leave()
    assert await turns(four) == [True]


async def test_one_that_leaves_the_line_takes_nobody_s_turn():
    starts = Starts(1)
    one, two, three = (starts.place() for _ in range(3))
    two.leave()
    one.leave()
    assert await turns(two, three) == [False, True]
    three.leave()
    assert starts.place().ahead == 0


@pytest.mark.parametrize(
    ("ahead", "said"),
    [(1, "1 question begins before this one"), (12, "12 questions begin before this one")],
)
def test_a_client_in_the_line_hears_how_many_begin_before(ahead, said):
    id_, event, data, *_ = queued("3f9a", ahead, is_stored=True).decode().split("\n")
    assert (id_, event) == ("id: 3f9a:-1", "event: queued")
    assert json.loads(data.removeprefix("data: ")) == {
        "type": "queued",
        "run_id": "3f9a",
        "ahead": ahead,
        "content": said,
    }


def test_what_is_not_on_disk_has_no_id():
    assert queued("3f9a", 1, is_stored=False).startswith(b"event: queued\n")


@contextmanager
def line(server):
    """The server is busy with the beginnings of others. What it yields ends that."""

    async def taken():
        return [server.door.runs.starts.place() for _ in range(MOST_AT_ONCE)]

    async def leave(places):
        for place in places:
            place.leave()

    places = server.run(taken())
    try:
        yield lambda: server.run(leave(places))
    finally:
        server.run(leave(places))


@contextmanager
def waiting(server, **more):
    """A question that waits in the line: its id, and the events that follow `queued`."""
    with server.http.stream("POST", "/api/oracle/stream", json=QUESTION | more) as response:
        assert response.status_code == 200, response.read()
        events = events_in(response.iter_lines())
        id_, type_, data = next(events)
        assert (id_, type_, data["ahead"]) == (f"{data['run_id']}:-1", "queued", MOST_AT_ONCE)
        assert response.headers["Oracle-Run"] == data["run_id"]
        yield data["run_id"], events


def test_a_question_in_the_line_is_answered_under_the_id_that_its_client_was_given(serve):
    with serve(look(), found()) as server, line(server) as end:
        with waiting(server) as (run_id, events):
            end()
            heard = list(events)
        assert [id_ for id_, *_ in heard] == [f"{run_id}:{n}" for n in range(len(heard))]
        assert heard[-1][2]["run_id"] == run_id
        assert server.http.get(f"/api/runs/{run_id}").status_code == 200
        assert waits_on_disk(server) == []


def waits_on_disk(server):
    """The ids of the runs that another process would begin if this one died now."""

    def read(connection):
        return connection.firsts("SELECT run_id FROM run_queue")

    return server.run(server.door.store.database.read(read))


def test_a_question_in_the_line_is_on_disk_when_its_client_hears_of_it(serve):
    with serve(look(), found()) as server, line(server), waiting(server) as (run_id, _):
        assert waits_on_disk(server) == [run_id]
        # Others leave it to this process, which holds it.
        run = server.run(server.door.store.runs.get(run_id))
        assert run.lease_owner == server.door.runs.line.owner


def test_what_only_a_record_can_say_is_not_there_before_a_run_begins(serve):
    with serve() as server, line(server), waiting(server) as (run_id, _):
        assert server.http.get(f"/api/runs/{run_id}").json()["run"]["status"] == "running"
        for path in ("mind", "trees", "export"):
            reply = server.http.get(f"/api/runs/{run_id}/{path}")
            assert (reply.status_code, reply.json()["error"]["kind"]) == (404, "NotFound"), path
            assert "has not begun" in reply.json()["error"]["message"]


def test_the_next_server_begins_what_waited_in_the_line(serve):
    with (
        serve(seconds_to_close=0) as server,
        line(server),
        waiting(server, attachment="a stack trace") as (run_id, _),
    ):
        server.run(server.door.runs.close(0))
    model = ScriptedModel(look(), found())
    with serve(model=model) as server:
        heard = after(server, f"{run_id}:-1")
        assert [id_ for id_, *_ in heard] == [f"{run_id}:{n}" for n in range(len(heard))]
        assert heard[-1][2]["stop_reason"] == "answered"
        # With all that was asked, and in a conversation of its own.
        assert "a stack trace" in str(model.requests[0].messages)
        assert server.http.get(f"/api/sessions/{session_of(server, run_id)}").status_code == 200
        assert waits_on_disk(server) == []


def after(server, last):
    """The events after that one, up to `done`. A client connects again until it has it."""
    while True:
        headers = {"Last-Event-ID": last}
        with server.http.stream(
            "POST", "/api/oracle/stream", json=QUESTION, headers=headers
        ) as response:
            assert response.status_code == 200, response.read()
            heard = list(events_in(response.iter_lines()))
        if heard[-1][1] == "done":
            return heard


def session_of(server, run_id):
    return server.http.get(f"/api/runs/{run_id}").json()["run"]["session_id"]


async def test_what_waits_is_held_until_it_begins(database_url):
    async with open_store(database_url) as store:
        for run_id, line in (("1", "ours"), ("2", "other")):
            await store_in_line(store, AgentSetup(), "Where is it?", line=line, run_id=run_id)
            await store.runs.renew(run_id, line, seconds=1)
        await store.runs.hold_line(["1", "2"], "ours")
        ours, other = [await store.runs.get(run_id) for run_id in "12"]
        assert ours.lease_until > other.lease_until + 5


async def test_of_two_that_begin_what_waited_one_gets_it(database_url):
    async with open_store(database_url) as store:
        await store_in_line(store, AgentSetup(), "Where is it?", line="ours", run_id="1")
        await store.runs.begin_queued("1", "first", "tree", line="ours")
        with pytest.raises(LeaseHeld):
            await store.runs.begin_queued("1", "second", "tree", line="ours")
        # And it is not forgotten by the one that did not get it.
        await store.runs.leave_line("1", "ours", for_good=True)
        assert (await store.runs.get("1")).lease_owner == "first"


def test_others_can_listen_to_a_question_in_the_line(serve):
    with (
        serve(look(), found()) as server,
        line(server) as end,
        waiting(server) as (run_id, _),
        server.http.stream("GET", f"/api/runs/{run_id}/stream") as response,
    ):
        end()
        assert list(events_in(response.iter_lines()))[-1][1] == "done"


def test_a_question_in_the_line_can_be_cancelled(serve):
    with serve() as server, line(server) as end, waiting(server) as (run_id, events):
        assert server.http.post(f"/api/runs/{run_id}/cancel").status_code == 202
        end()
        assert list(events)[-1][2]["stop_reason"] == "cancelled"


def test_what_is_wrong_with_a_question_in_the_line_is_said_at_its_turn(serve):
    with serve() as server, line(server) as end, waiting(server, context_id="nope") as (_, events):
        end()
        *_, (_, error, said), (_, done, last) = events
        assert (error, done, last["error_kind"]) == ("error", "done", "NotFound")
        assert "nope" in said["content"]
        # It was never begun, and no other process tries it again.
        assert waits_on_disk(server) == []
        assert server.http.get("/api/runs").json() == []


def test_a_server_that_stops_lets_go_of_those_in_the_line(serve):
    with serve(seconds_to_close=0) as server, line(server), waiting(server) as (_, events):
        server.run(server.door.runs.close(0))
        assert [type_ for _, type_, _ in events] == ["interrupted"]
