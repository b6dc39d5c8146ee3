"""A run can be watched, and a session found again by what a user types."""

import pytest

from oracle.bt.wrappers.oracle_wrapper import OracleBTWrapper
from oracle.bt.wrappers.run_store import open_store
from oracle.errors import NotFound
from oracle.testing import ScriptedModel, signal

HELLO = "Hello." + signal("context_sufficient", sources_found=0)


async def answer(agent, question):
    return [chunk async for chunk in agent.process_query(question)][-1]


async def test_a_run_is_shown_to_a_watcher_before_its_first_tick():
    statuses, runs = [], []

    def watch(run):
        runs.append((run, run.tree_run.context.ticks))
        run.tree_run.subscribe(lambda time, path, old, new: statuses.append(path))

    await answer(OracleBTWrapper(model=ScriptedModel(HELLO), watch=watch), "hello")
    ((run, ticks),) = runs
    assert ticks == 0
    assert run.board.get("classification")["query_type"] == "conversational"
    assert any(path.endswith("the model") for path in statuses)


async def test_a_session_is_found_by_a_prefix_as_the_last_and_by_its_exchange(database_url):
    async with open_store(database_url) as store:
        with pytest.raises(NotFound, match="no session yet"):
            await store.session_called("last")
        agent = OracleBTWrapper(model=ScriptedModel(HELLO, repeats_last=True), store=store)
        first = await store.session_of((await answer(agent, "hello"))["context_id"])
        second = await store.session_of((await answer(agent, "hello again"))["context_id"])
        assert (await store.session_called(first.id[:12])).title == "hello"
        assert await store.session_called("last") == second
