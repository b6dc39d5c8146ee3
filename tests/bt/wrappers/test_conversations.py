"""Conversations on disk: kept before `done`, continued, branched, recorded; on both databases."""

import asyncio
import resource
from contextlib import closing

import pytest

from oracle.bt.wrappers.oracle_wrapper import OracleBTWrapper
from oracle.bt.wrappers.recipe import AgentSetup
from oracle.bt.wrappers.run_store import RunStore, open_store
from oracle.models.session import Exchange
from oracle.models.source import Given
from oracle.services.ans.query import EventQuery
from oracle.services.ans.table import open_events
from oracle.services.journal.writer import journal_writer
from oracle.services.storage.database import Database
from oracle.services.storage.exchanges import Exchanges
from oracle.services.storage.sessions import Sessions
from oracle.testing import ScriptedModel, signal
from tests.asking import TALK
from tests.scenarios import CODE, SCENES, Scene, play, search
from tests.tables import each_row

ANSWER = Scene(replies=[search(1), "It is in auth.py:3."], stop="answered")
LONG_TEXT = " ".join(f"word {n}" for n in range(300))
ENOUGH = signal("context_sufficient", sources_found=1)


@pytest.fixture
async def store(database_url):
    async with open_store(database_url) as store:
        yield store


async def done(store, scene=ANSWER, context_id=None, **more):
    return (await play(scene, context_id, store=store, **more))[-1]


async def test_what_is_shown_is_on_disk_before_done(store, database):
    wrapper = ANSWER.wrapper(store=store)
    async for chunk in wrapper.process_query(CODE):
        if chunk.type == "done":
            kept = await Exchanges(database).get(chunk["context_id"])
            run = await store.runs.get(chunk["run_id"])
    assert (kept.question, kept.answer) == (CODE, "It is in auth.py:3.")
    assert (kept.run_id, kept.parent_id, run.session_id) == (run.id, None, kept.session_id)
    assert (run.status, run.stop_reason, run.usage["turns"]) == ("done", "answered", 2)
    assert kept.metadata["places_found"] == 1


async def test_a_conversation_goes_on_and_the_model_hears_what_was_said(store, database):
    first = await done(store)
    model = ScriptedModel("Also in token.py.")
    second = await done(store, ANSWER, first["context_id"], model=model)
    told = [(message["role"], message["content"]) for message in model.requests[0].messages]
    assert told[1][1].startswith("<project_facts>")
    assert told[2:] == [("user", CODE), ("assistant", "It is in auth.py:3."), ("user", CODE)]
    path = await Exchanges(database).path_to(second["context_id"])
    assert [exchange.answer for exchange in path] == ["It is in auth.py:3.", "Also in token.py."]


async def test_a_later_question_knows_that_a_text_was_attached(store, database):
    diff = "diff --git a/a.py b/a.py\n" + "+x = 1\n" * 200 + "a.py:3: error: no\n"
    safe = Scene(replies=["It is safe."], query="is this diff safe?", stop="answered")
    chunks = [
        c async for c in safe.wrapper(store=store).process_query(safe.query, given=Given(text=diff))
    ]
    first = chunks[-1]
    kept = await Exchanges(database).get(first["context_id"])
    assert kept.metadata["attached_characters"] == len(diff)
    model = ScriptedModel("It only adds lines, but for a.py:3. Not b.py:4.")
    why = Scene(replies=[], query="and why is the diff safe?", stop="answered")
    second = await done(store, why, first["context_id"], model=model)
    asked = [m["content"] for m in model.requests[0].messages if m["role"] == "user"]
    note = f"[A text of {len(diff):,} characters was attached to this question. It is not repeated"
    assert asked[-2].startswith(f"is this diff safe?\n\n{note}")
    assert asked[-1] == "and why is the diff safe?"
    assert (second["stop_reason"], len(model.requests)) == ("answered", 1)
    # What the attached text names is known, as it was in its own exchange.
    assert second["answer"] == "It only adds lines, but for a.py:3. Not b.py:4 (⚠ not read)."


@each_row("value", [-1, 0, True, "9", 1.5, None, [1]])
def test_a_changed_length_of_an_attachment_is_not_used(value):
    given = Exchange(
        id="e",
        session_id="s",
        question="q",
        answer="a",
        created_at=0.0,
        metadata={"attached_characters": value},
    )
    (known,) = AgentSetup().recipe("why?", history=[given]).board["history"]
    assert known["metadata"] == {}


async def test_two_runs_from_one_exchange_are_two_branches(store, database):
    first = await done(store)
    branches = await asyncio.gather(
        *(done(store, Scene(replies=[word], stop=""), first["context_id"]) for word in "ab")
    )
    for branch, word in zip(branches, "ab", strict=True):
        path = await Exchanges(database).path_to(branch["context_id"])
        assert [exchange.answer for exchange in path] == ["It is in auth.py:3.", word]
    (listed,) = await Sessions(database).newest()
    assert listed.exchanges == 3


async def test_in_a_session_a_question_goes_on_from_the_newest_exchange(store, database):
    session = await Sessions(database).create(session_id="s1", title="t", at=1.0)
    for word in "abc":
        scene = Scene(replies=[word], query=TALK, stop="")
        ended = await done(store, scene, session_id=session.id)
    path = await Exchanges(database).path_to(ended["context_id"])
    assert [exchange.answer for exchange in path] == ["a", "b", "c"]


@pytest.mark.parametrize(("context_id", "session_id"), [("nope", None), (None, "nope")])
async def test_what_is_not_there_is_named_and_leaves_nothing_behind(
    store, database, context_id, session_id
):
    said = await play(ANSWER, context_id, store=store, session_id=session_id)
    assert said[-1]["stop_reason"] == "invalid_input"
    assert "'nope'" in said[0].content
    assert await Sessions(database).newest() == await store.runs.newest() == []


async def test_a_tree_that_cannot_be_loaded_leaves_no_session_behind(store, database):
    ended = await done(store, trees={"oracle-agent.lua": "BT.tree("})
    assert ended["stop_reason"] == "invalid_input"
    assert await Sessions(database).newest() == []


async def test_a_cancelled_run_is_kept_with_what_it_has(store, database):
    ended = await done(store, SCENES["cancelled in mid-word"])
    kept = await Exchanges(database).get(ended["context_id"])
    assert kept.answer == ended["answer"]
    assert kept.answer.startswith("It is in the fi […]")
    assert (await store.runs.get(ended["run_id"])).stop_reason == "cancelled"


async def test_who_stops_listening_leaves_a_run_that_is_done(store):
    wrapper = SCENES["cancelled in mid-word"].wrapper(store=store)
    chunks = wrapper.process_query(CODE)
    async for chunk in chunks:
        if chunk.type == "tool_call":
            await chunks.aclose()
    (run,) = await store.runs.newest()
    assert (run.status, run.stop_reason) == ("done", "cancelled")


async def test_events_are_recorded_once_however_many_record_them(database_url):
    async with open_store(database_url) as store, open_store(database_url):
        ended = await done(store)
    with closing(open_events(database_url)) as table:
        stored = table.read(EventQuery(run_id=ended["run_id"]))
    types = [each.event.type for each in stored]
    assert types[0] == "run.started"
    assert types[-1] == "run.ended"
    assert [types.count(one) for one in ("run.started", "tool.called", "run.ended")] == [1, 1, 1]


async def test_history_beyond_its_budget_is_cut_and_the_model_is_told(store):
    context_id = None
    for number in range(4):
        scene = Scene(replies=[f"{number} " + LONG_TEXT], query=TALK, stop="")
        context_id = (await done(store, scene, context_id))["context_id"]
    model = ScriptedModel("short", context_window=11_000)
    await done(store, ANSWER, context_id, model=model)
    _, _, notice, *told = model.requests[0].messages
    assert notice["content"] == "[2 earlier exchanges left out: no room]"
    assert [message["content"][0] for message in told if message["role"] == "assistant"] == [*"23"]


async def test_earlier_evidence_counts_until_the_topic_shifts(store):
    first = await done(store)
    same = Scene(replies=["In login." + ENOUGH], query="Where in login is the token?", stop="")
    assert (await done(store, same, first["context_id"]))["stop_reason"] == "answered"
    query = "Which database migrations create the invoices table?"
    other = Scene(replies=["In 3." + ENOUGH] * 3, query=query, stop="")
    assert (await done(store, other, first["context_id"]))["stop_reason"] == "partial_answer"


async def test_a_follow_up_about_something_new_needs_a_look_of_its_own(store):
    first = await done(store)
    query = "and how does the payment worker consume the queue?"
    other = Scene(replies=["With Kafka." + ENOUGH] * 3, query=query, stop="")
    assert (await done(store, other, first["context_id"]))["stop_reason"] == "partial_answer"
    same = Scene(replies=["For safety." + ENOUGH], query="and why?", stop="")
    assert (await done(store, same, first["context_id"]))["stop_reason"] == "answered"


async def test_questions_asked_at_once_are_all_kept(store, database):
    model = ScriptedModel("It is X.", repeats_last=True)
    wrapper = OracleBTWrapper(model=model, store=store)

    async def ask(number):
        return [chunk async for chunk in wrapper.process_query(f"What is {number}?")][-1]

    ended = await asyncio.gather(*(ask(number) for number in range(10)))
    for number, chunk in enumerate(ended):
        kept = await Exchanges(database).get(chunk["context_id"])
        assert kept.question == f"What is {number}?"


async def test_a_run_that_could_not_be_written_down_answers_all_the_same(tmp_path, caplog):
    """By that setting it goes on in memory; what was not kept is not named in `done`."""
    async with await Database.open(tmp_path / "oracle.db") as database:
        writer = journal_writer(database.url, on_failure="memory")
        soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (1, hard))
        try:
            ended = await done(RunStore(database, writer))
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
            writer.close()
    assert (ended["stop_reason"], ended["context_id"]) == ("answered", None)
    assert "GOING ON WITHOUT A RECORD" in caplog.text


async def rename(folder, old, new):
    """A database without one of its tables fails at that place only."""
    async with await Database.open(folder / "oracle.db") as database:
        renaming = f"ALTER TABLE {old} RENAME TO {new}"
        await database.write(lambda c: c.execute(renaming))
        return database.url


async def test_an_exchange_that_cannot_be_kept_is_told_and_can_be_kept_later(tmp_path):
    url = await rename(tmp_path, "context_nodes", "gone")
    async with open_store(url) as store:
        said = await play(ANSWER, store=store)
        assert said[-1]["answer"] == "It is in auth.py:3."
        assert (said[-1]["stop_reason"], said[-1]["context_id"]) == ("store_failed", None)
        await rename(tmp_path, "gone", "context_nodes")
        wrapper = OracleBTWrapper(store=store)
        again = [chunk async for chunk in wrapper.resume(said[-1]["run_id"])]
    assert (again[-1]["stop_reason"], again[-1]["answer"]) == ("answered", "It is in auth.py:3.")
    assert again[-1]["context_id"] == said[-1]["run_id"]
