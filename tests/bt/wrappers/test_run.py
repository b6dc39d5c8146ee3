"""One run: started, resumed or replayed; its chunks, its errors and its statuses."""

from contextlib import aclosing
from dataclasses import replace

import pytest

from oracle.bt.wrappers.recipe import FORMAT, AgentSetup
from oracle.bt.wrappers.run import Run
from oracle.bt.wrappers.run_store import RunStore, open_store
from oracle.errors import InputError, ModelOverloaded, ModelRefused, NotFound, StoreError
from oracle.models.stream_chunk import ChunkType
from oracle.services.agent_services import AgentServices
from oracle.services.storage.database import Database, as_url
from oracle.testing import Reply, ScriptedModel, ScriptedTools
from tests.default_run import thinned
from tests.scenarios import CODE, NAMES, SCENES, Scene, play


def agent_of(scene):
    live = AgentServices(
        model=scene.model(), tools=ScriptedTools(scene.tools), approve=scene.approve
    )
    return AgentSetup(live=live, limits=scene.limits)


def told(said):
    """What does not depend on the time that it took."""
    return [(chunk.type, chunk.turn, chunk.content) for chunk in said]


async def said_by(run):
    return [chunk async for chunk in run.chunks()]


@pytest.fixture
async def store(tmp_path):
    async with open_store(as_url(tmp_path / "oracle.db")) as store:
        yield store


# -- with or without a store -----------------------------------------------------------------------


async def test_a_run_says_the_same_with_a_store_and_without(store):
    scene = SCENES["two at once"]
    kept = await said_by(Run.start(agent_of(scene), scene.query, store=store))
    unkept = await said_by(Run.start(agent_of(scene), scene.query))
    assert told(kept) == told(unkept)
    assert (kept[-1]["context_id"], unkept[-1]["context_id"]) == (kept[-1]["run_id"], None)


@pytest.mark.parametrize("name", thinned(NAMES, 6))
async def test_a_replay_says_every_chunk_again(name, store, tmp_path):
    """From the database alone, opened for reading, with the statuses of the nodes."""
    said = await play(SCENES[name], store=store, nodes=True)
    run_id = said[-1]["run_id"]
    async with await Database.open(tmp_path / "oracle.db") as database:
        again = await said_by(Run.replay(run_id, store=RunStore(database), nodes=True))
    assert again[:-1] == said[:-1]
    assert again[-1].data | {"context_id": run_id} == said[-1].data


async def test_a_run_that_was_not_found_ends_with_done(store):
    said = await said_by(Run.replay("zzz", store=store))
    assert [chunk.type for chunk in said] == ["error", "done"]
    assert (said[-1]["stop_reason"], said[-1]["error_kind"]) == ("invalid_input", "NotFound")


async def test_a_store_that_only_reads_begins_no_run(database):
    said = await said_by(Run.start(AgentSetup(), CODE, store=RunStore(database)))
    assert said[-1]["error_kind"] == "StoreError"
    assert "was opened for reading" in said[-1]["detail"]


async def test_a_run_can_be_cancelled_before_anything_is_heard_of_it():
    model = ScriptedModel("x")
    run = Run.start(AgentSetup(live=AgentServices(model=model)), CODE)
    run.cancel("never mind")
    done = (await said_by(run))[-1]
    assert (done["stop_reason"], done["detail"], model.requests) == ("cancelled", "never mind", [])


async def test_a_session_is_found_by_a_prefix_as_the_last_and_by_its_exchange(store):
    with pytest.raises(NotFound, match="no sessions yet"):
        await store.session_called("last")
    scene = SCENES["thanks"]
    first, second = [
        await store.session_of((await play(scene, store=store))[-1]["context_id"]) for _ in range(2)
    ]
    assert (await store.session_called(first.id[:12])).title == scene.query
    assert await store.session_called("last") == second


# -- which error ended it --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("reply", "kind"),
    [
        (Reply(raises=ModelRefused("bad key")), "ModelRefused"),
        (Reply(raises=ModelOverloaded("later")), "ModelOverloaded"),
        ("It is so.", None),
    ],
)
async def test_the_error_of_a_model_is_named_in_done(reply, kind):
    scene = Scene(replies=[reply], repeats_last=True, stop="")
    assert (await play(scene))[-1]["error_kind"] == kind


async def test_a_limit_or_a_cancellation_is_not_an_error():
    for name in ("cancelled in mid-word", "5 turns", "tools fail", "stuck"):
        assert (await play(SCENES[name]))[-1]["error_kind"] is None, name


async def test_what_breaks_a_run_is_named_in_done():
    async def ended(**options):
        return (await play(SCENES["one turn"], **options))[-1]["error_kind"]

    def gone():
        raise StoreError("the disk is gone")

    assert await ended(store=gone) == "StoreError"
    assert await ended(trees={"oracle-agent.lua": "BT.tree("}) == "TreeFileError"
    assert await ended(store=lambda: None) == "TypeError"


async def test_a_mistake_in_a_leaf_is_named_in_done():
    text_beside_a_number = 'BT.condition("odd", { expression = "bb.query > 3" })'
    tree = f'BT.tree("oracle-agent", {{ root = {text_beside_a_number} }})'
    done = (await play(SCENES["one turn"], trees={"oracle-agent.lua": tree}))[-1]
    assert (done["stop_reason"], done["error_kind"]) == ("internal_error", "LeafError")


# -- the statuses of the nodes ---------------------------------------------------------------------


async def test_statuses_are_chunks_when_they_are_asked_for():
    said = await play(SCENES["two at once"], nodes=True)
    nodes = [chunk for chunk in said if chunk.type == ChunkType.NODE]
    assert {chunk["status"] for chunk in nodes} >= {"running", "success", "failure"}
    assert all(chunk["path"] and chunk["tick"] >= 1 for chunk in nodes)
    assert {chunk.turn for chunk in nodes} == {0, 1, 2}
    others = [chunk for chunk in said if chunk.type != ChunkType.NODE]
    assert told(others) == told(await play(SCENES["two at once"]))


async def test_statuses_that_nobody_asked_for_cost_nothing():
    run = Run.start(agent_of(SCENES["one turn"]), CODE)
    said = await said_by(run)
    assert ChunkType.NODE not in {chunk.type for chunk in said}
    assert type(run.tree.tree_run.statuses) is list


async def test_what_is_halted_is_told_as_halted():
    said = await play(SCENES["cancelled in mid-word"], nodes=True)
    assert "halted" in {chunk["status"] for chunk in said if chunk.type == ChunkType.NODE}


# -- records of other versions ---------------------------------------------------------------------


OLDER = "json_remove(body, '$[0].format')"
NEWER = f"json_set(body, '$[0].format', {FORMAT + 1})"


async def change_record(database, run_id, change):
    """As if another version had written the first record."""
    first = f"UPDATE journal SET body = {change} WHERE seq = 0 AND run_id = '{run_id}'"
    await database.write(lambda c: c.execute(first))


@pytest.mark.parametrize(("change", "version"), [(OLDER, "an older"), (NEWER, "a newer")])
async def test_a_record_of_another_version_is_shown_but_not_run_again(
    store, tmp_path, change, version
):
    run_id = (await play(SCENES["thanks"], store=store))[-1]["run_id"]
    async with await Database.open(tmp_path / "oracle.db") as database:
        await change_record(database, run_id, change)
    records, _ = await store.record_of(run_id)
    assert [records[0].kind, records[-1].kind] == ["start", "end"]
    with pytest.raises(InputError, match=f"run {run_id} was recorded by {version} version"):
        await store.replay(run_id)


async def test_a_run_of_an_older_version_that_died_is_not_resumed_and_let_go(store, tmp_path):
    scene = SCENES["cancelled in mid-word"]
    run = Run.start(agent_of(scene), scene.query, store=store)
    async with aclosing(run.chunks()) as chunks:
        await anext(chunks)
        await run.tree.lease.release()
    run_id = run.tree.id
    async with await Database.open(tmp_path / "oracle.db") as database:
        await change_record(database, run_id, OLDER)
    done = (await said_by(Run.resume(AgentSetup(), run_id, store=store)))[-1]
    assert done["stop_reason"] == "invalid_input"
    assert "cannot be replayed or resumed" in done["detail"]
    assert (await store.runs.get(run_id)).lease_owner is None


async def test_a_run_of_one_folder_is_not_resumed_in_another(store):
    scene = SCENES["cancelled in mid-word"]
    run = Run.start(replace(agent_of(scene), folder="/tea"), scene.query, store=store)
    async with aclosing(run.chunks()) as chunks:
        await anext(chunks)
        await run.tree.lease.release()
    done = (await said_by(Run.resume(AgentSetup(folder="/milk"), run.tree.id, store=store)))[-1]
    assert done["stop_reason"] == "invalid_input"
    assert done["detail"].endswith("was asked in /tea; go there to resume it")
