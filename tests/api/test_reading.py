"""Sessions, runs, events, trees, prompts, settings and health."""

import pytest

from oracle.testing import ScriptedModel
from tests.api.test_asking import found, look


def test_a_conversation_is_continued_branched_renamed_exported_and_deleted(serve):
    replies = [look(), found("One."), found("Two."), found("Three.")]
    with serve(*replies) as server:
        first = server.ask().json()
        (listed,) = server.http.get("/api/sessions").json()
        second = server.ask("And why?", session_id=listed["id"]).json()
        server.ask("And how?", context_id=first["context_id"])
        address = f"/api/sessions/{listed['id']}"
        exchanges = server.http.get(address).json()["exchanges"]
        parents = [each["parent_id"] for each in exchanges]
        assert parents == [None, first["context_id"], first["context_id"]]
        assert exchanges[1]["id"] == second["context_id"]
        assert server.http.patch(address, json={"title": "Login"}).json()["title"] == "Login"
        assert len(server.http.get("/api/sessions", params={"search": "login"}).json()) == 1
        assert server.http.get("/api/sessions", params={"search": "tides"}).json() == []
        assert "And why?" in server.http.get(f"{address}/export").text
        assert server.http.delete(address).json()["exchanges"] == 3
        assert server.http.get(address).status_code == 404


@pytest.mark.extra
def test_a_run_is_told_and_exported(serve):
    with serve(look(), found()) as server:
        run_id = server.ask().json()["run_id"]
        (listed,) = server.http.get("/api/runs").json()
        run = server.http.get(f"/api/runs/{run_id}").json()
        recording = server.http.get(f"/api/runs/{run_id}/export").json()
        events = server.http.get("/api/events", params={"run_id": run_id, "type": "run.*"}).json()
    assert (listed["id"], listed["is_live"]) == (run_id, False)
    assert listed["signals"] == ["need_turn", "context_sufficient"]
    assert listed["citations"] == {"of": 1, "hold": 1}
    assert [turn["number"] for turn in run["story"]["turns"]] == [0, 1, 2]
    assert recording["recipe"]["question"] == "Where is login defined?"
    assert [event["type"] for event in events] == ["run.started", "run.ended"]


@pytest.mark.extra
def test_what_the_agent_is_made_of_can_be_read(serve):
    with serve() as server:
        names = [tree["name"] for tree in server.http.get("/api/trees").json()]
        tree = server.http.get("/api/trees/oracle-agent").json()
        prompts = server.http.get("/api/prompts").json()
        settings = {row["name"]: row for row in server.http.get("/api/settings").json()}
        kind = server.http.get("/api/classify", params={"question": "where is login?"}).json()
        assert server.http.get("/api/trees/none").status_code in (400, 404)
    assert "oracle-agent" in names
    assert tree["root"]["children"]
    assert "BT.tree" in tree["source"]
    assert "base" in [segment["id"] for segment in prompts]
    assert settings["limits.turns"]["value"] == 30
    assert kind["query_type"] == "code"


def test_health_and_metrics(serve):
    with serve(model=ScriptedModel(look(), found())) as server:
        server.ask()
        assert server.http.get("/healthz").json() == {"status": "ok"}
        assert server.http.get("/readyz").json() == {"status": "ready"}
        metrics = server.http.get("/metrics").text
    assert 'oracle_runs_total{stop_reason="answered"} 1' in metrics
    assert "oracle_runs_live 0" in metrics


def test_a_page_that_does_not_exist_is_an_error_in_the_same_shape(serve):
    with serve() as server:
        response = server.http.get("/api/nothing")
    assert response.status_code == 404
    assert set(response.json()["error"]) == {"kind", "message"}


def test_a_server_without_mcp_says_why(serve):
    with serve(has_workers_elsewhere=True) as server:
        response = server.http.post("/mcp", json={})
    assert response.status_code == 501
    assert "--workers 0" in response.json()["error"]["message"]
