"""A `CancelledError` that nobody asked for is a failure of the code that raised it."""

import asyncio

import pytest

from oracle import Oracle
from oracle.testing import Reply, ScriptedModel, ScriptedTools, signal

CODE = "Where is the login in the code?"
LOOK = Reply(text=signal("need_turn", reason="look"), calls=[("search_wiki", {"query": "x"})])


@pytest.fixture
def project(tmp_path):
    (tmp_path / "oracle.toml").touch()
    (tmp_path / "auth.py").write_text("def login():\n    return 1\n")
    return tmp_path


class CancelsItself(ScriptedModel):
    async def stream(self, request):
        yield {"text": "It is "}
        raise asyncio.CancelledError


class CancelsItsTask(ScriptedModel):
    async def stream(self, request):
        yield {"text": "It is "}
        await asyncio.wait_for(_cancelled(), 1)


async def _cancelled():
    raise asyncio.CancelledError


@pytest.mark.parametrize("kind", [CancelsItself, CancelsItsTask])
def test_of_a_model_it_is_a_broken_response(project, kind):
    answer = Oracle(project=project, model=kind("x")).ask_sync(CODE)
    assert answer.stop_reason == "model_unavailable"


def test_of_a_tool_it_is_a_failed_call(project):
    async def search_wiki(query: str):
        """Search the wiki."""
        asyncio.current_task().cancel()
        await asyncio.sleep(1)

    model = ScriptedModel(LOOK, "It is in auth.py.", repeats_last=True)
    answer = Oracle(project=project, model=model, tools=[search_wiki]).ask_sync(CODE)
    assert answer.stop_reason != "internal_error"
    [told] = [m["content"] for m in model.requests[1].messages if m["role"] == "tool"]
    assert told.startswith("search_wiki failed: CancelledError")


def test_of_all_tools_it_is_a_failed_call(project):
    class Cancelling(ScriptedTools):
        async def run(self, name, arguments):
            raise asyncio.CancelledError

    look = Reply(text=signal("need_turn", reason="x"), calls=[("search_code", {"query": "x"})])
    model = ScriptedModel(look, "It is in auth.py.", repeats_last=True)
    agent = Oracle(project=project, model=model, tools=Cancelling({"search_code": "a"}))
    assert agent.ask_sync(CODE).stop_reason != "internal_error"
