"""What the wrapper promises whoever listens: chunks by contract, `done` last, a clean end."""

import asyncio
import gc
import json
from contextlib import aclosing, asynccontextmanager, suppress

import pytest

from oracle.bt.board import SECONDS_WAITED
from oracle.bt.wrappers.oracle_wrapper import OracleBTWrapper
from oracle.bt.wrappers.recipe import AgentSetup, built_in_trees
from oracle.bt.wrappers.run_store import open_store
from oracle.errors import InputError, StoreError
from oracle.models.source import Given
from oracle.models.stream_chunk import CHUNKS, ChunkType, OracleStreamChunk
from oracle.services.agent_services import AgentServices
from oracle.services.control.ledger import Limits
from oracle.services.embedded.model import EmbeddedModel
from oracle.services.storage.database import as_url
from oracle.testing import Reply, ScriptedModel, ScriptedTools, signal
from tests.asking import TALK
from tests.default_run import thinned
from tests.scenarios import CODE, NAMES, SCENES, Scene, held, never, play, search
from tests.tables import each_row


async def heard(wrapper, query=CODE, **more):
    return [chunk async for chunk in wrapper.process_query(query, **more)]


def check_contract(said):
    """Each chunk survives a wire; `done` is last and once; turns count upwards."""
    for chunk in said:
        assert chunk.data.keys() == CHUNKS[chunk.type].keys()
        assert OracleStreamChunk.from_dict(json.loads(json.dumps(chunk.to_dict()))) == chunk
    assert [chunk.type for chunk in said].index("done") == len(said) - 1
    assert [chunk.turn for chunk in said] == sorted(chunk.turn for chunk in said)
    assert said[-1]["answer"]
    assert said[-1]["stop_reason"]


def texts_of_turns(said):
    """What was said up to each `turn_end`, with its outcome."""
    text = ""
    for chunk in said:
        if chunk.type == "content":
            text += chunk.content
        elif chunk.type == "turn_end":
            yield chunk["outcome"], text.strip()
            text = ""


@pytest.mark.parametrize("name", thinned(NAMES, 4))
async def test_every_chunk_keeps_to_the_contract_and_the_answer_is_what_was_said_last(name):
    said = await play(SCENES[name])
    check_contract(said)
    assert said[-1]["stop_reason"] == SCENES[name].stop
    *drafts, (outcome, answer) = texts_of_turns(said)
    assert (outcome, answer) == ("answer", said[-1]["answer"].strip())
    assert all(outcome != "answer" for outcome, _ in drafts)
    calls = [chunk["id"] for chunk in said if chunk.type == "tool_call"]
    results = {chunk["id"] for chunk in said if chunk.type == "tool_result"}
    assert results <= set(calls)


async def test_what_is_said_between_two_ends_of_turns_is_that_turns_text():
    first = Reply(text="Looking. " + search(1).text, calls=search(1).calls)
    scene = Scene(replies=[first, "A draft." + signal("need_turn", reason="x"), "End."], stop="")
    assert list(texts_of_turns(await play(scene))) == [
        ("tools", "Looking."),
        ("draft", "A draft."),
        ("answer", "End."),
    ]


# -- what cannot be answered -----------------------------------------------------------------------


@asynccontextmanager
async def no_store():
    raise StoreError("the disk is gone")
    yield


NO_FINISH = built_in_trees()["oracle-agent.lua"].replace("finish = ", "description = '', --")
MUTE = 'BT.tree("oracle-agent", { root = BT.condition("no", { expression = "1 == 2" }) })'


@each_row(
    ("options", "query", "context_id", "stop"),
    [
        ({}, "", None, "invalid_input"),
        ({}, " \n\t", None, "invalid_input"),
        ({}, CODE, "abc", "invalid_input"),
        ({}, None, None, "internal_error"),
        ({"trees": {}}, CODE, None, "invalid_input"),
        ({"trees": {"oracle-agent.lua": "BT.tree("}}, CODE, None, "invalid_input"),
        ({"trees": {"oracle-agent.lua": MUTE}}, CODE, None, "settled"),
        ({"model": None}, CODE, None, "model_unavailable"),
        ({"store": no_store}, CODE, None, "store_failed"),
    ],
)
async def test_what_cannot_be_answered_still_ends_with_done(options, query, context_id, stop):
    wrapper = OracleBTWrapper(**({"model": ScriptedModel("x")} | options))
    said = await heard(wrapper, query, context_id=context_id)
    check_contract(said)
    assert said[-1]["stop_reason"] == stop
    assert said[-1]["context_id"] is None


async def test_a_tree_without_a_finish_branch_still_ends_with_what_there_is():
    trees = {**built_in_trees(), "oracle-agent.lua": NO_FINISH}
    said = await play(SCENES["the model dies"], trees=trees)
    check_contract(said)
    assert "auth.py:3" in said[-1]["answer"]
    assert list(texts_of_turns(said))[-1] == ("answer", said[-1]["answer"].strip())


async def test_a_run_that_cannot_be_recorded_any_more_still_says_what_it_has(tmp_path):
    """Somebody takes the run away under its feet, after its first words."""
    scene, said = Scene(replies=[search(1), held("It is X.")], stop=""), []
    async with open_store(as_url(tmp_path / "oracle.db")) as store:
        async for chunk in scene.wrapper(store=store).process_query(scene.query):
            said.append(chunk)
            if chunk.type == ChunkType.CONTENT and "X" in chunk.content:
                (run,) = await store.runs.newest()
                if run.lease_owner is not None:
                    await store.runs.release(run.id, run.lease_owner)
    check_contract(said)
    # The next record notices it, or the next renewal of the lease, whichever comes first.
    assert said[-1]["stop_reason"] in ("store_failed", "held_elsewhere")
    assert [chunk.type for chunk in said].count("error") == 1
    assert "It is X." in said[-1]["answer"]


class Stubborn(ScriptedModel):
    """Does not let itself be closed, until the test is over."""

    over: asyncio.Event

    async def stream(self, request):
        yield {"text": "It is"}
        while not self.over.is_set():
            with suppress(asyncio.CancelledError):
                await self.over.wait()


async def test_a_model_that_cannot_be_closed_is_left_behind(monkeypatch, caplog):
    monkeypatch.setattr("oracle.bt.core.runtime.CLEAN_UP_SECONDS", 0.05)
    model = Stubborn()
    model.over = asyncio.Event()
    said = await heard(OracleBTWrapper(model=model, limits=Limits(seconds=0.1)))
    model.over.set()
    check_contract(said)
    assert said[-1]["stop_reason"] == "time_limit"
    assert "abandoned" in caplog.text
    assert await all_quiet()


@pytest.mark.parametrize(
    ("result", "told"),
    [
        (None, "TypeError"),
        ({"success": True, "content": 5, "sources": []}, "the content is a int, not text"),
        (
            {"success": True, "content": "x", "sources": [{}]},
            "says where it is, as text",
        ),
        ({"success": True, "content": "x", "sources": 5}, "TypeError"),
    ],
)
async def test_a_tool_that_answers_nonsense_has_failed(result, told):
    class Odd(ScriptedTools):
        async def run(self, name, arguments):
            return result

    said = await play(Scene(replies=[search(1), "End."], stop=""), tools=Odd({"search_code": ""}))
    (returned,) = [chunk for chunk in said if chunk.type == "tool_result"]
    assert not returned["success"]
    assert told in returned["content"]
    assert said[-1]["answer"] == "End."


@pytest.mark.parametrize("limits", [Limits(turns=-1), Limits(seconds=float("inf"))])
def test_what_is_no_limit_is_refused_at_once(limits):
    with pytest.raises(InputError, match="is not a limit"):
        OracleBTWrapper(limits=limits)


# -- cancelling ------------------------------------------------------------------------------------


async def test_what_was_cancelled_before_the_first_chunk_never_asks_the_model():
    model = ScriptedModel("x")
    wrapper = OracleBTWrapper(model=model)
    chunks = wrapper.process_query(CODE)
    wrapper.cancel("never mind")
    said = [chunk async for chunk in chunks]
    check_contract(said)
    assert (said[-1]["stop_reason"], said[-1]["detail"]) == ("cancelled", "never mind")
    assert model.requests == []


async def test_what_was_cancelled_while_history_is_loaded_never_asks_the_model(tmp_path):
    async with open_store(as_url(tmp_path / "oracle.db")) as store:
        model = ScriptedModel("x")
        wrapper = OracleBTWrapper(model=model, store=store)
        reading = asyncio.create_task(heard(wrapper))
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        wrapper.cancel()
        said = await reading
        assert said[-1]["stop_reason"] == "cancelled"
        assert model.requests == []
        assert said[-1]["context_id"] == said[-1]["run_id"]


@each_row("kind", ["system", "content", "signal", "turn_end", "sources", "done"])
async def test_cancelling_twice_and_at_any_chunk_does_no_harm(kind):
    wrapper = SCENES["unbelieved"].wrapper()
    said = []
    async for chunk in wrapper.process_query(CODE):
        said.append(chunk)
        if chunk.type == kind:
            wrapper.cancel("once")
            wrapper.cancel("twice")
    wrapper.cancel("after the end")
    check_contract(said)
    assert said[-1]["stop_reason"] in ("cancelled", "answered")
    assert said[-1]["detail"] in ("once", "")


async def test_cancelling_ends_every_question_of_the_wrapper():
    wrapper = Scene(replies=[held("It is")], repeats_last=True, stop="").wrapper()

    async def ask():
        said = []
        async for chunk in wrapper.process_query(CODE):
            said.append(chunk)
            if chunk.type == "content":
                begun.release()
        return said

    begun = asyncio.Semaphore(0)
    asked = [asyncio.create_task(ask()) for _ in range(5)]
    for _ in asked:
        await begun.acquire()
    wrapper.cancel()
    for said in await asyncio.gather(*asked):
        check_contract(said)
        assert said[-1]["answer"].startswith("It is […]")


# -- those who stop listening ----------------------------------------------------------------------


async def all_quiet():
    """Wait until only this test is at work; what was left behind would stay."""
    gc.collect()
    for _ in range(10_000):
        if asyncio.all_tasks() == {asyncio.current_task()}:
            return True
        await asyncio.sleep(0)
    return False


LISTENED_TO = {
    "the model": Scene(replies=[held("It is")], stop=""),
    "a tool": Scene(replies=[search(1)], tools={"search_code": never}, stop=""),
    "a person": SCENES["cancelled while a person thinks"],
}


@pytest.mark.parametrize("name", thinned(LISTENED_TO, 3))
@pytest.mark.parametrize("how", ["break", "aclose", "cancel", "cancel twice"])
async def test_who_stops_listening_closes_the_connection_and_leaves_nothing_behind(
    name, how, caplog
):
    scene = LISTENED_TO[name]
    model = scene.model()
    wrapper = scene.wrapper(model=model)
    begun = asyncio.Event()

    async def listen():
        chunks = wrapper.process_query(CODE)
        async for chunk in chunks:
            if chunk.type in ("content", "tool_call", "approval"):
                begun.set()
                if how == "break":
                    break
                if how == "aclose":
                    await chunks.aclose()

    listening = asyncio.create_task(listen())
    await begun.wait()
    if how.startswith("cancel"):
        listening.cancel()
        await asyncio.sleep(0)
        if how == "cancel twice":
            listening.cancel()
    await asyncio.wait([listening])
    del listening
    assert await all_quiet()
    assert model.closed == len(model.requests) == 1
    assert [record for record in caplog.records if record.name == "asyncio"] == []


async def test_closing_returns_when_the_run_has_ended():
    model = ScriptedModel(Reply(text="It is", hold=asyncio.Event()))
    chunks = OracleBTWrapper(model=model).process_query(CODE)
    async with aclosing(chunks):
        while (await anext(chunks)).type != "content":
            pass
    assert model.closed == 1
    assert asyncio.all_tasks() == {asyncio.current_task()}


async def test_chunks_that_nobody_asks_for_cost_nothing():
    model = ScriptedModel()
    wrapper = OracleBTWrapper(model=model)
    wrapper.process_query(CODE)
    chunks = wrapper.process_query(CODE)
    await chunks.aclose()
    assert (await all_quiet(), model.requests) == (True, [])


async def test_a_slow_reader_misses_nothing_and_holds_up_nobody():
    finished = asyncio.Event()
    text = " ".join(f"word {n}" for n in range(200))
    model = ScriptedModel(lambda _: finished.set() or Reply(text=text, piece=1))
    chunks = OracleBTWrapper(model=model).process_query(TALK)
    said = [await anext(chunks)]
    await finished.wait()
    async for chunk in chunks:
        await asyncio.sleep(0)
        said.append(chunk)
    check_contract(said)
    assert said[-1]["answer"] == text


# -- several at once -------------------------------------------------------------------------------


async def test_questions_asked_at_once_stay_apart():
    def by_question(request):
        question = request.messages[-1]["content"]
        if request.messages[-1]["role"] == "tool":
            return f"found {question}"
        return Reply(calls=[("search_code", {"query": question.split()[-1]})])

    tools = ScriptedTools({"search_code": lambda arguments: f"{arguments['query']}.py:1"})
    wrapper = OracleBTWrapper(model=ScriptedModel(by_question, repeats_last=True), tools=tools)
    questions = [f"Where is the function f{number}" for number in range(20)]
    told = await asyncio.gather(*(heard(wrapper, question) for question in questions))
    for number, said in enumerate(told):
        check_contract(said)
        assert said[-1]["answer"] == f"found f{number}.py:1"
    assert len({said[-1]["run_id"] for said in told}) == len(told)


async def test_approvals_of_questions_asked_at_once_can_be_told_apart():
    scene = SCENES["allowed"]
    wrappers = [scene.wrapper() for _ in range(2)]
    told = await asyncio.gather(*(heard(wrapper) for wrapper in wrappers))
    asked = [chunk["id"] for said in told for chunk in said if chunk.type == "approval"]
    assert len(set(asked)) == 2


@pytest.mark.parametrize(
    ("money", "severity"), [(1.00, "info"), (0.25, "warning"), (0.0, "warning"), (None, None)]
)
async def test_a_limit_of_money_that_somebody_set_is_not_dropped_without_a_warning(money, severity):
    scene = Scene(replies=["Hello."], query="Hello!", limits=Limits(money=money), stop="answered")
    said = [chunk for chunk in await play(scene) if "the money budget is off" in chunk.content]
    assert [chunk["severity"] for chunk in said] == ([severity] if severity else [])


@pytest.mark.parametrize(
    ("waited", "before", "shown_beside"), [(0.0, 0.0, None), (3.0, 3.0, None), (9.0, 5.0, 4.0)]
)
def test_the_time_limit_counts_from_when_the_user_began_to_wait(waited, before, shown_beside):
    live = AgentServices(model=EmbeddedModel())
    agent = AgentSetup(live=live, limits=Limits(seconds=10.0))
    board = agent.recipe("Where is it?", given=Given(seconds_waited=waited)).board
    assert board.get("seconds_before", 0.0) == before
    assert board["facts"].get(SECONDS_WAITED) == shown_beside
