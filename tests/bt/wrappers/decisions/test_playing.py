"""A recording that is played with its own answers decides the same; without one it stops."""

import asyncio

import pytest

from oracle.bt.wrappers.decisions.change import Change
from oracle.bt.wrappers.decisions.difference import compared
from oracle.bt.wrappers.decisions.playing import played, recorded
from oracle.errors import InputError
from oracle.models.query_classification import QueryClassification, QueryType
from oracle.services.agent_services import AgentServices
from oracle.testing import Reply, ScriptedModel, ScriptedTools
from tests.recorded_scenes import played_scene, recording_of
from tests.scenarios import ENOUGH, SCENES, WRITING, Scene, search

KINDS = (
    *("5 turns", "cancelled in a tool", "cancelled by the first chunk", "the model dies", "stuck"),
    *("tools fail", "allowed", "partial", "a broad question", "malformed", "runaway", "time"),
    *("extracts of some parts", "the longest output", "two at once", "tokens", "one turn"),
)
"""One of each kind of run; the others are played by `make test-extra`."""


@pytest.mark.parametrize(
    "name",
    [name if name in KINDS else pytest.param(name, marks=pytest.mark.extra) for name in SCENES],
)
async def test_without_a_change_no_decision_differs(name):
    recording = await recording_of(name)
    again = await played(recording)
    diff = compared(recording, again)
    assert (diff.turns, diff.missing) == ([], None)
    assert (diff.is_same, diff.is_followed, diff.same_answer) == (True, True, True)
    assert again.recording.decisions.nodes == recording.decisions.nodes
    assert diff.before.tokens == diff.now.tokens


async def test_time_passes_as_recorded_and_not_really():
    scene = Scene(replies=[Reply(text="It is." + ENOUGH, seconds=0.4)] * 2, stop="partial_answer")
    recording = await recording_of(scene)
    began = asyncio.get_running_loop().time()
    again = await played(recording)
    assert asyncio.get_running_loop().time() - began < recording.decisions.totals.seconds
    # The model's time is played, the machine's own is not.
    really, again_took = (
        recording.decisions.totals.seconds,
        again.recording.decisions.totals.seconds,
    )
    assert 0.8 <= again_took <= really


async def test_a_deadline_that_comes_earlier_halts_a_recorded_response():
    scene = Scene(replies=[Reply(text="It is." + ENOUGH, seconds=0.4)] * 2, stop="partial_answer")
    recording = await recording_of(scene)
    again = await played(recording, Change(settings=["limits.seconds=0.3"]))
    assert again.recording.decisions.stop_reason == "time_limit"


async def test_a_response_that_was_cut_has_no_rest_to_give():
    """The deadline cut it. With more time the run would need what the model never said."""
    recording = await recording_of("time")
    again = await played(recording, Change(settings=["limits.seconds=60.0"]))
    assert again.course.missing.words == "the rest of the model's response, which was cut off"


async def test_a_longer_run_stops_where_the_recording_ends():
    recording = await recording_of("5 turns")
    again = await played(recording, Change(settings=["limits.turns=7"]))
    diff = compared(recording, again)
    assert (again.course.missing.turn, again.course.missing.words) == (6, "the model's response")
    assert not diff.is_followed
    assert diff.now.model_calls == 5


async def test_an_interrupted_run_is_followed_to_the_end_of_its_record():
    sink = await played_scene(SCENES["5 turns"])
    at = [record.place.turn for record in sink.records].index(3)
    recording = await recorded(sink.records[:at], sink.contents)
    diff = compared(recording, await played(recording))
    assert (diff.was_interrupted, diff.is_same, diff.is_followed) == (True, True, True)
    assert diff.missing.turn == 3


async def test_values_that_do_not_fit_the_new_tree_are_an_input_error(tmp_path):
    (tmp_path / "own.lua").write_text(
        'BT.tree("oracle-agent", { blackboard = { query = "string" },'
        ' root = BT.expect("it", "bb.query == 1") })'
    )
    recording = await recording_of("partial")
    with pytest.raises(InputError, match="do not fit the tree: no key '"):
        await played(recording, Change(trees=[str(tmp_path / "own.lua")]))


# -- live ------------------------------------------------------------------------------------------


def live(*replies, tools):
    return AgentServices(model=ScriptedModel(*replies), tools=ScriptedTools(tools))


async def test_live_the_world_answers_what_the_recording_does_not_have():
    recording = await recording_of("5 turns")
    services = live(search("new"), "final" + ENOUGH, tools={"search_code": "n.py:1 x"})
    again = await played(recording, Change(settings=["limits.turns=9"]), live=services)
    assert again.course.missing is None
    assert [note.words for note in again.course.lived] == [
        "the model's response",
        'search_code("new")',
        "the model's response",
    ]
    assert again.recording.decisions.stop_reason == "answered"


async def test_a_tool_that_writes_is_never_run_not_even_live():
    """In the recording the call was refused, because it was not granted. As an order it is."""
    writes = Reply(calls=[("write_note", {"query": "q"})])
    recording = await recording_of(
        Scene(replies=[writes, search(1), "ok" + ENOUGH], tools=WRITING, stop="answered")
    )
    ran = []
    change = Change(classifier=lambda *_: QueryClassification.of_type(QueryType.ACTION))
    services = live(tools={"search_code": "x", "write_note": ran.append})
    again = await played(recording, change, live=services)
    words = 'write_note("q"), which writes and is never run in a replay'
    assert (ran, again.course.missing.words) == ([], words)


async def test_a_recorded_write_is_looked_up_and_a_person_is_not_asked_again():
    recording = await recording_of("allowed")
    again = await played(recording, live=live(tools={}))
    assert again.course.lived == []
    assert again.recording.decisions.stop_reason == "answered"


async def test_a_person_who_was_never_asked_ends_the_replay():
    recording = await recording_of("refused")
    again = await played(recording, Change(settings=[]))
    assert again.course.missing is None
    recording.recipe.board["can_ask"] = True
    again = await played(recording, live=live(tools={}))
    assert again.course.missing.words.endswith(", and nobody is asked in a replay")
