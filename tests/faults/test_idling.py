"""A model that does this and that and gets nowhere is stopped long before its turns are used up."""

import pytest

from oracle.testing import Reply, ScriptedModel, ScriptedTools, signal
from tests.asking import ask, enough

WRITE = "Add twelve entries about the release to the thread, one by one"


def looking_for(words):
    calls = [("search_code", {"query": words})]
    return Reply(text=signal("need_turn", reason=f"looking for {words}"), calls=calls)


@pytest.mark.parametrize("pattern", ["IIS", "IS", "ISS", "SSI", "S"])
@pytest.mark.parametrize("found", ["auth.py:3 def login()", ""], ids=["the same", "nothing"])
async def test_calls_that_bring_nothing_new_do_not_make_idling_endless(pattern, found):
    def next_reply(request):
        number = len(model.requests)
        if not request.tools:
            return "All I know."
        if pattern[number % len(pattern)] == "I":
            return "Hm." + signal("need_turn", reason=f"reason {number}")
        return looking_for(f"word {number}")

    model = ScriptedModel(next_reply, repeats_last=True)
    await ask(model=model, tools={"search_code": found})
    assert len(model.requests) <= (18 if pattern == "S" else 13)


async def test_many_searches_that_find_nothing_yet_are_no_circle():
    found = iter(["main.py:3 def main()"] * 8 + ["auth.py:90 def logout()"])
    tools = {"search_code": lambda _: next(found)}
    heard = await ask(*(looking_for(f"word {n}") for n in range(9)), enough(), tools=tools)
    assert heard.stop == "answered"
    assert heard.events("loop.detected") == []


async def test_writes_with_the_same_result_are_no_circle():
    tools = ScriptedTools({"thread_push": "done"})
    pushes = [
        Reply(text=signal("need_turn", reason=f"r{n}"), calls=[("thread_push", {"entry": f"e{n}"})])
        for n in range(12)
    ]
    heard = await ask(*pushes, enough(), tools=tools, query=WRITE)
    assert len(tools.calls) == 12
    assert heard.events("loop.detected") == []
