"""Two runs side by side, and a run on a changed tree, without a word to any model."""

import pytest

from oracle.testing import Reply, signal
from tests.api.test_asking import found, look

DOUBT = "local DOUBTS = "
ENOUGH = "It is X." + signal("context_sufficient", sources_found=1)


@pytest.fixture
def doubted(serve):
    """A run whose first answer was sent back, and one that answered at once."""
    with serve(ENOUGH, look(), found(), look(), found()) as server:
        server.runs = [server.ask().json()["run_id"] for _ in range(2)]
        yield server


def compared(server, a, b):
    response = server.http.get(f"/api/compare/{a}/{b}")
    assert response.status_code == 200, response.text[:500]
    return response.json()


def changed_lua(server, run_id, file, old, new):
    lua = server.http.get(f"/api/runs/{run_id}/trees").json()["files"][file]
    assert old in lua
    return {file: lua.replace(old, new)}


def replayed(server, run_id, **change):
    return server.http.post(f"/api/runs/{run_id}/replay", json=change)


def test_a_node_that_both_runs_come_to_is_not_called_unreached(serve):
    read = ("read_file", {"path": "auth.py"})
    again = Reply(text=signal("need_turn", reason="another reason"), calls=[read])
    with serve(look(), found(), again, found()) as server:
        runs = [server.ask().json()["run_id"] for _ in range(2)]
        granted = compared(server, *runs)["differences"][0]
    assert granted["path"].endswith("another turn is granted")
    assert granted["a"]["status"] == granted["b"]["status"] == "success"
    assert granted["why"].startswith("Both come to another turn is granted")


@pytest.mark.extra
def test_a_run_and_itself_decide_the_same(doubted):
    one, _ = doubted.runs
    same = compared(doubted, one, one)
    assert (same["is_same"], same["same_answer"], same["differences"]) == (True, True, [])
    assert {node["in"] for node in same["tree"]} == {"both"}
    assert same["shadow"] is None


def test_two_runs_differ_where_they_decided_differently(doubted):
    found = compared(doubted, *doubted.runs)
    first = found["differences"][0]
    paths = {node["path"] for node in found["tree"]}
    assert [card["number"] for card in found["differences"]] == [
        *range(1, len(found["differences"]) + 1),
    ]
    assert (found["a"]["id"], found["b"]["id"]) == tuple(doubted.runs)
    assert first["turn"] == 1
    assert first["path"] in paths
    assert first["why"]
    assert first["a"]["does"] != first["b"]["does"]
    assert found["totals"]["a"]["turns"] == 3
    assert found["totals"]["b"]["turns"] == 2


@pytest.mark.extra
def test_a_changed_tree_is_tried_on_a_recorded_run(doubted):
    run_id, _ = doubted.runs
    lua = changed_lua(doubted, run_id, "decide.lua", "local DOUBTS = 1", "local DOUBTS = 0")
    found = replayed(doubted, run_id, tree_lua=lua).json()
    first = found["differences"][0]
    assert first["path"].endswith("/not doubted before")
    assert (first["a"]["status"], first["b"]["status"]) == ("success", "failure")
    assert (found["is_same"], found["missing"]) == (False, None)
    assert found["stop_reasons"] == {"a": "answered", "b": "partial_answer"}
    kinds = [frame["type"] for frame in found["mind"]]
    assert (kinds[0], kinds[-1]) == ("tree", "end")
    assert found["mind"][-1]["data"]["stop_reason"] == "partial_answer"
    # What was tried is nowhere but in the reply.
    trees = doubted.http.get(f"/api/runs/{run_id}/trees").json()
    assert trees["is_current"]
    assert len(doubted.http.get("/api/runs").json()) == 2


@pytest.mark.extra
def test_a_tree_that_has_another_node_leaves_it_a_place_of_its_own(doubted):
    run_id, _ = doubted.runs
    old = 'BT.subtree("budget"),'
    lua = changed_lua(
        doubted, run_id, "turn.lua", old, f'{old} BT.expect("new one", "bb.limits.turns > 0"),'
    )
    found = replayed(doubted, run_id, tree_lua=lua).json()
    nodes = [(node["path"].rpartition("/")[2], node["in"]) for node in found["tree"]]
    place = nodes.index(("new one", "b"))
    assert nodes[place + 1] == ("begin", "both")
    assert found["is_same"]


def test_a_value_is_changed_without_any_lua(doubted):
    run_id, _ = doubted.runs
    found = replayed(doubted, run_id, set=["limits.turns=2"]).json()
    assert found["differences"]
    assert found["stop_reasons"]["b"] == "turn_limit"


@pytest.mark.extra
def test_where_the_recording_has_no_answer_it_says_so(serve):
    with serve(ENOUGH, ENOUGH, ENOUGH, model=None) as server:
        run_id = server.ask().json()["run_id"]
        lua = changed_lua(server, run_id, "decide.lua", "local DOUBTS = 1", "local DOUBTS = 9")
        found = replayed(server, run_id, tree_lua=lua).json()
    assert not found["is_followed"]
    assert found["missing"]["words"]
    assert found["mind"][-1]["type"] != "end"


@pytest.mark.parametrize(
    ("change", "status", "told"),
    [
        ({}, 400, "nothing is changed"),
        ({"tree_lua": {"decide.lua": "BT.tree("}}, 400, "decide.lua"),
        ({"tree_lua": {"decide.lua": "while true do end"}}, 400, "decide.lua"),
        ({"tree_lua": {"a.lua": 'BT.tree("decide", { root = BT.action("os.system") })'}}, 400, "a"),
        ({"tree_lua": {"../x.txt": ""}}, 422, "tree_lua"),
        ({"set": ["limits.turn=5"]}, 400, "limits.turns"),
        ({"set": ["limits.turns=many"]}, 400, "30"),
    ],
)
def test_a_change_that_cannot_be_made_is_named(doubted, change, status, told):
    response = replayed(doubted, doubted.runs[0], **change)
    assert response.status_code == status, response.text[:500]
    assert told in response.json()["error"]["message"]
