"""A question over several roots: cited by name, missing ones are said, and a run keeps its own."""

import os
import shutil
from contextlib import aclosing

import pytest

from oracle.bt.wrappers.project_agent import project_agent
from oracle.bt.wrappers.run import Run
from oracle.bt.wrappers.run_store import open_store
from oracle.models.stream_chunk import ChunkType
from oracle.services.embedded.model import EmbeddedModel
from oracle.services.storage.database import as_url
from oracle.settings import load_settings
from oracle.testing import Reply, ScriptedModel, signal
from tests.asking import enough

QUESTION = "Where is book_invoice defined, and who calls it?"
LEDGER = "def book_invoice(invoice):\n    return invoice.total\n"
SHOP = "from ledger import book_invoice\n\n\ndef check_out(basket):\n    book_invoice(basket)\n"


@pytest.fixture
def project(tmp_path):
    project = tmp_path / "shop"
    for path, text in {
        "shop/oracle.toml": '[roots]\nbooks = "../ledger"\n',
        "shop/src/shop.py": SHOP,
        "ledger/src/ledger.py": LEDGER,
        "ledger/.env": "BOOKS_PASSWORD=book_invoice-hunter2\n",
    }.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    return project


def working(*calls):
    return Reply(text=signal("need_turn", reason=f"look at {calls}"), calls=list(calls))


def settings_of(project):
    return load_settings(project, environment={"ORACLE_TRUST": str(project)})


def agent(project, model=None, **more):
    return project_agent(settings_of(project), model=model or EmbeddedModel(), **more)


async def asked(wrapper, question=QUESTION):
    return [chunk async for chunk in wrapper.process_query(question)]


def of_type(chunks, type_):
    return [dict(chunk.data) for chunk in chunks if chunk.type == type_]


def warnings_in(chunks):
    told = of_type(chunks, ChunkType.SYSTEM)
    return [each["content"] for each in told if each.get("severity") == "warning"]


async def test_an_answer_cites_files_of_all_roots(project):
    chunks = await asked(agent(project))
    [found] = of_type(chunks, ChunkType.SOURCES)
    assert {source["path"] for source in found["sources"]} == {
        "books/src/ledger.py",
        "src/shop.py",
    }
    assert {cited["status"] for cited in found["citations"]} == {"resolved"}
    assert warnings_in(chunks) == []


async def test_the_indexes_are_in_the_project_and_nothing_is_written_to_a_root(project, tmp_path):
    before = sorted((tmp_path / "ledger").rglob("*"))
    await asked(agent(project))
    assert list((project / ".oracle/index/roots").glob("books-*/index/current"))
    assert sorted((tmp_path / "ledger").rglob("*")) == before


async def test_the_model_hears_of_the_roots_and_of_those_that_are_missing(project, tmp_path):
    model = ScriptedModel(enough("It is in src/shop.py:5."), repeats_last=True)
    chunks = await asked(agent(project, model))
    first = model.requests[0].messages[1]["content"]
    assert "Other roots: books/: folders beside the project" in first
    shutil.rmtree(tmp_path / "ledger")
    chunks = await asked(agent(project, model))
    assert "The root 'books' (../ledger) is not there" in model.requests[-1].messages[1]["content"]
    [told] = warnings_in(chunks)
    assert "the root 'books' (../ledger) is not there" in told


async def test_a_root_is_gone_for_one_question_and_back_for_the_next(project, tmp_path):
    wrapper = agent(project)
    ledger, away = tmp_path / "ledger", tmp_path / "away"
    warned = []
    for move in (None, (ledger, away), (away, ledger)):
        if move:
            os.rename(*move)
        chunks = await asked(wrapper)
        assert chunks[-1].type == ChunkType.DONE
        warned.append(len(warnings_in(chunks)))
        [found] = of_type(chunks, ChunkType.SOURCES)
        has_books = any(s["path"].startswith("books/") for s in found["sources"])
        assert has_books is ledger.exists()
    assert warned == [0, 1, 0]


async def test_a_secret_of_a_root_is_never_sent(project):
    model = ScriptedModel(
        working(
            ("read_file", {"path": "books/.env"}), ("search_code", {"query": "BOOKS_PASSWORD"})
        ),
        enough("It is in books/src/ledger.py:1."),
        repeats_last=True,
    )
    await asked(agent(project, model))
    assert "hunter2" not in str([request.messages for request in model.requests])


# -- resumed and replayed --------------------------------------------------------------------------


@pytest.fixture
async def store(tmp_path):
    async with open_store(as_url(tmp_path / "oracle.db")) as store:
        yield store


async def handed_over(project, store):
    """A run that has read a file of the root when its process goes away."""
    model = ScriptedModel(
        working(("read_file", {"path": "books/src/ledger.py"})), repeats_last=True
    )
    run = agent(project, model, store=store).new_run(QUESTION)
    async with aclosing(run.chunks()) as chunks:
        async for chunk in chunks:
            if chunk.type == ChunkType.TOOL_RESULT:
                run.hand_over()
                break
    return run.tree.id


async def resumed(project, store, run_id):
    model = ScriptedModel(
        working(("search_code", {"query": "book_invoice"})),
        enough("It is in books/src/ledger.py:1."),
        repeats_last=True,
    )
    return [chunk async for chunk in agent(project, model, store=store).resume(run_id)]


async def test_a_resumed_run_keeps_its_roots(project, store):
    run_id = await handed_over(project, store)
    chunks = await resumed(project, store, run_id)
    assert chunks[-1]["stop_reason"] == "answered"
    [found] = of_type(chunks, ChunkType.SOURCES)
    assert [c["status"] for c in found["citations"]] == ["resolved"]


@pytest.mark.parametrize("text", ["", '[roots]\nbooks = "../other"\n'])
async def test_a_run_is_not_resumed_with_other_roots(project, store, text, tmp_path):
    (tmp_path / "other").mkdir()
    run_id = await handed_over(project, store)
    (project / "oracle.toml").write_text(text)
    chunks = await resumed(project, store, run_id)
    assert chunks[-1]["stop_reason"] == "invalid_input"
    assert "began with other roots than the project has now" in chunks[-1]["answer"]
    (project / "oracle.toml").write_text('[roots]\nbooks = "../ledger"\n')
    again = await resumed(project, store, run_id)
    assert again[-1]["stop_reason"] == "answered"


async def test_a_replay_needs_none_of_the_roots(project, store, tmp_path):
    chunks = await asked(agent(project, store=store))
    shutil.rmtree(tmp_path / "ledger")
    (project / "oracle.toml").write_text("")
    run = Run.replay(chunks[-1]["run_id"], store=store)
    again = [chunk async for chunk in run.chunks()]
    assert again[-1]["answer"] == chunks[-1]["answer"]
    assert of_type(again, ChunkType.SOURCES) == of_type(chunks, ChunkType.SOURCES)
