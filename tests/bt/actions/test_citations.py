"""The finish branch holds an answer's citations against what the run has read."""

import json

import pytest

from oracle.bt.wrappers.oracle_wrapper import OracleBTWrapper
from oracle.bt.wrappers.recipe import built_in_trees, services_from
from oracle.bt.wrappers.run_store import open_store
from oracle.services.citations import without_marks
from oracle.services.storage.database import as_url
from oracle.services.tools.answer import Answer, as_result
from oracle.testing import Reply, ScriptedModel, ScriptedTools, signal

QUESTION = "When does a session expire in session.py?"
LOOK = Reply(
    text="I look." + signal("need_turn", reason="find it"), calls=[("read_file", {"path": "s"})]
)
LINES = "\n".join([*(f"# line {number}" for number in range(1, 60)), "MAX_IDLE = 1800"])
FOUND = {
    "kind": "code",
    "where": "src/session.py:1-60",
    "text": LINES,
    "path": "src/session.py",
    "start": 1,
    "end": 60,
    "digest": "ab" * 32,
}
ANSWER = "After 30 minutes: `MAX_IDLE = 1800` (`session.py:60`). It is checked in `guard.py:7`."
MARKED = ANSWER.replace("`guard.py:7`", "`guard.py:7` (⚠ not read)")


def enough(text):
    return text + signal("context_sufficient", sources_found=1)


def tools():
    return ScriptedTools({"read_file": as_result(Answer(summary="Read.", findings=[FOUND]))})


async def ask(model, query=QUESTION, **more):
    wrapper = OracleBTWrapper(model=model, tools=tools(), **more)
    return [chunk async for chunk in wrapper.process_query(query)]


def only(said, type_):
    (chunk,) = [chunk for chunk in said if chunk.type == type_]
    return chunk


async def test_the_model_gets_the_sources_as_data_and_the_record_of_the_end_has_them_once(tmp_path):
    model = ScriptedModel(LOOK, enough(ANSWER))
    async with open_store(as_url(f"sqlite:///{tmp_path}/oracle.db"), on_failure="stop") as store:
        said = await ask(model, store=store)
        records, _ = await store.record_of(said[-1]["run_id"])
    (result,) = [m for m in model.requests[-1].messages if m["role"] == "tool"]
    assert result["sources"] == [FOUND]
    assert (result["tool_role"], result["tool_kind"]) == ("read", "code")
    assert all("sources" not in message for message in records[-1].body["board"]["messages"])


async def test_an_invented_citation_is_marked_and_a_right_one_is_not():
    said = await ask(ScriptedModel(LOOK, enough(ANSWER)))
    assert said[-1]["answer"] == MARKED
    citations = only(said, "sources")["citations"]
    assert [citation["status"] for citation in citations] == ["resolved", "unknown"]
    assert [MARKED[slice(*citation["span"])] for citation in citations] == [
        *("session.py:60", "guard.py:7")
    ]
    assert citations[0]["digest"] == ("ab" * 32)[:16]


async def test_what_was_streamed_is_the_answer_without_its_marks():
    said = await ask(ScriptedModel(LOOK, enough(ANSWER)))
    streamed = "".join(
        chunk.content for chunk in said if chunk.type == "content" and chunk.turn > 1
    )
    assert streamed.strip() == ANSWER == without_marks(said[-1]["answer"])


async def test_a_citation_with_wrong_lines_is_told_where_its_quotation_stands():
    """The evidence on the board has only the first lines; the message has them all."""
    said = await ask(ScriptedModel(LOOK, enough("`MAX_IDLE = 1800` is at `src/session.py:12`.")))
    assert said[-1]["answer"].endswith("`src/session.py:12` (⚠ it is at line 60).")


async def test_an_answer_without_citations_stays_and_shows_what_was_read():
    said = await ask(ScriptedModel(LOOK, enough("After half an hour.")))
    assert said[-1]["answer"] == "After half an hour."
    sources = only(said, "sources")
    assert [(place["where"], place["cited"]) for place in sources["sources"]] == [
        ("src/session.py:1-60", False)
    ]
    assert sources["citations"] == []


async def test_sources_say_which_of_them_are_cited():
    said = await ask(ScriptedModel(LOOK, enough(ANSWER)))
    assert [place["cited"] for place in only(said, "sources")["sources"]] == [True]


async def test_the_trees_own_last_words_cite_only_what_was_read():
    model = ScriptedModel(LOOK, Reply(raises=ConnectionError("gone")), repeats_last=True)
    said = await ask(model)
    assert "`src/session.py:1-60`" in said[-1]["answer"]
    assert "⚠" not in said[-1]["answer"]


async def test_a_tree_without_the_leaf_leaves_the_answer_alone():
    trees = dict(built_in_trees())
    lines = trees["finish.lua"].splitlines(keepends=True)
    trees["finish.lua"] = "".join(line for line in lines if "check_citations" not in line)
    said = await ask(ScriptedModel(LOOK, enough(ANSWER)), trees=trees)
    assert said[-1]["answer"] == ANSWER
    sources = only(said, "sources")
    assert sources["citations"] is None
    assert [place["cited"] for place in sources["sources"]] == [None]


@pytest.fixture
async def store(tmp_path):
    async with open_store(as_url(tmp_path / "oracle.db")) as opened:
        yield opened


@pytest.mark.extra
async def test_what_an_earlier_exchange_read_counts_in_a_later_one(store):
    first = await ask(ScriptedModel(LOOK, enough(ANSWER)), store=store)
    wrapper = OracleBTWrapper(
        model=ScriptedModel(enough("As said, `session.py:60` and `session.py:61`.")), store=store
    )
    followed = wrapper.process_query("And where does it expire again?", first[-1]["context_id"])
    said = [chunk async for chunk in followed]
    expected = "As said, `session.py:60` and `session.py:61` (⚠ lines not read)."
    assert said[-1]["answer"] == expected
    assert [c["earlier"] for c in only(said, "sources")["citations"]] == [True, False]


async def test_the_marked_answer_is_stored_and_a_replay_comes_to_the_same(store):
    said = await ask(ScriptedModel(LOOK, enough(ANSWER)), store=store)
    run_id = said[-1]["run_id"]
    *_, kept = await store.history(run_id)
    assert kept.answer == MARKED
    assert len(json.dumps(kept.metadata["places"])) < 200
    replayed = await store.replay(run_id, services=services_from)
    await replayed.settle()
    assert replayed.board.get("answer") == MARKED
    assert replayed.board.get("citations") == only(said, "sources")["citations"]
