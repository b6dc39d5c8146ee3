"""Attacks on the context window: no run fails because of the size of what it read or was asked."""

import asyncio
import json
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from oracle.bt.wrappers.oracle_wrapper import OracleBTWrapper
from oracle.bt.wrappers.recipe import AgentSetup, services_from
from oracle.bt.wrappers.recorded_tree import RecordedTree
from oracle.models.session import Exchange
from oracle.services.agent_services import AgentServices
from oracle.services.control.conversation import rough_tokens
from oracle.services.control.ledger import Limits
from oracle.services.llm.opening import open_model
from oracle.services.prompting.segment_files import built_in_segments
from oracle.testing import MeteredModel, Reply, ScriptedTools, signal
from oracle.testing.servers import Reply as Sent
from oracle.testing.servers import ScriptedServer, openai
from tests.asking import CODE, ask
from tests.default_run import thinned

END = "THE END"
LIMITS = Limits(turns=8, tokens=4_000_000, money=None, uses_of_a_tool=99)
TEXTS = ["word and other words of a file ", "f3Q/9+xZ0a8K=1){7};:", "中文字符 "]


def searching(calls):
    """Calls tools for five turns, and then answers."""
    turns = 0

    def reply(request):
        nonlocal turns
        turns += 1
        if turns > 5 or not request.tools:
            return END
        asked = [("search_code", {"query": f"{turns} {n}"}) for n in range(calls)]
        return Reply(text=signal("need_turn", reason=f"r{turns}"), calls=asked)

    return reply


def results_of(characters, text):
    body = text * (characters // len(text) + 1)
    return ScriptedTools({"search_code": lambda a: f"f{a['query']}.py:1 {body}"[:characters]})


def check(heard):
    assert heard.stop in ("answered", "partial_answer", "stuck", "turn_limit"), heard.done
    assert heard.done["answer"] == END


SIZES = {
    "window": st.sampled_from([4_096, 8_192, 16_384, 32_768]),
    "claimed": st.sampled_from([1, 1, 2, 16]),
    "result": st.sampled_from([200, 20_000, 200_000]),
    "text": st.sampled_from(TEXTS),
    "calls": st.integers(1, 6),
    "factor": st.sampled_from([0.7, 1.0, 1.5, 2.0, 2.5]),
    "question": st.sampled_from([0, 30_000, 400_000]),
    "attachment": st.sampled_from([0, 50_000, 400_000]),
    "output": st.sampled_from([300, 2_048, 16_384]),
}


def examples(count):
    slow = [HealthCheck.too_slow]
    return settings(
        max_examples=count,
        derandomize=True,
        deadline=None,
        database=None,
        suppress_health_check=slow,
    )


def run_with(window, claimed, result, text, calls, factor, question, attachment, output):
    model = MeteredModel(
        searching(calls),
        factor=factor,
        window=window,
        context_window=window * claimed,
        longest_output=output,
    )
    asked = ask(
        model=model,
        tools=results_of(result, text),
        limits=LIMITS,
        query=CODE + " " + text * (question // len(text)),
        attachment=text * (attachment // len(text)),
    )
    check(asyncio.run(asked))
    assert model.refused <= 12


@given(**SIZES)
@examples(5)
def test_no_size_ends_a_run(**sizes):
    run_with(**sizes)


@pytest.mark.extra
@given(**SIZES)
@examples(25)
def test_no_size_ends_a_run_whatever_is_tried(**sizes):
    run_with(**sizes)


# -- a provider with another tokenizer, over the wire ----------------------------------------------


def wire_reply(calls):
    turns = 0

    def reply(request):
        nonlocal turns
        turns += 1
        if turns > 4 or not request.body.get("tools"):
            return Sent(body=openai.stream(openai.text(END), usage=(100, 5)))
        made = [
            openai.tool_call(f"c{turns}{n}", "search_code", json.dumps({"query": f"{turns} {n}"}))
            for n in range(calls)
        ]
        return Sent(body=openai.stream(openai.text("I look."), *made, usage=(100, 9)))

    return reply


@pytest.mark.parametrize("factor", [1.0, 1.5, 2.5])
@pytest.mark.parametrize("window", thinned([4_096, 8_192, 32_768], 2))
async def test_a_provider_that_says_too_long_gets_a_shorter_request(window, factor):
    """Its usage is of no help either: it is much too low."""
    server_ = openai.with_window(
        wire_reply(2), window, lambda sent: int(factor * rough_tokens(sent))
    )
    async with ScriptedServer(server_, endless=True) as server:
        model = open_model("openai:any", base_url=f"{server.url}/v1", context_window=window)
        tools = results_of(20_000, TEXTS[0])
        wrapper = OracleBTWrapper(model=model, tools=tools, limits=LIMITS)
        chunks = [chunk async for chunk in wrapper.process_query(CODE)]
    assert (chunks[-1]["stop_reason"], chunks[-1]["answer"]) == ("answered", END)
    assert len(tools.calls) > 0
    assert len(server.requests) <= 5 + 8


async def test_a_window_that_is_smaller_than_configured_is_found_out_once():
    replies = openai.with_window(wire_reply(1), 8_192, rough_tokens)
    async with ScriptedServer(replies, endless=True) as server:
        model = open_model("openai:any", base_url=f"{server.url}/v1", context_window=128_000)
        wrapper = OracleBTWrapper(model=model, tools=results_of(20_000, TEXTS[0]), limits=LIMITS)
        chunks = [chunk async for chunk in wrapper.process_query(CODE)]
    assert chunks[-1]["answer"] == END
    assert len(server.requests) <= 5 + 4


async def test_a_long_history_makes_room_for_the_question():
    past = [
        Exchange(id=str(n), session_id="s", question="why " * 300, answer="so " * 300, created_at=n)
        for n in range(9)
    ]
    model = MeteredModel(lambda _: END, factor=1.5, context_window=8_192, longest_output=2_048)
    live = AgentServices(model=model)
    recipe = AgentSetup(live=live, limits=LIMITS).recipe(CODE, history=past)
    run = RecordedTree(recipe, services=lambda recipe: services_from(recipe, live))
    await run.settle()
    assert run.board.get("answer") == END
    assert CODE in [message["content"] for message in model.requests[0].messages]


async def test_a_long_project_segment_is_cut_and_the_user_hears_of_it():
    segments = tuple(
        replace(segment, content=segment.content + "Mind this rule. " * 9_000)
        if segment.id == "base"
        else segment
        for segment in built_in_segments()
    )
    model = MeteredModel(lambda request: END, context_window=16_384, longest_output=2_048)
    heard = await ask(model=model, tools={}, limits=LIMITS, segments=segments)
    check(heard)
    said = [chunk["content"] for chunk in heard.of_type("system")]
    assert any("the system prompt" in line for line in said)


# -- what is shortened says so ---------------------------------------------------------------------


async def test_a_cut_result_names_how_to_get_the_rest_with_granted_tools_only():
    model = MeteredModel(searching(1), context_window=16_384, longest_output=2_048)
    tools = {"search_code": "a.py:1 " + "word " * 9_000, "read_file": "a.py:1 x", "web_search": "w"}
    heard = await ask(model=model, tools=tools, limits=LIMITS)
    shown = next(m["content"] for m in model.requests[1].messages if m["role"] == "tool")
    assert "[shortened by the tree: " in shown
    assert "read one place with read_file, or make a narrower search_code call" in shown
    assert "web_search" not in shown
    check(heard)


async def test_several_results_of_a_turn_share_the_room_and_small_ones_stay_whole():
    sizes = {"0": 100, "1": 200_000, "2": 200_000}
    tools = ScriptedTools({"search_code": lambda a: ("word " * 50_000)[: sizes[a["query"][-1]]]})
    model = MeteredModel(searching(3), context_window=32_768, longest_output=4_096)
    heard = await ask(model=model, tools=tools, limits=LIMITS)
    small, *large = [len(m["content"]) for m in model.requests[1].messages if m["role"] == "tool"]
    assert small == 100
    assert 5_000 < min(large) == max(large) < 40_000
    check(heard)


# -- many calls in one response --------------------------------------------------------------------


@pytest.mark.parametrize("factor", [1.0, 1.3, 1.55])
@pytest.mark.parametrize("calls", thinned([40, 80], 2))
@pytest.mark.parametrize("window", thinned([4_000, 6_000, 8_000], 2))
async def test_many_calls_in_one_response_do_not_end_a_run(window, calls, factor):
    model = MeteredModel(
        searching(calls), factor=factor, context_window=window, longest_output=1_000
    )
    heard = await ask(model=model, tools=results_of(2_000, TEXTS[0]), limits=LIMITS)
    check(heard)


@pytest.mark.parametrize("argument", ["x" * 300, "中" * 300, "中" * 4_000])
@pytest.mark.parametrize("claimed", thinned([1, 50], 2))
@pytest.mark.parametrize("window", thinned([4_000, 8_000], 2))
async def test_many_calls_with_long_arguments_do_not_end_a_run(window, claimed, argument):
    """JSON writes six characters for each Chinese one, so such a call is larger than it looks."""

    def reply(request):
        asked = [("search_code", {"query": f"{n}{argument}"}) for n in range(40)]
        return END if len(model.requests) > 2 else Reply(calls=asked)

    model = MeteredModel(
        reply, factor=1.55, window=window, context_window=window * claimed, longest_output=1_000
    )
    check(await ask(model=model, tools=results_of(2_000, TEXTS[0]), limits=LIMITS))


async def test_calls_that_are_too_many_are_counted_for_the_model_and_a_write_is_named():
    asked = [("search_code", {"query": str(n)}) for n in range(30)] + [("write_note", {})]
    model = MeteredModel(
        lambda request: END if len(request.messages) > 3 else Reply(calls=asked),
        context_window=8_000,
        longest_output=1_000,
    )
    tools = {"search_code": "a.py:1 x", "write_note": "done"}
    heard = await ask(model=model, tools=tools, limits=LIMITS)
    assert heard.ran == ["search_code"] * 8
    assert "23 of your 31 calls were left out and not run: make at most 8" in heard.told()
    assert "Nothing was written by: write_note." in heard.told()
    said = [chunk["content"] for chunk in heard.of_type("system")]
    assert any("the last 23 were not run" in line and "write_note" in line for line in said)
