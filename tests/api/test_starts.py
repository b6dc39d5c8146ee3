"""Questions that come at once begin a few at a time, and their clients hear of it."""

import asyncio
import json
from contextlib import contextmanager

import pytest

from oracle.api.server_sent_events import queued
from oracle.api.starts import MOST_AT_ONCE, Starts
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
    event, data, *_ = queued("3f9a", ahead).decode().split("\n")
    assert event == "event: queued"
    assert json.loads(data.removeprefix("data: ")) == {
        "type": "queued",
        "run_id": "3f9a",
        "ahead": ahead,
        "content": said,
    }


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
        assert (id_, type_, data["ahead"]) == (None, "queued", MOST_AT_ONCE)
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


def test_a_server_that_stops_lets_go_of_those_in_the_line(serve):
    with serve(seconds_to_close=0) as server, line(server), waiting(server) as (_, events):
        server.run(server.door.runs.close(0))
        assert [type_ for _, type_, _ in events] == ["interrupted"]
