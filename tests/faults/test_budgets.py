"""Attacks on the ledger: no limit is exceeded, and there is always room for the last answer."""

import asyncio
import json
from base64 import b64encode
from contextlib import suppress
from dataclasses import replace
from hashlib import sha256

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from oracle.bt.actions.calls import answer_unfinished
from oracle.bt.actions.finish import as_announced
from oracle.bt.core.runtime import CLEAN_UP_SECONDS
from oracle.bt.report import usage_of
from oracle.bt.wrappers.recipe import AgentSetup, services_from
from oracle.bt.wrappers.recorded_tree import RecordedTree
from oracle.errors import ModelError
from oracle.services.agent_services import AgentServices
from oracle.services.control.grants import specs_as_data
from oracle.services.control.ledger import CLEAN_UP, RESOURCES, STOP_AT, Ledger, Limits
from oracle.services.control.room import FIRST_GUESS, Room
from oracle.services.journal import MemorySink
from oracle.services.llm.protocol import Prices
from oracle.services.prompting.tokens import GrowingEstimate
from oracle.testing import MeteredModel, Reply, ScriptedModel, ScriptedTools, signal
from oracle.testing.metered import tokens_in
from oracle.testing.models import tool_spec
from tests.asking import CODE, ask, context
from tests.default_run import thinned
from tests.tables import each_row

END = "THE END"
PROSE = "word and other words of a file "
DENSE = "f3Q/9+xZ0a8K=1){7};:"
PRICES = Prices(input=3.0, output=15.0)
STEPPED = Prices(input=1.0, output=5.0, above=9_000, then=Prices(input=4.0, output=20.0))


def answer_of(tokens: int, factor: float) -> str:
    """An answer with that many tokens of the model, which ends with a mark."""
    text = ""
    while tokens_in(text + PROSE + END, factor) <= tokens:
        text += f"{len(text)} {PROSE}"
    return text + END


def searching(answer: str, calls: int = 1, talk: str = ""):
    """A model that calls tools as long as it has some, and then answers."""

    def reply(request):
        if not request.tools:
            return answer
        asked = [("search_code", {"query": f"{len(request.messages)} {n}"}) for n in range(calls)]
        return Reply(
            text=talk + signal("need_turn", reason=f"r{len(request.messages)}"), calls=asked
        )

    return reply


def results_of(characters: int, text: str = PROSE):
    body = text * (characters // len(text) + 1)
    return ScriptedTools({"search_code": lambda a: f"f{a['query']}.py:1 {body}"[:characters]})


def check_limits(heard, model, limits):
    assert model.tokens <= limits.tokens
    assert heard.done["usage"]["tokens"] <= limits.tokens
    if limits.money is not None and model.prices is not None:
        assert model.money <= limits.money * (1 + 1e-9)
        assert heard.done["usage"]["money"] <= limits.money * (1 + 1e-9)
    assert len(model.requests) <= limits.turns
    assert all(n <= limits.uses_of_a_tool for n in heard.done["usage"]["uses"].values())
    assert heard.stop not in ("internal_error", "model_unavailable", "no_progress", "tick_budget")


DRAWN = {
    "result": st.sampled_from([0, 200, 5_000, 24_000, 200_000]),
    "text": st.sampled_from([PROSE, DENSE, "中文字符 "]),
    "calls": st.integers(1, 6),
    "talk": st.sampled_from([0, 2_000, 30_000]),
    "factor": st.sampled_from([0.4, 0.8, 1.0, 1.25, FIRST_GUESS]),
    "tokens": st.integers(0, 120_000) | st.integers(0, 20_000),
    "money": st.none() | st.floats(0.0, 0.6),
    "prices": st.sampled_from([PRICES, STEPPED, Prices(input=0.0, output=0.0)]),
    "answer": st.integers(5, 250),
    "longest": st.sampled_from([300, 1_000, 4_096, 16_384]),
    "window": st.sampled_from([8_192, 32_768, 200_000]),
    "obedient": st.booleans(),
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


def run_with(result, text, calls, talk, factor, tokens, money, answer, obedient, **model_facts):
    limits = Limits(tokens=tokens, money=money, turns=8, uses_of_a_tool=40)
    model = MeteredModel(
        searching(answer_of(answer, factor), calls, PROSE * (talk // len(PROSE))),
        factor=factor,
        prices=model_facts["prices"],
        longest_output=model_facts["longest"],
        context_window=model_facts["window"],
        # A provider that ignores the length it was given is stopped by our own count of it.
        obedient=obedient or factor > 1.0,
    )
    heard = asyncio.run(ask(model=model, tools=results_of(result, text), limits=limits))
    check_limits(heard, model, limits)
    if model.requests:
        assert heard.done["answer"].endswith(END), (heard.stop, heard.done["detail"])
    else:
        assert "needs a limit of" in heard.done["answer"]


@given(**DRAWN)
@examples(30)
def test_no_limit_is_exceeded_and_the_last_answer_is_whole(**drawn):
    run_with(**drawn)


@pytest.mark.extra
@given(**DRAWN)
@examples(150)
def test_no_limit_is_exceeded_whatever_is_tried(**drawn):
    run_with(**drawn)


@pytest.mark.parametrize("factor", [2.0, 2.5, 3.5])
@pytest.mark.parametrize("tokens", [45_000, 100_000, 400_000])
async def test_a_provider_that_counts_far_more_than_we_is_believed_from_its_first_report(
    tokens, factor
):
    limits = Limits(tokens=tokens, money=None)
    model = MeteredModel(searching(END, 2), factor=factor)
    heard = await ask(model=model, tools=results_of(24_000), limits=limits)
    check_limits(heard, model, limits)
    assert (heard.stop, heard.done["answer"]) == ("token_limit", END)


# -- limits that are smaller than a request --------------------------------------------------------


@pytest.mark.parametrize("tokens", [0, 1, 100, 4_000])
async def test_a_limit_of_tokens_below_one_request_names_the_smallest_that_works(tokens):
    model = MeteredModel(searching(END))
    heard = await ask(model=model, limits=Limits(tokens=tokens))
    assert (heard.stop, model.requests) == ("token_limit", [])
    named = heard.done["detail"].rpartition(" ")[2].replace(",", "")
    smallest = int(named) if tokens else 9_000
    again = MeteredModel(searching(END))
    heard = await ask(model=again, limits=Limits(tokens=smallest))
    check_limits(heard, again, Limits(tokens=smallest))
    assert heard.done["answer"] == END


async def test_a_limit_of_money_below_one_request_names_the_smallest_that_works():
    model = MeteredModel(searching(END), prices=PRICES)
    heard = await ask(model=model, limits=Limits(money=0.000_3))
    assert (heard.stop, model.requests) == ("money_limit", [])
    smallest = float(heard.done["detail"].rpartition(" ")[2])
    again = MeteredModel(searching(END), prices=PRICES)
    heard = await ask(model=again, limits=Limits(money=smallest))
    check_limits(heard, again, Limits(money=smallest))
    assert heard.done["answer"] == END


@pytest.mark.parametrize(
    ("limits", "stop"),
    [
        (Limits(turns=0), "turn_limit"),
        (Limits(tokens=0), "token_limit"),
        (Limits(money=0.0), "money_limit"),
        (Limits(seconds=0.0), "time_limit"),
    ],
)
async def test_a_limit_of_nothing_asks_nothing_and_still_answers(limits, stop):
    model = MeteredModel(searching(END), prices=PRICES)
    heard = await ask(model=model, limits=limits)
    assert (heard.stop, model.requests) == (stop, [])


async def test_no_use_of_a_tool_means_no_call():
    model = MeteredModel(searching(END, 2))
    heard = await ask(model=model, limits=Limits(uses_of_a_tool=0))
    assert (heard.ran, heard.done["answer"]) == ([], END)


async def test_a_model_that_uses_the_same_ids_in_each_turn_gets_each_result():
    class SameIds(ScriptedModel):
        async def stream(self, request):
            async for part in super().stream(request):
                yield (
                    {"tool_call": {**part["tool_call"], "id": "x"}} if "tool_call" in part else part
                )

    replies = [Reply(calls=[("search_code", {"query": f"q{n}"})]) for n in range(3)]
    heard = await ask(model=SameIds(*replies, END), tools=results_of(40))
    assert len(heard.results()) == 3


# -- what is spent beside the turns ----------------------------------------------------------------


@pytest.mark.parametrize("tokens", [20_000, 40_000, 80_000])
async def test_requests_about_parts_are_paid_from_the_same_ledger(tokens):
    """They too are made only if the last answer can be paid for after them."""
    tools = ScriptedTools(
        {
            "search_code": {
                "success": True,
                "content": "found",
                "sources": [
                    {"kind": "code", "where": f"f{n}.py:1", "path": f"f{n}.py", "text": "x = 1"}
                    for n in range(12)
                ],
            },
            "read_file": lambda a: f"{a['path']}:1 " + "save_order(order) " * 400,
        }
    )
    limits = Limits(tokens=tokens, money=None)
    model = MeteredModel(lambda r: END if len(r.messages) > 2 else "`f1.py:1` saves.", factor=1.5)
    query = "List every place in the whole project where an order is saved, across all files."
    heard = await ask(model=model, tools=tools, limits=limits, query=query)
    check_limits(heard, model, limits)
    assert heard.done["answer"].strip()


async def test_a_reply_about_a_part_that_breaks_off_is_paid_for():
    cost = [chunk["tokens"] for chunk in (await parts_that_break_off()).of_type("cost")]
    assert all(tokens > 400 for tokens in cost)
    assert len(cost) > 1


async def parts_that_break_off():
    def reply(request):
        if len(request.messages) > 2:
            return Reply(text=END)
        return Reply(text="It saves ", raises=ModelError("lost"))

    source = [
        {"kind": "code", "where": f"f{n}.py:1", "path": f"f{n}.py", "text": "x"} for n in range(8)
    ]
    found = {"success": True, "content": "found", "sources": source}
    tools = {"search_code": found, "read_file": lambda a: f"{a['path']}:1 " + "order saved " * 600}
    model = ScriptedModel(reply, repeats_last=True)
    query = "List every place in the whole project where an order is saved, across all files."
    return await ask(model=model, tools=tools, query=query)


async def test_a_run_that_was_stopped_at_its_reserve_is_replayed_word_for_word():
    sink, said, said_again = MemorySink(), [], []
    model = MeteredModel(searching(END, 2, PROSE * 1_500), obedient=False)
    live = AgentServices(model=model, tools=results_of(24_000), say=said.append)
    recipe = AgentSetup(live=live, limits=Limits(tokens=40_000)).recipe(CODE)
    run = RecordedTree(recipe, sink, services=lambda recipe: services_from(recipe, live))
    await run.settle()
    assert run.board.get("answer") == END
    assert "cut" in [chunk["outcome"] for chunk in said if chunk.type == "turn_end"]
    silent = AgentServices(say=said_again.append)
    again = RecordedTree.replay(
        sink.records, sink.contents, services=lambda recipe: services_from(recipe, silent)
    )
    await again.settle()
    assert said_again == said


# -- time ------------------------------------------------------------------------------------------


def room_after(ledger, now):
    return Room(
        ledger=ledger,
        prices=None,
        window=200_000,
        longest_output=4_096,
        messages=1_000,
        tools=500,
        now=now,
    )


def with_responses(limit, *responses):
    """A ledger after responses of so many tokens and seconds, and the time that it is then."""
    ledger, now = Ledger(limits=Limits(seconds=limit)), 0.0
    for tokens, seconds in responses:
        now += seconds
        ledger = ledger.with_usage(1_000 + tokens, 0.0, seconds).with_pace(tokens, seconds)
    return ledger, now


@each_row("tokens", [1, 20, 40, 99, 100, 150])
@each_row(("wait", "limit"), [(0.1, 3), (1, 30), (2, 60), (8, 300), (20, 300), (30, 300)])
def test_a_long_wait_for_a_short_first_response_does_not_withdraw_the_tools(wait, limit, tokens):
    ledger, now = with_responses(limit, (tokens, wait + 0.001 * tokens * wait))
    assert room_after(ledger, now).scarce() is None


@given(
    wait=st.floats(0.0, 20.0),
    pace=st.floats(0.001, 0.15),
    outputs=st.lists(st.integers(1, 2_000), min_size=2, max_size=6),
)
@examples(60)
def test_the_wait_for_the_first_token_counts_once_and_each_token_counts(wait, pace, outputs):
    """As soon as two responses of different length are known, in whatever order they came."""
    outputs = [20, 20 + 100 + outputs[0], *outputs[1:]]
    ledger, _ = with_responses(3_000, *((n, wait + pace * n) for n in outputs))
    needed = wait + pace * 800
    longest = wait + pace * max(outputs)
    assert 0.99 * needed <= ledger.seconds_kept <= 1.3 * max(needed, longest) + pace * 20 + CLEAN_UP


def test_a_model_that_writes_slowly_keeps_the_time_for_its_answer():
    ledger, _ = with_responses(300, (200, 20.0))
    assert ledger.seconds_kept >= 80.0


TOOLS = [tool_spec("search_code"), replace(tool_spec("write_note"), writes=True)]
MODEL = {"name": "m", "context_window": 50_000, "longest_output": 4_096, "prices": None}


def board_with_calls(said, **state):
    """The board of a run whose response has called both tools."""
    calls = [{"id": str(n), "name": t.name, "arguments": {}} for n, t in enumerate(TOOLS)]
    asked = {"role": "assistant", "content": "", "tool_calls": calls}
    return context(
        services=AgentServices(say=said.append),
        tool_list=json.dumps(specs_as_data(TOOLS)),
        model=MODEL,
        ledger=Ledger(limits=Limits(seconds=60)).to_dict(),
        messages=[{"role": "user", "content": CODE}, asked],
        calls=calls,
        was_awaited=True,
        **state,
    )


def test_calls_for_which_no_time_is_left_are_shown_to_the_user_and_a_write_is_missing():
    said = []
    ctx = board_with_calls(said, calls_wait=True)
    answer_unfinished(ctx)
    assert [chunk.type for chunk in said] == ["tool_call", "tool_result"] * 2 + ["system"] * 2
    told = [m["content"] for m in ctx.blackboard.get("messages")[2:]]
    assert told == [chunk["content"] for chunk in said if chunk.type == "tool_result"]
    assert all(text.startswith("Not run: ") for text in told)
    assert "search_code, write_note" in said[-1]["content"]
    assert ctx.blackboard.get("missing") == ["nothing was written: write_note was not run"]
    assert ctx.blackboard.get("calls_wait") is False


def test_calls_that_were_cut_off_are_not_shown_twice():
    said = []
    ctx = board_with_calls(said, calls_wait=False)
    answer_unfinished(ctx)
    assert said == []
    assert "it is not known whether it was done" in ctx.blackboard.get("messages")[-1]["content"]


@pytest.mark.parametrize("resource", RESOURCES)
def test_a_last_turn_that_a_budget_led_to_says_how_much_was_used(resource):
    response = {"text": END, "ending": {"kind": "whole", "said": ""}, "calls": []}
    ctx = board_with_calls([], stop_after_last_turn=STOP_AT[resource], response=response)
    as_announced(ctx)
    assert ctx.blackboard.get("stop_reason") == STOP_AT[resource]
    assert ctx.blackboard.get("stop_detail").endswith(f" {resource}")


class ToolThatIgnoresCancellation(ScriptedTools):
    def __init__(self):
        super().__init__({"search_code": "a.py:1 x"})
        self.may_end = asyncio.Event()

    async def run(self, name, arguments):
        while not self.may_end.is_set():
            with suppress(asyncio.CancelledError):
                await self.may_end.wait()
        return await super().run(name, arguments)


@pytest.mark.parametrize("seconds", [4, 5, 10, 60])
def test_the_clean_up_after_a_tool_that_does_not_stop_leaves_time_for_the_answer(seconds):
    ledger, now = with_responses(seconds, (20, 0.01))
    tool_is_stopped_at = now + ledger.left("seconds", now) - ledger.seconds_kept
    assert tool_is_stopped_at + CLEAN_UP_SECONDS + 0.01 <= seconds
    assert room_after(ledger, now).scarce() is None


def test_the_ledger_knows_how_long_the_clean_up_takes():
    assert CLEAN_UP == CLEAN_UP_SECONDS


@pytest.mark.extra
@pytest.mark.parametrize("seconds", [5, 10])
async def test_a_tool_that_does_not_stop_does_not_cost_the_last_answer(seconds):
    model = ScriptedModel(searching(END), repeats_last=True)
    tools = ToolThatIgnoresCancellation()
    heard = await ask(model=model, tools=tools, limits=Limits(seconds=seconds))
    tools.may_end.set()
    # On a busy machine the time may be up right after the text, and then the tree adds why.
    assert heard.done["answer"].startswith(END)
    assert heard.stop == "time_limit"


# -- money ----------------------------------------------------------------------------------------


async def test_a_model_that_is_free_fits_a_limit_of_no_money():
    free = MeteredModel(searching(END), prices=Prices(input=0.0, output=0.0))
    heard = await ask(model=free, limits=Limits(money=0.0, turns=3))
    assert (heard.done["answer"], heard.stop) == (END, "turn_limit")
    assert heard.ran
    assert "money" not in [chunk["budget"] for chunk in heard.of_type("budget")]


# -- a server that ignores the length it was given -------------------------------------------------

KINDS = {
    "prose": lambda n: f"Word {n} and other words of a file. ",
    "code": lambda n: f"def load_{n}(path: str) -> int:\n    return self.rows[{n}]['key']\n",
    "base64": lambda n: b64encode(sha256(b"%d" % n).digest()).decode(),
    "numbers": lambda n: f"{n * 7919 % 9973},{n * 31 % 97}.{n},{n * n}\n",
    "cyrillic": lambda n: f"Строка {n} читается из файла проекта. ",
    "chinese": lambda n: f"第{n}行从项目的文件中读取并保存订单。",
    "emoji": lambda n: f"🧬🪐{chr(0x1F900 + n % 200)}🫧",
    "prose, then chinese": lambda n: (
        f"Word {n} and others. " if n < 150 else "第行从项目的文件中读取并"
    ),
}


def long_text(kind, characters=60_000):
    text, n = "", 0
    while len(text) < characters:
        text, n = text + KINDS[kind](n), n + 1
    return text


class ModelOnALine(MeteredModel):
    """Each piece takes a moment, as on a network: none arrives before the last one was read."""

    async def stream(self, request):
        async for part in super().stream(request):
            yield part
            await asyncio.sleep(0)


@pytest.mark.parametrize("tokens", thinned([12_000, 20_000], 2))
@pytest.mark.parametrize("in_last_answer", [False, True])
@pytest.mark.parametrize("kind", KINDS)
async def test_no_text_passes_the_limit_of_tokens_unseen(kind, in_last_answer, tokens):
    text = long_text(kind)
    model = ModelOnALine(
        lambda request: text if in_last_answer or request.tools else END,
        longest_output=2_000,
        obedient=False,
    )
    limits = Limits(tokens=tokens, money=None, turns=2 if in_last_answer else 8)
    heard = await ask(model=model, limits=limits)
    in_flight = model.count(text[-Reply().piece :])
    assert model.tokens <= limits.tokens + in_flight
    assert heard.done["usage"]["tokens"] <= limits.tokens + in_flight


@pytest.mark.parametrize("piece", thinned([1, 4, 20], 3))
@pytest.mark.parametrize("kind", KINDS)
async def test_no_text_passes_the_limit_of_money_and_the_reason_names_money(kind, piece):
    model = ModelOnALine(
        lambda _: Reply(text=long_text(kind, 6_000), piece=piece),
        prices=Prices(input=1, output=300),
        obedient=False,
    )
    heard = await ask(model=model, limits=Limits(money=0.2, turns=1), query="hello")
    in_flight = 0.0003 * model.count(long_text(kind, 6_000)[-piece:])
    assert model.money <= 0.2 + in_flight
    assert heard.done["usage"]["money"] <= 0.2
    assert heard.stop == "money_limit"
    assert heard.done["detail"] == "the text needs more than was left of 0.2 money"


@pytest.mark.parametrize(
    ("spent", "is_money"),
    [
        ({"money": 0.21}, True),
        ({"money": 0.199}, True),
        ({"tokens": 400_100, "money": 0.1}, False),
        ({"tokens": 399_999, "money": 0.1}, False),
    ],
)
def test_the_budget_that_pays_least_is_named_also_if_it_is_overdrawn(spent, is_money):
    room = room_after(Ledger(limits=Limits(money=0.2), **spent), 0.0)
    room = replace(room, prices=Prices(input=1, output=300))
    assert room.pays_less_in_money() is is_money


@pytest.mark.parametrize("kind", KINDS)
def test_a_text_is_measured_a_few_times_until_it_is_stopped(kind):
    """A measurement takes time, so there must not be many."""
    text, at, measured = long_text(kind, 120_000), 0, 0
    room, written = room_after(Ledger(), 0.0), GrowingEstimate()
    while at < len(text) and (left := room.characters_left(20_000, written.tokens)):
        written.add(text[at : at + left])
        at, measured = at + left, measured + 1
    assert measured <= 200


def test_a_response_that_was_stopped_is_booked_with_the_tokens_of_its_text():
    response = {"usage": None, "characters": 3_000, "output": 6_119, "continues": 0}
    ctx = board_with_calls([])
    usage = usage_of(ctx, {**response, "is_complete": False})
    assert usage["output_tokens"] >= 6_119
    without = {name: response[name] for name in ("usage", "characters", "continues")}
    assert usage_of(ctx, {**without, "is_complete": False})["output_tokens"] == 900
