"""A run is held before a node, looked at, and goes on; its record does not know of it."""

from contextlib import contextmanager

import pytest

from oracle.testing import ScriptedModel
from tests.api.test_asking import GatedModel, asked, events_in, found, look
from tests.api.test_mind import mind, of, without_times

TURN = "question/turns/turn/turn"
DECIDE = f"{TURN}/decide"
WORK = f"{TURN}/work"


class FirstGated(GatedModel):
    """Waits before its first reply, so that there is time to set a break."""

    async def stream(self, request):
        if not self.requests:
            self.is_reached.set()
            await self.gate.wait()
        async for part in ScriptedModel.stream(self, request):
            yield part


@contextmanager
def held(server, model, path):
    """A run that comes to a break, with the frames from there on."""
    with asked(server) as events:
        run_id = next(events)[0].partition(":")[0]
        assert model.is_reached.wait(20)
        reply = server.http.post(f"/api/runs/{run_id}/breaks", json={"path": path})
        assert reply.json() == {"breaks": [path], "held": None}, reply.text
        with server.http.stream("GET", f"/api/runs/{run_id}/mind") as response:
            frames = events_in(response.iter_lines())
            model.gate.set()
            yield run_id, next(each for each in frames if each[1] == "held")[2], frames
        assert [*events][-1][1] == "done"


def go_on(server, run_id, **how):
    return server.http.post(f"/api/runs/{run_id}/continue", json=how)


@pytest.mark.extra
def test_a_run_is_held_before_a_branch_and_its_board_is_shown(serve):
    model = FirstGated(look(), found())
    with serve(model=model) as server, held(server, model, WORK) as (run_id, seen, frames):
        state = server.http.get(f"/api/runs/{run_id}/breaks").json()
        assert (state["breaks"], state["held"]) == ([WORK], seen["path"])
        assert seen["path"].startswith(f"{WORK}/")
        assert (seen["turn"], seen["because"], seen["clock_runs"]) == (1, WORK, True)
        assert seen["board"]["query"] == "Where is login defined?"
        # Held before the call: it is wanted, and nothing was read yet.
        assert seen["board"]["calls"][0]["name"] == "read_file"
        assert "evidence" not in seen["board"]
        assert go_on(server, run_id).json() == {"breaks": [WORK], "held": None}
        rest = [*frames]
    assert of(rest, "released")[0]["path"] == seen["path"]
    assert rest[-1][2]["stop_reason"] == "answered"
    assert len(model.requests) == 2


def test_a_branch_that_only_decides_holds_what_follows_from_it(serve):
    model = FirstGated(look(), found())
    with serve(model=model) as server, held(server, model, DECIDE) as (run_id, seen, frames):
        assert seen["because"] == DECIDE
        assert seen["path"].startswith(f"{WORK}/")
        server.http.delete(f"/api/runs/{run_id}/breaks", params={"path": DECIDE})
        go_on(server, run_id)
        assert [*frames][-1][1] == "end"


def test_step_by_step_each_effect_is_waited_for(serve):
    model = FirstGated(look(), found())
    places = []
    with serve(model=model) as server, held(server, model, DECIDE) as (run_id, seen, frames):
        server.http.delete(f"/api/runs/{run_id}/breaks")
        places.append(seen["path"])
        go_on(server, run_id, step=True)
        places.append(next(data for _, kind, data in frames if kind == "held")["path"])
        assert len(model.requests) == 1
        go_on(server, run_id)
        assert [*frames][-1][1] == "end"
    assert places[0].startswith(f"{WORK}/")
    assert places[1].endswith("/call model")


def test_a_run_that_is_held_can_be_cancelled(serve):
    model = FirstGated(look(), found())
    with serve(model=model) as server, held(server, model, WORK) as (run_id, _, frames):
        assert server.http.post(f"/api/runs/{run_id}/cancel").status_code == 202
        rest = [*frames]
    assert len(of(rest, "released")) == 1
    assert rest[-1][2]["stop_reason"] == "cancelled"


@pytest.mark.extra
def test_a_replay_goes_the_same_way_without_being_held(serve):
    model = FirstGated(look(), found())
    with serve(model=model) as server:
        with held(server, model, WORK) as (run_id, _, frames):
            go_on(server, run_id)
            assert [*frames][-1][1] == "end"
        seen = mind(server, run_id)
    with serve() as server:
        recorded = mind(server, run_id)
    assert recorded[-1][2]["stop_reason"] == "answered"
    without_holds = [each for each in seen if each[1] not in ("held", "released")]
    assert without_times(without_holds) == without_times(recorded)


def test_a_node_that_is_not_there_is_named_with_one_that_is(serve):
    model = FirstGated(look(), found())
    with serve(model=model) as server, asked(server) as events:
        run_id = next(events)[0].partition(":")[0]
        assert model.is_reached.wait(20)
        path = f"/api/runs/{run_id}/breaks"
        reply = server.http.post(path, json={"path": f"{TURN}/decid"})
        model.gate.set()
        assert [*events][-1][1] == "done"
        ended = [server.http.get(path), server.http.post(path, json={"path": TURN})]
    assert reply.status_code == 400
    assert DECIDE in reply.json()["error"]["message"]
    assert [each.status_code for each in ended] == [404, 404]


@pytest.mark.parametrize("body", [{}, {"path": ""}, {"path": "x", "more": 1}])
def test_a_break_has_a_path_and_nothing_else(serve, body):
    with serve() as server:
        assert server.http.post("/api/runs/none/breaks", json=body).status_code == 422
