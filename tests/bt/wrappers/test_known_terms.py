"""The agent of a project knows its names: before the run begins, and on the record."""

import asyncio
import shutil
import threading
from contextlib import asynccontextmanager
from types import SimpleNamespace

import pytest

from oracle.bt.wrappers.looked_up import looked_up
from oracle.bt.wrappers.oracle_wrapper import OracleBTWrapper
from oracle.bt.wrappers.project_agent import project_agent
from oracle.bt.wrappers.recipe import services_from
from oracle.bt.wrappers.run_store import open_store
from oracle.services.control.ledger import Limits
from oracle.services.storage.database import as_url
from oracle.settings import load_settings
from oracle.testing import ScriptedModel, signal

ANSWER = "So it is." + signal("context_sufficient", sources_found=0)
OFFER = "It is so. Shall I explain Frobnicator?" + signal("context_sufficient", sources_found=0)
QUESTION = "what does Frobnicator do?"


@pytest.fixture
def project(tmp_path):
    root = tmp_path / "project"
    root.mkdir()
    (root / "oracle.toml").touch()
    (root / "frob.py").write_text("class Frobnicator:\n    pass\n")
    (root / "tides.md").write_text("# Tide tables\n\nHigh at noon.\n")
    return root


@pytest.fixture
async def store(tmp_path):
    async with open_store(as_url(tmp_path / "oracle.db")) as store:
        yield store


async def asked(folder, store, *questions, answers=(ANSWER,), **options):
    """The boards with which the runs ended, as they are on record."""
    agent = project_agent(
        load_settings(folder, environment={}),
        model=ScriptedModel(*answers, repeats_last=True),
        store=store,
        environment={},
        **options,
    )
    boards, context_id = [], None
    for question in questions:
        said = [chunk async for chunk in agent.process_query(question, context_id)]
        context_id = said[-1]["context_id"]
        records, _ = await store.record_of(said[-1]["run_id"])
        boards.append(records[-1].body["board"])
    return boards


@pytest.mark.parametrize(
    ("question", "known", "type_"),
    [
        (QUESTION, [["Frobnicator", 1], ["frobnicator", 1]], "code"),
        ("tell me about tide tables", [["tide tables", 1]], "code"),
        ("what does Zanzibar do?", [], "research"),
        # The name of the project's folder.
        ("how does Project start?", [["Project", 0], ["project", 0]], "code"),
    ],
)
async def test_a_question_about_a_thing_of_the_project_is_seen_as_one(
    project, store, question, known, type_
):
    (board,) = await asked(project, store, question)
    assert board["known_terms"] == known
    assert board["classification"]["query_type"] == type_


async def test_the_sources_that_have_the_words_of_a_question_are_on_record(project, store):
    (project / "threads").mkdir()
    (project / "threads/looks.md").write_text("## 2026-01-08T12:00:00Z\n\nA dark theme: later.\n")
    (board,) = await asked(project, store, "dark theme")
    assert board["facts"]["words_by_source"] == {"code": 0.0, "vault": 0.0, "threads": 1.0}
    assert board["classification"]["query_type"] == "documentation"
    assert "search_threads" in board["granted"]
    assert "search_vault" not in board["granted"]


@pytest.mark.parametrize(("left_out", "shares"), [("", {"code": 1.0}), ("3 files", None)])
async def test_an_index_that_lacks_files_does_not_say_which_source_has_the_words(left_out, shares):
    class Sources:
        def __init__(self):
            self.left_out = left_out

        async def known(self, terms):
            return {}

        def at_hand(self):
            raise AssertionError("it is at hand")

        async def search_kinds(self, query, kinds, k):
            return {
                kind: [SimpleNamespace(path="a", text="tide tables")] if kind == "code" else []
                for kind in kinds
            }

    looked = await looked_up(Sources(), "tide tables", ())
    assert looked.shares == (shares and {**shares, "vault": 0.0, "threads": 0.0})


async def test_small_talk_is_not_looked_for(project, store):
    (board,) = await asked(project, store, "good morning")
    assert board["granted"] == []


async def test_names_that_an_offer_mentions_are_looked_up_as_well(project, store):
    boards = await asked(project, store, "hello", "yes please", answers=(OFFER, ANSWER))
    assert ["Frobnicator", 1] in boards[1]["known_terms"]


async def test_a_replay_classifies_alike_without_the_project(project, store):
    (board,) = await asked(project, store, QUESTION)
    shutil.rmtree(project)
    (row,) = await store.runs.newest(1)
    replayed = await store.replay(row.id, services=services_from)
    await replayed.settle()
    assert replayed.board.get("classification") == board["classification"]


async def test_where_no_index_can_be_written_names_are_known_all_the_same(project, store):
    (project / ".oracle").mkdir()
    (project / ".oracle/index").write_text("in the way")
    (board,) = await asked(project, store, QUESTION)
    assert board.get("known_terms") == [["Frobnicator", 1], ["frobnicator", 1]]
    assert board["answer"] == "So it is."


async def test_outside_of_a_project_nothing_is_indexed(project, store):
    (project / "oracle.toml").unlink()
    (board,) = await asked(project, store, QUESTION, root=project)
    assert board.get("known_terms") is None
    assert not (project / ".oracle").exists()


async def test_a_question_without_time_does_not_wait_for_the_index(project, store):
    gate = threading.Event()
    agent = project_agent(
        load_settings(project, environment={}),
        model=ScriptedModel(ANSWER, repeats_last=True),
        limits=Limits(seconds=0.3),
        environment={},
        store=store,
        indexing=lambda step: gate.wait(300),
    )
    said = []
    async for chunk in agent.process_query(QUESTION):
        gate.set()
        said.append(chunk)
    assert said[-1]["answer"]
    records, _ = await store.record_of(said[-1]["run_id"])
    assert "known_terms" not in records[0].body["board"]


async def test_sources_that_never_come_are_waited_for_once():
    waited = []

    class Stuck:
        @asynccontextmanager
        async def at_hand(self):
            waited.append("at hand")
            await asyncio.Event().wait()
            yield

        async def known(self, terms):
            waited.append("known")
            await asyncio.Event().wait()

    model = ScriptedModel(ANSWER, repeats_last=True)
    agent = OracleBTWrapper(
        project_id="p", model=model, limits=Limits(seconds=0.1), sources=Stuck()
    )
    assert [chunk async for chunk in agent.process_query(QUESTION)][-1]["answer"]
    assert waited == ["at hand"]


async def test_who_cancels_while_it_is_indexed_gets_an_answer_at_once(project):
    for number in range(200):
        (project / f"f{number}.py").write_text(f"x{number} = 1\n")
    loop, steps = asyncio.get_running_loop(), []

    def heard(step):
        steps.append(step)
        asyncio.run_coroutine_threadsafe(cancel(), loop).result(300)

    async def cancel():
        agent.cancel("Ctrl-C")

    agent = project_agent(
        load_settings(project, environment={}),
        model=ScriptedModel(),
        environment={},
        indexing=heard,
    )
    said = [chunk async for chunk in agent.process_query(QUESTION)]
    assert said[-1]["stop_reason"] == "cancelled"
    assert len(steps) < 200
