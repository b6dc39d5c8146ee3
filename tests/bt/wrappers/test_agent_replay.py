"""Each scene, recorded in memory and in a database, comes to the same end from its record alone."""

import asyncio
import gc
import weakref
from dataclasses import replace

import pytest

from oracle.bt.wrappers.recipe import AgentSetup, services_from
from oracle.bt.wrappers.recorded_tree import RecordedTree
from oracle.bt.wrappers.run_store import open_store
from oracle.services.agent_services import AgentServices
from oracle.services.journal import MemorySink
from oracle.services.storage.database import as_url
from oracle.testing import ScriptedTools
from tests.default_run import thinned
from tests.scenarios import NAMES, SCENES, play, says


def run_of(scene, sink, records=(), say=lambda chunk: None):
    """A run of a scene without a wrapper around it, so that its record can be looked at."""
    model, tools = scene.model(), ScriptedTools(scene.tools)

    def hear(chunk):
        say(chunk)
        if scene.cancel_at(chunk):
            run.cancel("stop it")

    live = AgentServices(model=model, tools=tools, approve=scene.approve, say=hear)
    recipe = AgentSetup(live=live, limits=scene.limits).recipe(scene.query)
    run = RecordedTree(recipe, sink, services=lambda recipe: services_from(recipe, live))
    return run


def heard_again(sink):
    """A replay with what it says: no model, no tools."""
    said = []
    services = AgentServices(say=said.append)
    again = RecordedTree.replay(
        sink.records, sink.contents, services=lambda recipe: services_from(recipe, services)
    )
    return again, said


@pytest.mark.parametrize("name", thinned(NAMES, 4))
async def test_a_scene_is_told_again_from_memory_word_for_word(name):
    sink, said = MemorySink(), []
    run = run_of(SCENES[name], sink, say=said.append)
    events = []
    run.bus.subscribe(events.append)
    outcome = await run.settle()
    assert run.board.get("stop_reason") == SCENES[name].stop
    again, said_again = heard_again(sink)
    events_again = []
    again.bus.subscribe(events_again.append)
    assert again.summary(await again.settle()) == run.summary(outcome) == sink.records[-1].body
    # A cancellation that comes with a result may have the time of either.
    assert [replace(e, at=0.0) for e in events_again] == [replace(e, at=0.0) for e in events]
    assert all(abs(a.at - b.at) < 5.0 for a, b in zip(events_again, events, strict=True))
    assert said_again == said


@pytest.mark.extra
@pytest.mark.parametrize("name", SCENES)
async def test_a_scene_is_told_again_from_a_database(name, tmp_path):
    async with open_store(as_url(tmp_path / "oracle.db")) as store:
        said = await play(SCENES[name], store=store)
        assert said[-1]["stop_reason"] == SCENES[name].stop
        replay = await store.replay(said[-1]["run_id"], services=services_from)
        assert replay.summary(await replay.settle()) == replay.records[-1].body


@pytest.mark.parametrize("kind", ["system", "content", "tool_call", "tool_result", "turn_end"])
async def test_a_run_that_was_cancelled_anywhere_is_told_again(kind):
    """Also in the middle of a tick, and when it is too late."""
    for name in ("29 of 30", "two at once", "allowed", "unbelieved", "sufficient and searching"):
        scene = replace(SCENES[name], cancel_at=says(kind))
        sink = MemorySink()
        run = run_of(scene, sink)
        summary = run.summary(await run.settle())
        again, _ = heard_again(sink)
        assert again.summary(await again.settle()) == summary, name


async def test_a_run_that_was_cancelled_before_it_began_is_told_again():
    sink = MemorySink()
    run = run_of(SCENES["one turn"], sink)
    run.cancel("never mind")
    summary = run.summary(await run.settle())
    assert summary["board"]["stop_reason"] == "cancelled"
    assert "messages" not in summary["board"]
    again, _ = heard_again(sink)
    assert again.summary(await again.settle()) == summary


def at_the_end(act):
    return lambda event: act() if event.type == "run.ended" else None


async def test_a_run_that_has_ended_is_let_go():
    """Nothing watches it for a rest that never comes, however late it was cancelled."""
    sink = MemorySink()
    run = run_of(SCENES["one turn"], sink)
    run.bus.subscribe(at_the_end(run.cancel))
    await run.settle()
    run.cancel("too late")
    again, _ = heard_again(sink)
    await again.settle()
    journals = [weakref.ref(run.journal), weakref.ref(again.journal)]
    del run, again
    for _ in range(3):
        await asyncio.sleep(0)
    gc.collect()
    assert [journal() for journal in journals] == [None, None]
    assert [record.kind for record in sink.records].count("command") == 0


@pytest.mark.extra
async def test_a_run_that_died_among_the_extracts_goes_on_from_any_record():
    """What is on record is not asked again, and the end is the same."""
    scene, sink = SCENES["a broad question in extracts"], MemorySink()
    whole = run_of(scene, sink)
    await whole.settle()
    told = [message["content"] for message in whole.board.get("messages")]
    answers = [
        r.seq
        for r in sink.records
        if r.kind == "answer" and r.place.node_path.endswith("/ask about parts")
    ]
    assert len(answers) == 9
    for seq in answers[::2]:
        rest, model = MemorySink(), scene.model()
        live = AgentServices(model=model, tools=ScriptedTools(scene.tools))
        resumed = RecordedTree.resume(
            sink.records[: seq + 1],
            sink.contents,
            rest,
            services=lambda recipe, live=live: services_from(recipe, live),
        )
        await resumed.settle()
        assert resumed.board.get("stop_reason") == "answered"
        assert [message["content"] for message in resumed.board.get("messages")] == told
        assert len(model.requests) == 1 + sum(answer > seq for answer in answers)
