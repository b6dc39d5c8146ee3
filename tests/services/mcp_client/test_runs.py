"""Tools of servers in a run: granted, asked about, recorded, and replayed without a server."""

import json
import sys

import pytest

from oracle.agent import Oracle
from oracle.bt.wrappers.run import Run
from oracle.services.mcp.transports import end_programs
from oracle.settings import load_settings
from oracle.testing import Reply, ScriptedModel, signal
from oracle.testing.servers import mcp_program

QUESTION = "What do the documents say about the release process?"
LINE = json.dumps([sys.executable, "-I", mcp_program.__file__])[1:-1]


@pytest.fixture
def root(tmp_path, monkeypatch):
    root = tmp_path / "project"
    root.mkdir()
    (root / "notes").mkdir()
    (root / "notes" / "a.md").write_text("# Release\n\nWe release on Mondays.\n")
    monkeypatch.setenv("ORACLE_TRUST", str(root))
    yield root
    end_programs()


@pytest.fixture
def settings(root):
    def settings(manner, more=""):
        log = json.dumps(str(root.parent / "log"))
        command = f"command = [{LINE}, {json.dumps(manner)}, {log}]"
        (root / "oracle.toml").write_text(f"[mcp.servers.jira]\n{command}\ntimeout = 30\n{more}\n")

    return settings


def log_of(root):
    file = root.parent / "log"
    return file.read_text() if file.exists() else ""


def found():
    return "On Mondays [[jira__search]]." + signal("context_sufficient", sources_found=1)


def calls(name):
    reason = signal("need_turn", reason="look")
    return Reply(text=reason, calls=[(name, {"query": "release"})])


async def test_a_run_uses_a_tool_of_a_server_and_its_replay_does_not(root, settings):
    settings("well", 'for = ["documentation"]')
    model = ScriptedModel(calls("jira__search"), found())
    async with Oracle(project=root, model=model) as oracle:
        answer = await oracle.ask(QUESTION)
        assert answer.stop_reason == "answered"
        assert "jira__search" in {tool.name for tool in model.requests[0].tools}
        before = log_of(root)
        assert "call search" in before
        replay = Run.replay(answer.run_id, store=oracle._open_store)
        *_, done = [chunk async for chunk in replay.chunks()]
    assert done["answer"] == answer.text
    assert log_of(root) == before


@pytest.mark.parametrize("is_yes", [True, False])
async def test_a_tool_that_writes_needs_a_yes_to_each_call(root, settings, is_yes):
    settings("well")
    asked = []

    async def approve(question):
        asked.append(question["tools"])
        return is_yes

    wanted = signal("need_capability", capability="jira__create", reason="to file it")
    model = ScriptedModel(
        calls("jira__search"), "Hm." + wanted, calls("jira__create"), found(), found()
    )
    async with Oracle(project=root, model=model, approve=approve) as oracle:
        await oracle.ask(QUESTION)
    assert asked[0] == ["jira__create"]
    assert ("call create" in log_of(root)) == is_yes


@pytest.mark.parametrize("manner", ["dies", "spoilt"])
async def test_a_question_is_answered_although_a_server_fails(root, settings, manner):
    settings(manner)
    look = Reply(
        text=signal("need_turn", reason="look"), calls=[("search_vault", {"query": "release"})]
    )
    model = ScriptedModel(
        look, "On Mondays: notes/a.md:3." + signal("context_sufficient", sources_found=1)
    )
    async with Oracle(project=root, model=model) as oracle:
        answer = await oracle.ask(QUESTION)
    assert answer.stop_reason == "answered"


async def test_small_talk_starts_no_server(root, settings):
    settings("silent")
    model = ScriptedModel("Hello!" + signal("context_sufficient", sources_found=0))
    async with Oracle(project=root, model=model) as oracle:
        await oracle.ask("Hello!")
    assert log_of(root) == ""


def test_a_project_starts_nothing_that_the_user_does_not_trust(root, settings, monkeypatch):
    settings("well")
    monkeypatch.delenv("ORACLE_TRUST")
    untrusted = load_settings(root)
    assert untrusted.mcp.servers == ()
    (warning,) = untrusted.warnings
    assert "oracle config trust" in warning
