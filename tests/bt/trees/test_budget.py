"""The ledger in a run: warnings, the last turn, the end, and the guards in mid-stream."""

import asyncio

import pytest

from oracle.bt.wrappers.oracle_wrapper import OracleBTWrapper
from oracle.errors import ModelError
from oracle.services.control.ledger import Limits
from oracle.services.llm.protocol import Prices
from oracle.testing import Reply, ScriptedModel, ScriptedTools, signal
from tests.asking import CODE, SOON, TALK, ask, enough, look

MORE = signal("need_turn", reason="more")
UNLIMITED_USES = Limits(uses_of_a_tool=99)


def numbered():
    return ScriptedTools({"search_code": lambda a: f"f{a['query']}.py:1 x", "web_search": "w"})


async def test_at_29_of_30_one_final_turn_is_granted_without_tools_and_told_so():
    replies = [*[look(n) for n in range(29)], "The end." + MORE]
    heard = await ask(*replies, tools=numbered(), limits=UNLIMITED_USES)
    assert len(heard.model.requests) == 30
    assert (heard.offered[28], heard.offered[29]) == (["search_code"], [])
    assert "This is your last turn, and no tools are left" in heard.told()
    assert (heard.stop, heard.done["answer"]) == ("turn_limit", "The end.")


async def test_at_30_of_30_completion_is_forced_with_what_there_is():
    heard = await ask(*[look(n) for n in range(29)], MORE, tools=numbered(), limits=UNLIMITED_USES)
    assert len(heard.model.requests) == 30
    assert heard.stop == "turn_limit"
    assert "the limit of turns was reached (30 of 30 turns)" in heard.done["answer"]
    assert "f0.py:1" in heard.done["answer"]


async def test_five_turns_are_five_turns_whatever_the_model_asks_for():
    model = ScriptedModel(lambda r: look(len(r.messages)), repeats_last=True)
    heard = await ask(model=model, tools=numbered(), limits=Limits(turns=5))
    assert (len(model.requests), heard.stop, heard.offered[4]) == (5, "turn_limit", [])


async def test_one_turn_means_no_tools():
    heard = await ask("Directly.", limits=Limits(turns=1))
    assert (heard.offered, heard.done["answer"]) == ([[]], "Directly.")
    assert "`search_code`" not in heard.model.requests[0].messages[0]["content"]


async def test_a_warning_comes_once_at_70_percent_for_user_model_and_bus():
    heard = await ask(
        *[look(n) for n in range(8)], "The end.", tools=numbered(), limits=Limits(turns=10)
    )
    (warned,) = [chunk for chunk in heard.of_type("budget") if chunk["at"] == "warning"]
    assert (warned["budget"], warned["used"], warned["limit"]) == ("turns", 7, 10)
    assert heard.events("budget.warning") == [{"budget": "turns", "used": 7, "limit": 10}]
    assert heard.told(6) == ""
    assert heard.told().count("7 of 10 turns are used") == 1


async def test_each_budget_has_a_warning_of_its_own():
    dear = {"input_tokens": 4_000, "output_tokens": 66_000}
    first = Reply(text=MORE, usage=dear, calls=[("search_code", {"query": "1"})])
    model = ScriptedModel(first, look(2), enough(), prices=Prices(input=1.0, output=1.0))
    heard = await ask(model=model, tools=numbered(), limits=Limits(tokens=100_000, money=0.1))
    warned = [chunk["budget"] for chunk in heard.of_type("budget")]
    assert warned == ["tokens", "money"]


@pytest.mark.parametrize(
    ("limits", "used", "prices", "stop"),
    [
        ({"tokens": 100_000}, 86_000, None, "token_limit"),
        ({"money": 0.1}, 86_000, Prices(input=1.0, output=1.0), "money_limit"),
    ],
)
async def test_at_the_reserve_the_tools_are_withdrawn(limits, used, prices, stop):
    """What is left pays for one request of the size so far with its longest output, no more."""
    usage = {"input_tokens": 4_000, "output_tokens": used}
    first = Reply(text=MORE, usage=usage, calls=[("search_code", {"query": "1"})])
    model = ScriptedModel(first, "The end." + MORE, prices=prices)
    heard = await ask(model=model, tools=numbered(), limits=Limits(**limits))
    assert (heard.offered, heard.stop) == ([["search_code"], []], stop)
    assert [chunk["at"] for chunk in heard.of_type("budget")] == ["warning", "reserve"]


async def test_with_an_unknown_price_the_money_budget_is_off_and_says_so():
    dear = {"input_tokens": 99_000, "output_tokens": 9_000}
    heard = await ask(Reply(text="Ok.", usage=dear), query=TALK, limits=Limits(money=0.01))
    assert "The price of scripted is not known" in heard.of_type("system")[0]["content"]
    assert (heard.stop, heard.done["usage"]["money"]) == ("answered", 0)


async def test_with_a_known_price_money_is_counted():
    model = ScriptedModel(
        Reply(text="Ok.", usage={"input_tokens": 1000, "output_tokens": 100}),
        prices=Prices(input=3.0, output=15.0),
    )
    heard = await ask(model=model, query=TALK)
    assert heard.done["usage"]["money"] == pytest.approx(0.0045)
    assert heard.of_type("system") == []


async def test_a_tool_is_not_used_more_often_than_its_limit_and_then_not_offered():
    calls = [("search_code", {"query": str(n)}) for n in range(3)]
    heard = await ask(
        Reply(text=MORE, calls=calls), "Ok.", tools=numbered(), limits=Limits(uses_of_a_tool=2)
    )
    assert len(heard.ran) == 2
    assert heard.results()[2] == "Not run: search_code was used 2 times, which is the limit."
    assert heard.done["usage"]["uses"] == {"search_code": 2}
    assert heard.offered == [["search_code"], []]
    used_up = {"budget": "search_code", "used": 2, "limit": 2}
    assert heard.of_type("budget") == [{**used_up, "at": "reserve"}]
    assert heard.events("budget.exhausted") == [used_up]


# -- guards in mid-stream --------------------------------------------------------------------------


async def test_the_time_limit_cuts_a_stream_and_closes_the_connection():
    hold = asyncio.Event()
    model = ScriptedModel(Reply(text="It has begun ", hold=hold), repeats_last=True)
    heard = await ask(model=model, limits=SOON)
    assert (heard.stop, heard.model.closed) == ("time_limit", 2)
    assert heard.done["answer"].startswith("It has begun […]")


async def test_a_stream_that_takes_too_long_is_stopped_in_time_for_the_last_answer():
    heard = await ask(Reply(text="It has begun ", hold=asyncio.Event()), "The end.", limits=SOON)
    assert (heard.stop, heard.model.closed) == ("time_limit", 2)
    assert heard.offered[1] == []
    assert heard.done["answer"] == "The end."


async def test_the_time_limit_cuts_a_tool():
    async def hangs(_arguments):
        await asyncio.Event().wait()

    heard = await ask(look(), "The end.", tools={"search_code": hangs}, limits=SOON)
    assert (heard.stop, heard.done["answer"]) == ("time_limit", "The end.")
    assert heard.results() == ["cut off before it was done"]


async def test_tokens_that_run_out_cut_a_stream_and_close_the_connection():
    hold = asyncio.Event()
    text = " ".join(str(n) for n in range(9_000))
    heard = await ask(Reply(text=text, hold=hold), limits=Limits(tokens=12_000))
    assert (heard.stop, heard.model.closed) == ("token_limit", 1)
    assert 0 < len(heard.done["answer"]) < len(text)


async def test_thinking_aloud_is_paid_for_too():
    hold = asyncio.Event()
    reply = Reply(reasoning="hm " * 9_000, hold=hold)
    heard = await ask(reply, limits=Limits(tokens=12_000))
    assert (heard.stop, heard.model.closed) == ("token_limit", 1)


async def test_text_in_circles_is_cut_and_the_model_is_told():
    hold = asyncio.Event()
    heard = await ask(Reply(text="so it goes on\n" * 50, hold=hold), "It is so.", query=TALK)
    assert heard.model.closed == 2
    assert "You are repeating yourself: the same lines over and over" in heard.told(1)
    assert heard.of_type("turn_end")[0]["outcome"] == "cut"
    assert (heard.stop, heard.done["answer"]) == ("answered", "It is so.")


async def test_text_in_circles_climbs_only_rungs_that_fit_it():
    round_and_round = [Reply(text="so it goes on\n" * 50, hold=asyncio.Event()) for _ in range(3)]
    heard = await ask(*round_and_round, "It is so.")
    assert "will not be run again" not in heard.told()
    assert "Put the search differently" in heard.told(2)
    assert (heard.offered[3], heard.stop) == ([], "stuck")


async def test_a_cancellation_in_mid_stream_closes_the_connection_and_keeps_what_came():
    model = ScriptedModel(Reply(text="It is in the file and then ", hold=asyncio.Event()))
    wrapper = OracleBTWrapper(model=model, tools=numbered())
    chunks = []
    async for chunk in wrapper.process_query(CODE):
        chunks.append(chunk)
        if chunk.type == "content":
            wrapper.cancel("enough")
    assert (chunks[-1]["stop_reason"], chunks[-1]["detail"]) == ("cancelled", "enough")
    assert chunks[-1]["answer"].startswith("It is in the file")
    assert chunks[-1]["usage"]["tokens"] > 0
    assert model.closed == 1


async def test_who_stops_listening_closes_the_connection():
    model = ScriptedModel(Reply(text="It is in the file and then ", hold=asyncio.Event()))
    stream = OracleBTWrapper(model=model).process_query(CODE)
    async for chunk in stream:
        if chunk.type == "content":
            break
    await stream.aclose()
    assert model.closed == 1


async def test_a_model_that_breaks_off_closes_the_connection():
    heard = await ask(Reply(text="It is", raises=ModelError("lost")))
    assert (heard.stop, heard.model.closed) == ("model_unavailable", 1)


async def test_a_price_that_rises_with_the_input_is_paid_as_it_rises():
    prices = Prices(input=1.0, output=1.0, above=1_000, then=Prices(input=2.0, output=2.0))
    small, large = ({"input_tokens": n, "output_tokens": 0} for n in (1_000, 2_000))
    for usage, paid in ((small, 0.001), (large, 0.004)):
        model = ScriptedModel(Reply(text="It is so.", usage=usage), prices=prices)
        heard = await ask(model=model, query=TALK)
        assert (heard.stop, heard.done["usage"]["money"]) == ("answered", paid)


async def test_old_results_are_shortened_once_messages_fill_half_of_the_window():
    tools = ScriptedTools({"search_code": lambda a: f"f{a['query']}.py:1 " + "word " * 3000})
    model = ScriptedModel(*[look(n) for n in range(6)], "Ok.", context_window=32_000)
    heard = await ask(model=model, tools=tools)
    assert len(heard.results()[0]) < len(heard.results(1)[0])
