"""What can be seen of a run: the same frames from a record as from the run itself."""

import json
import zlib
from itertools import pairwise
from pathlib import Path

import pytest

from oracle.bt.wrappers.mind.frame import FRAMES
from oracle.testing import Reply, signal
from tests.api.test_asking import GatedModel, asked, events_in, found, look

BAD = '<signal type="done"><confidence>2</confidence></signal>'


def mind(server, run_id, **options):
    with server.http.stream("GET", f"/api/runs/{run_id}/mind", **options) as response:
        assert response.status_code == 200, response.read()
        return list(events_in(response.iter_lines()))


def of(events, type_):
    return [data for _, kind, data in events if kind == type_]


def nodes_in(events):
    return [node for data in of(events, "nodes") for node in data["nodes"]]


def flat(events):
    """With each change of a node by itself."""
    assert all(kind != "tree" for _, kind, _ in events)
    return [each for _, kind, data in events for each in data.get("nodes", [(kind, data)])]


@pytest.fixture
def rich(serve):
    """A run with a grant, an unreadable signal, a call that fails, and a citation that holds."""
    missing = Reply(text="Hm." + BAD, calls=[("read_file", {"path": "none.py"})])
    with serve(look(), missing, found()) as server:
        server.answer = server.ask().json()
        server.run_id = server.answer["run_id"]
        yield server


def test_a_recorded_run_has_its_tree_first_and_its_end_last(rich):
    events = mind(rich, rich.run_id)
    tree, end = events[0][2], events[-1][2]
    paths = [node["path"] for node in tree["nodes"]]
    assert (events[0][1], events[-1][1]) == ("tree", "end")
    assert {kind for _, kind, _ in events} <= FRAMES.keys()
    assert tree["is_current"]
    assert tree["run"]["id"] == rich.run_id
    assert [node["path"] for node in tree["nodes"] if node["parent"] is None] == [
        *("question", "finish"),
    ]
    # Depth first: a node comes after its parent, and before what is not below that.
    assert all(
        paths.index(node["parent"]) < place
        for place, node in enumerate(tree["nodes"])
        if place and node["parent"] is not None
    )
    assert end["stop_reason"] == "answered"
    assert end["turns"] == 3


def test_each_change_names_a_node_of_the_tree_and_time_does_not_go_back(rich):
    events = mind(rich, rich.run_id)
    paths = {node["path"] for node in events[0][2]["nodes"]}
    changes = nodes_in(events)
    times = [data["at"] for data in changes]
    assert {node["path"] for node in changes} <= paths
    assert times == sorted(times)
    assert {node["status"] for node in changes} >= {"running", "success", "failure", "skipped"}
    same = [(node["turn"], node["path"], node["status"]) for node in changes]
    assert all(one != other for one, other in pairwise(same))


def test_a_leaf_says_what_it_is_for_and_where_it_is_written(rich):
    nodes = mind(rich, rich.run_id)[0][2]["nodes"]
    leaf = next(node for node in nodes if node["name"] == "check citations")
    condition = next(node for node in nodes if node["expression"])
    assert leaf["leaf"] == "oracle.bt.actions.citations.check_citations"
    assert leaf["description"].startswith("Mark those that do not resolve.")
    assert "evidence" in leaf["reads"]
    assert "citations" in leaf["writes"]
    assert (leaf["file"], leaf["line"] > 0) == ("finish.lua", True)
    assert "bb." in condition["expression"]


def test_a_turn_begins_with_its_tools_and_budgets_and_ends_with_what_it_used(rich):
    turns = of(mind(rich, rich.run_id), "turn")
    assert [(turn["turn"], turn["phase"]) for turn in turns] == [
        *[(1, "start"), (1, "end"), (2, "start"), (2, "end"), (3, "start"), (3, "end")],
    ]
    assert [budget["name"] for budget in turns[0]["budgets"]] == [
        *("turns", "tokens", "money", "seconds"),
    ]
    tools = {tool["name"]: tool for tool in turns[0]["tools"]}
    assert tools["read_file"]["state"] == "offered"
    assert tools["write_note"]["state"] == "withheld"
    assert tools["write_note"]["reason"]
    money = turns[0]["budgets"][2]
    assert money["off"] == "the price of this model is not known"
    assert turns[0]["budgets"][1]["expected"] > 0
    used = {tool["name"]: tool["uses"] for tool in turns[3]["tools"]}
    assert used["read_file"] == 2
    assert [turn["outcome"] for turn in turns[1::2]] == ["tools", "tools", "answer"]


def test_each_signal_gets_what_the_tree_made_of_it(rich):
    signals = {data["turn"]: data for data in of(mind(rich, rich.run_id), "signal")}
    assert (signals[1]["type"], signals[1]["verdict"]) == ("need_turn", "granted")
    assert (signals[2]["type"], signals[2]["verdict"]) == ("malformed", "fallback: continue")
    assert (signals[3]["type"], signals[3]["verdict"]) == ("context_sufficient", "believed")


def test_calls_begin_and_end_and_say_why_they_failed(rich):
    calls = of(mind(rich, rich.run_id), "call")
    assert [call["phase"] for call in calls] == ["start", "end"] * 2
    assert calls[0]["arguments"] == {"path": "auth.py"}
    assert [calls[1]["success"], calls[3]["success"]] == [True, False]
    assert "none.py" in calls[3]["error"]
    assert calls[1]["seconds"] >= 0


def test_the_prompt_is_cut_into_its_segments_and_later_messages_are_added(rich):
    prompts = of(mind(rich, rich.run_id), "prompt")
    names = [segment["name"] for segment in prompts[0]["segments"]]
    assert names[:3] == ["base", "signals", "tools"]
    assert names[-1] == "question"
    assert all(segment["text"] for segment in prompts[0]["segments"])
    tools = prompts[0]["segments"][2]["text"]
    assert tools.startswith("# Tools")
    assert "read_file" in tools
    assert [prompt["segments"] for prompt in prompts[1:]] == [[]] * len(prompts[1:])
    assert any("signal" in each["text"] for prompt in prompts[1:] for each in prompt["added"])


def test_citations_are_numbered_and_say_whether_they_hold(rich):
    (sources,) = of(mind(rich, rich.run_id), "sources")
    (cited,) = sources["cited"]
    begin, end = cited["span"]
    assert (cited["number"], cited["path"], cited["first"]) == (1, "auth.py", 1)
    assert cited["holds"]
    assert (cited["tool"], cited["turn"], cited["read"][0]) == ("read_file", 1, 1)
    assert rich.answer["text"][begin:end] == "auth.py:1"


def test_a_client_goes_on_after_any_frame_it_has_seen(rich):
    events = mind(rich, rich.run_id)
    seen = events[len(events) // 2][0]
    rest = mind(rich, rich.run_id, headers={"Last-Event-ID": seen})
    assert seen.startswith(f"{rich.run_id}:m:")
    # How many changes of nodes are sent together may differ.
    assert flat(rest) == flat(events[len(events) // 2 + 1 :])


def test_a_run_is_replayed_once_however_many_watch_it(rich, monkeypatch):
    from oracle.api import minds

    replays = []
    plain = minds.recorded_mind

    async def counted(*given, **named):
        replays.append(given)
        return await plain(*given, **named)

    monkeypatch.setattr(minds, "recorded_mind", counted)
    first, second = mind(rich, rich.run_id), mind(rich, rich.run_id[:12])
    assert json.dumps(first) == json.dumps(second)
    assert len(replays) == 1


def test_the_lua_of_a_run_is_that_which_it_began_with(serve, root):
    with serve(look(), found()) as server:
        run_id = server.ask().json()["run_id"]
        trees = server.http.get(f"/api/runs/{run_id}/trees").json()
        unknown = server.http.get("/api/runs/none/trees")
    assert trees["is_current"]
    assert "BT.tree" in trees["files"]["decide.lua"]
    assert trees["current"] == {}
    assert unknown.status_code == 404


def test_a_text_that_grows_says_how_far_it_is(serve):
    text = "It is in `auth.py:1`, and that is all there is to say about it. "
    with serve(look(), Reply(text=found(text), piece=8)) as server:
        answer = server.ask().json()
        events = mind(server, answer["run_id"])
    lengths = [data["length"] for data in of(events, "text") if data["turn"] == 2]
    assert lengths == sorted(lengths)
    assert len(lengths) > 1
    assert lengths[-1] >= len(text.strip())


def test_a_model_that_asks_for_a_tool_is_seen_to_get_it(serve):
    wish = "Hm." + signal("need_capability", capability="web_fetch", reason="look it up")
    with serve(look(), wish, found()) as server:
        events = mind(server, server.ask().json()["run_id"])
    granted = [data for data in of(events, "decision") if data["turn"] == 2]
    turns = {turn["turn"]: turn for turn in of(events, "turn") if turn["phase"] == "start"}
    states = {
        number: {tool["name"]: tool["state"] for tool in turn["tools"]}
        for number, turn in turns.items()
    }
    assert [data["verdict"] for data in granted] == ["granted"]
    assert (states[2]["web_fetch"], states[3]["web_fetch"]) == ("withheld", "offered")


# -- a run under way -------------------------------------------------------------------------------


def without_times(events):
    """Times of the clock are rounded on their way to the record."""
    return [
        ({**each, "at": 0} if isinstance(each, dict) else (each[0], {**each[1], "at": 0}))
        for each in flat(events[1:])
        if not isinstance(each, tuple) or each[0] not in ("turn", "cost")
    ]


@pytest.mark.extra
def test_a_run_under_way_is_seen_from_its_beginning_and_as_it_goes_on(serve):
    model = GatedModel(look(), found())
    with serve(model=model) as server:
        with asked(server) as events:
            run_id = next(events)[0].partition(":")[0]
            assert model.is_reached.wait(20)
            with server.http.stream("GET", f"/api/runs/{run_id}/mind") as response:
                frames = events_in(response.iter_lines())
                seen = [next(frames)]
                while seen[-1][1] != "turn" or seen[-1][2]["turn"] < 2:
                    seen.append(next(frames))
                # All of the first turn is from the record. The second one has yet to happen.
                assert not any(data.get("turn") == 2 for _, kind, data in seen if kind == "signal")
                model.gate.set()
                seen += [*frames]
            assert [*events][-1][1] == "done"
        again = mind(server, run_id)
    assert (seen[0][1], seen[-1][1]) == ("tree", "end")
    assert flat(again[1:]) == flat(seen[1:])
    with serve() as server:
        recorded = mind(server, run_id)
    assert without_times(seen) == without_times(recorded)
    assert [id_ for id_, kind, _ in seen if kind == "end"] == [recorded[-1][0]]


def test_a_run_that_nobody_watches_is_not_watched(serve):
    from oracle.bt.core.watching import WatchedStatuses

    model = GatedModel(look(), found())
    with serve(model=model) as server, asked(server) as events:
        run_id = next(events)[0].partition(":")[0]
        assert model.is_reached.wait(20)
        live = server.door.runs.live(run_id)
        assert live.mind is None
        assert not isinstance(live._run.tree.tree_run.statuses, WatchedStatuses)
        model.gate.set()
        assert [*events][-1][1] == "done"


def test_many_watch_one_run_and_it_is_watched_once(serve):
    model = GatedModel(look(), found())
    with serve(model=model) as server, asked(server) as events:
        run_id = next(events)[0].partition(":")[0]
        assert model.is_reached.wait(20)
        path = f"/api/runs/{run_id}/mind"
        with server.http.stream("GET", path) as one, server.http.stream("GET", path) as two:
            first, second = events_in(one.iter_lines()), events_in(two.iter_lines())
            assert next(first)[1] == next(second)[1] == "tree"
            model.gate.set()
            assert flat([*first]) == flat([*second])
        live = server.door.runs.live(run_id)
        assert live is None or len(live._run.tree.tree_run.statuses.subscribers) == 1
        assert [*events][-1][1] == "done"


def test_without_a_record_at_least_what_happens_now_is_seen(serve, monkeypatch):
    from oracle.api import minds
    from oracle.errors import JournalError

    async def broken(*given, **named):
        raise JournalError("the record is damaged")

    monkeypatch.setattr(minds, "recorded_mind", broken)
    model = GatedModel(look(), found())
    with serve(model=model) as server, asked(server) as events:
        run_id = next(events)[0].partition(":")[0]
        assert model.is_reached.wait(20)
        with server.http.stream("GET", f"/api/runs/{run_id}/mind") as response:
            frames = events_in(response.iter_lines())
            seen = [next(frames), next(frames)]
            model.gate.set()
            seen += [*frames]
        assert [*events][-1][1] == "done"
    running = [node["path"] for node in seen[1][2]["nodes"] if node["status"] == "running"]
    assert seen[0][1] == "tree"
    assert "question/turns" in running
    assert seen[-1][1] == "end"


@pytest.mark.parametrize("type_", FRAMES)
def test_each_type_of_frame_is_documented(type_):
    page = (Path(__file__).parents[2] / "docs" / "server.md").read_text(encoding="utf-8")
    table = page[page.index("| event | what it says |") :].partition("\n\n")[0]
    assert f"`{type_}`" in table


def test_an_event_of_another_stream_is_not_a_place_in_this_one(serve):
    with serve(look(), found(), look(), found()) as server:
        run, other = (server.ask().json()["run_id"] for _ in range(2))
        for path, right in (
            (f"/api/runs/{run}/stream", run),
            (f"/api/runs/{run}/mind", f"{run}:m"),
        ):
            for named in (run, f"{run}:m", other, f"{other}:m", "none"):
                reply = server.http.get(path, headers={"Last-Event-ID": f"{named}:1"})
                assert reply.status_code == (200 if named == right else 400), (path, named)
            assert server.http.get(path, headers={"Last-Event-ID": "1"}).status_code == 200


def test_the_frames_are_compressed_as_they_come(serve):
    """Each part can be read at once; the whole is a tenth of what it was."""
    with serve(look(), found()) as server:
        run_id = server.ask().json()["run_id"]
        plain = {"Accept-Encoding": "identity"}
        with server.http.stream("GET", f"/api/runs/{run_id}/mind", headers=plain) as response:
            whole = b"".join(response.iter_raw())
        with server.http.stream("GET", f"/api/runs/{run_id}/mind") as response:
            packed = list(response.iter_raw())
        reader = zlib.decompressobj(zlib.MAX_WBITS | 16)
        first = reader.decompress(packed[0])
        rest = b"".join(reader.decompress(part) for part in packed[1:])
    assert first.startswith(b"id: ")
    assert first.endswith(b"\n\n")
    assert first + rest == whole
    assert sum(map(len, packed)) < len(whole) / 8
