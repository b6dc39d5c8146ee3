"""The plain loop that the tree is compared with: the model decides everything."""

import json

import pytest

from oracle.bt.wrappers.oracle_wrapper import OracleBTWrapper
from oracle.bt.wrappers.recipe import BASELINE
from oracle.bt.wrappers.retelling import retold
from oracle.bt.wrappers.run_store import open_store
from oracle.errors import InterruptedStream, ModelError
from oracle.services.control.ledger import Limits
from oracle.services.storage.database import as_url
from oracle.testing import Reply, ScriptedModel, ScriptedTools
from tests.asking import CODE, TALK, ask
from tests.scenarios import TOOLS, WRITING, held

LOOK = Reply(calls=[("search_code", {"query": "login"})])


async def plain(*replies, **options):
    return await ask(*replies, loop="baseline", **options)


async def test_a_response_without_a_call_is_the_answer():
    heard = await plain(LOOK, "It is in auth.py:3.", tools=TOOLS)
    assert (heard.stop, heard.done["answer"]) == ("answered", "It is in auth.py:3.")
    assert heard.ran == ["search_code"]


async def test_it_believes_an_answer_that_nothing_backs():
    """The tree would send it back: that is a difference that a comparison must show."""
    heard = await plain("It uses magic.", tools=TOOLS)
    assert (heard.stop, heard.ran) == ("answered", [])


@pytest.mark.parametrize("query", [CODE, TALK])
async def test_every_request_offers_every_tool_and_has_the_same_prompt(query):
    heard = await plain(LOOK, "Done.", tools=WRITING, query=query)
    assert heard.offered == [["search_code", "write_note"]] * 2
    prompt = heard.model.requests[0].messages[0]["content"]
    assert "write_note" in prompt
    assert "<signal" not in prompt
    other = await plain("Done.", tools=WRITING)
    assert other.model.requests[0].messages[0]["content"] == prompt


async def test_the_last_turn_is_for_the_answer():
    heard = await plain(LOOK, LOOK, "What I have.", tools=TOOLS, limits=Limits(turns=3))
    assert (heard.stop, heard.done["answer"]) == ("turn_limit", "What I have.")
    assert heard.offered[-1] == []


async def test_a_call_in_the_last_turn_is_not_run():
    heard = await plain(LOOK, LOOK, tools=TOOLS, limits=Limits(turns=2))
    assert (heard.stop, len(heard.ran)) == ("turn_limit", 1)
    assert heard.done["answer"]


@pytest.mark.parametrize(
    ("ending", "stop"),
    [("length", "partial_answer"), ("refusal", "refusal"), ("filter", "content_filter")],
)
async def test_an_answer_that_was_not_finished_is_not_called_whole(ending, stop):
    cut = [Reply(text="It is", ending=ending)] * (5 if ending == "length" else 1)
    heard = await plain(*cut, tools=TOOLS)
    assert heard.stop == stop


async def test_an_empty_response_is_asked_for_again_twice():
    heard = await plain(LOOK, "", "", "It is in auth.py:3.", tools=TOOLS)
    assert (heard.stop, heard.done["answer"]) == ("answered", "It is in auth.py:3.")


async def test_the_third_empty_response_ends_it_with_what_was_found():
    heard = await plain(LOOK, "", "", "", tools=TOOLS)
    assert heard.stop == "stuck"
    assert "auth.py:3" in heard.done["answer"]


async def test_half_an_answer_that_a_crash_cut_is_asked_for_again():
    cut = Reply(text="It is decided in `auth.py:", raises=InterruptedStream("a crash cut it"))
    heard = await plain(LOOK, cut, "It is in auth.py:3.", tools=TOOLS)
    assert (heard.stop, heard.done["answer"]) == ("answered", "It is in auth.py:3.")
    assert "cut off" in heard.told()


async def test_a_model_that_is_down_ends_it_with_what_was_found():
    heard = await plain(LOOK, Reply(raises=ModelError("down")), tools=TOOLS)
    assert heard.stop == "model_unavailable"
    assert "auth.py:3" in heard.done["answer"]


async def test_a_time_limit_binds_it():
    heard = await plain(held("started "), tools=TOOLS, limits=Limits(seconds=0.8))
    assert heard.stop == "time_limit"


async def test_results_that_do_not_fit_into_the_window_are_cut():
    model = ScriptedModel(*[LOOK] * 6, "Done.", context_window=8_000, longest_output=500)
    heard = await plain(model=model, tools={"search_code": "auth.py:3 " + "word " * 9_000})
    assert heard.stop == "answered"


async def test_citations_are_checked():
    heard = await plain(LOOK, "It is in auth.py:3, not in nowhere.py:7.", tools=TOOLS)
    (sources,) = heard.of_type("sources")
    found = {c["text"]: c["status"] for c in sources["citations"]}
    assert (found["auth.py:3"], found["nowhere.py:7"]) == ("resolved", "unknown")


async def test_its_runs_are_stored_replayed_and_told(tmp_path):
    async with open_store(as_url(tmp_path / "oracle.db")) as store:
        model = ScriptedModel(LOOK, "It is in auth.py:3.")
        agent = OracleBTWrapper(
            model=model, tools=ScriptedTools(TOOLS), store=store, loop="baseline"
        )
        said = [chunk async for chunk in agent.process_query(CODE)]
        (run,) = await store.runs.newest()
        assert run.tree == BASELINE
        tree = await store.replay(run.id)
        await tree.settle()
        told = await retold(store, run)
    assert told.not_replayed == ""
    assert told.story.answer == said[-1]["answer"] == "It is in auth.py:3."
    assert json.dumps(told.as_data(), default=str)
