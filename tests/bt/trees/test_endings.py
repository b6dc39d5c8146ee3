"""No run ends empty: whatever happens, `done` is last, once, with an answer and a reason."""

import asyncio

import pytest

from oracle.bt.core.leaves import action
from oracle.bt.wrappers.oracle_wrapper import OracleBTWrapper
from oracle.errors import (
    ContextTooLong,
    ModelError,
    ModelOverloaded,
    ModelRefused,
    ModelUnreachable,
)
from oracle.services.ans.bus import event_bus_replaced
from oracle.services.control.ledger import Limits
from oracle.testing import RecordingBus, Reply, ScriptedModel, ScriptedTools, signal
from tests.asking import CODE, SOON, TALK, Heard, ask, check_the_end, edited, enough, look
from tests.default_run import thinned
from tests.tables import each_row

FOUND = {"search_code": "auth.py:3 def login()", "web_search": "w"}


@action()
def raise_something(ctx):
    raise ZeroDivisionError("a mistake in a leaf")


RAISES = f'BT.action("breaks", {{ fn = "{__name__}.raise_something" }})'


@pytest.mark.parametrize(
    "problem",
    [ModelRefused("bad key"), ModelOverloaded("busy"), ContextTooLong("too long"), ModelError("?")],
)
async def test_a_model_that_cannot_be_asked(problem):
    """A request that is too long for the model, however short it is made, is one of these."""
    heard = await ask(model=ScriptedModel(Reply(raises=problem), repeats_last=True))
    assert 1 <= len(heard.model.requests) <= (12 if isinstance(problem, ContextTooLong) else 1)
    assert (heard.stop, heard.done["detail"]) == ("model_unavailable", str(problem))


@pytest.mark.parametrize(
    "problem", [ModelRefused("bad key"), ModelOverloaded("busy"), ModelUnreachable("no network")]
)
async def test_a_request_that_was_refused_costs_nothing(problem):
    heard = await ask(model=ScriptedModel(Reply(raises=problem)))
    used = heard.done["usage"]
    assert (used["tokens"], used["money"], used["is_estimate"]) == (0, 0, False)
    assert heard.of_type("cost") == []


@pytest.mark.parametrize("text", ["", "It is in the file and"])
async def test_a_request_that_broke_off_costs_its_estimate(text):
    """Nobody knows whether the provider has read a request after which it was silent."""
    heard = await ask(Reply(text=text, raises=ModelError("sent nothing for 60 seconds")))
    assert heard.done["usage"]["tokens"] > 100
    assert heard.done["usage"]["is_estimate"]
    assert [cost["is_estimate"] for cost in heard.of_type("cost")] == [True]


async def test_a_refusal_after_a_counted_turn_leaves_its_count():
    heard = await ask(look(), Reply(raises=ModelUnreachable("no network")))
    [cost] = heard.of_type("cost")
    assert heard.done["usage"]["tokens"] == cost["tokens"]


async def test_no_model_at_all():
    wrapper = OracleBTWrapper()
    *_, last = [chunk async for chunk in wrapper.process_query(CODE)]
    assert last["stop_reason"] == "model_unavailable"
    assert "no language model is configured" in last["answer"]


async def test_a_model_that_breaks_off_leaves_its_words_and_what_was_found():
    heard = await ask(look(), Reply(text="It is in the file and", raises=ModelError("lost")))
    assert heard.done["answer"].startswith("It is in the file and […]")
    assert "auth.py:3" in heard.done["answer"]
    assert heard.done["tried"] == ["search_code"]


async def test_a_model_with_a_mistake_of_its_own():
    heard = await ask(look(), Reply(text="It is", raises=ValueError("a bug in a client")))
    assert heard.stop == "internal_error"
    assert heard.done["answer"].startswith("It is […]")
    assert "auth.py:3" in heard.done["answer"]


async def test_every_tool_failing():
    model = ScriptedModel(
        lambda r: look(len(r.messages)) if r.tools else "I could not look.", repeats_last=True
    )
    tools = {"search_code": RuntimeError("disk"), "web_search": OSError("net")}
    heard = await ask(model=model, tools=tools)
    assert (heard.stop, heard.done["answer"]) == ("stuck", "I could not look.")
    assert len(heard.ran) == 9


async def test_two_failed_calls_bring_advice_once():
    heard = await ask(
        *[look(n) for n in range(3)],
        "Ok.",
        tools={"search_code": OSError("disk"), "web_search": ""},
    )
    assert "# After errors" not in heard.told(1)
    assert heard.told(3).count("# After errors") == 1


async def test_results_that_came_before_a_cut_are_kept():
    async def hangs(_arguments):
        await asyncio.Event().wait()

    both = Reply(calls=[("search_code", {"query": "x"}), ("read_file", {"query": "x"})])
    tools = {"search_code": "auth.py:3 def login()", "read_file": hangs}
    model = ScriptedModel(both, Reply(hold=asyncio.Event()))
    heard = await ask(model=model, tools=tools, limits=SOON)
    assert heard.stop == "time_limit"
    assert "`auth.py:3`" in heard.done["answer"]
    assert [source["where"] for source in heard.of_type("sources")[0]["sources"]] == ["auth.py:3"]


@each_row(
    "answer",
    [
        None,
        42,
        {},
        {"success": True},
        {"success": True, "content": None, "sources": []},
        {"success": True, "content": ["a"], "sources": []},
        {"success": True, "content": "x", "sources": None},
        {"success": True, "content": "x", "sources": [{}]},
        {"success": True, "content": "x", "sources": ["auth.py"]},
        {"success": True, "content": "x", "sources": [{"where": 3}]},
        {"success": True, "content": object(), "sources": []},
        {"success": True, "content": "x", "sources": [], "extra": object()},
    ],
)
async def test_a_result_of_a_broken_shape_is_a_failed_call(answer):
    heard = await ask(look(), "I could not look.", tools={"search_code": lambda _: answer})
    assert heard.stop in ("answered", "partial_answer")
    assert heard.done["answer"] == "I could not look."


@pytest.mark.parametrize("arguments", ["not an object", "", {}, {"query": None}])
async def test_arguments_of_any_shape_reach_the_tool_or_are_answered(arguments):
    reply = Reply(calls=[("search_code", arguments)], text=signal("need_turn", reason="r"))
    assert (await ask(reply, look(), "Ok.")).stop == "answered"


def broken(*_, **__):
    raise RuntimeError("not there")


async def test_a_fallback_classifier_that_fails_is_replaced_by_the_heuristic():
    weak = "Hm." + signal("need_turn", 0.1, reason="r")
    for classifier in (broken, lambda **_: None, lambda **_: "continue"):
        heard = await ask(weak, "Ok.", query=TALK, classify_fallback=classifier)
        assert (heard.stop, heard.offered[1]) == ("answered", [])


async def test_a_sufficiency_function_that_fails_is_replaced_by_the_heuristic():
    for judge in (broken, lambda _: None, lambda _: "plenty"):
        heard = await ask(look(), "Ok.", tools={"search_code": ""}, is_sufficient=judge)
        assert "Nothing was found so far" in heard.told(1)


PLACES = [
    ("assess.lua", "assess.classify"),
    ("compose.lua", "compose.write_prompt"),
    ("turn.lua", "turn.begin"),
    ("turn.lua", "turn.take_in_response"),
    ("turn.lua", "turn.close"),
    ("work.lua", "calls.run"),
    ("decide.lua", "tell.another_turn_is_granted"),
]


@pytest.mark.parametrize(("file", "leaf"), thinned(PLACES, 2))
async def test_a_leaf_that_raises_ends_the_run_as_an_internal_error(file, leaf):
    heard = await ask(look(), enough(), tools=FOUND, trees=edited(file, (leaf, RAISES)))
    assert heard.stop == "internal_error"
    assert "a mistake in a leaf" in heard.events("node.failed")[0]["error"]


async def test_even_a_broken_finish_branch_leaves_an_answer():
    trees = edited("finish.lua", ("finish.name_the_reason", RAISES))
    answered = await ask(look(), enough(), tools=FOUND, trees=trees)
    assert (answered.stop, answered.done["answer"]) == ("answered", "It is in auth.py:3.")
    nothing = await ask(Reply(raises=ModelError("down")), trees=trees)
    assert "the language model did not answer" in nothing.done["answer"]


async def test_an_empty_question_is_refused_with_an_answer():
    heard = await ask(model=ScriptedModel(), query="  \n")
    assert heard.stop == "invalid_input"


def script():
    return ScriptedModel(
        look(1),
        Reply(text="A draft." + signal("need_turn", reason="b"), piece=4),
        look(2),
        enough(),
    )


async def chunks_of_a_run(cancel_at=None):
    wrapper = OracleBTWrapper(model=(model := script()), tools=ScriptedTools(FOUND))
    heard = []
    with event_bus_replaced(RecordingBus()) as bus:
        async for chunk in wrapper.process_query(CODE):
            heard.append(chunk)
            if len(heard) == cancel_at:
                wrapper.cancel("stop")
    found = Heard(heard, model, ScriptedTools(FOUND), bus)
    check_the_end(found)
    assert model.closed == len(model.requests)
    return found


@pytest.mark.extra
async def test_cancelled_at_any_chunk_a_run_ends_with_what_it_has():
    whole = await chunks_of_a_run()
    assert whole.stop == "answered"
    places = range(1, len(whole.chunks) + 1)
    stops = [(await chunks_of_a_run(cancel_at=place)).stop for place in places]
    assert set(stops) == {"answered", "cancelled"}
    assert stops[0] == "cancelled"


async def test_a_text_that_announced_work_is_not_the_answer_of_a_run_that_was_stopped():
    draft = "I will look for it." + signal("need_turn", reason="look")
    calls = [("search_code", {"query": "login"})]
    heard = await ask(Reply(text=draft, calls=calls), Reply(raises=ModelError("lost")))
    assert heard.stop == "model_unavailable"
    assert "I will look for it" not in heard.done["answer"]
    assert "[…]" not in heard.done["answer"]


async def test_the_words_of_the_tree_itself_cite_nothing():
    problem = ModelUnreachable("cannot reach openai:x at https://api.openai.com/v1 (see b.py:3)")
    heard = await ask(look(), Reply(raises=problem))
    assert str(problem) in heard.done["answer"]
    assert "⚠" not in heard.done["answer"]


async def test_cancelled_before_it_began():
    model = script()
    wrapper = OracleBTWrapper(model=model, tools=ScriptedTools(FOUND))
    stream = wrapper.process_query(CODE)
    first = asyncio.ensure_future(anext(stream))
    await asyncio.sleep(0)
    wrapper.cancel("at once")
    chunks = [await first] + [chunk async for chunk in stream]
    assert chunks[-1].type == "done"
    assert chunks[-1]["stop_reason"] in ("cancelled", "answered")


async def test_cancelled_twice_it_ends_once():
    wrapper = OracleBTWrapper(model=(script()), tools=ScriptedTools(FOUND))
    chunks = []
    async for chunk in wrapper.process_query(CODE):
        chunks.append(chunk)
        wrapper.cancel("again")
    assert [chunk.type for chunk in chunks].count("done") == 1


async def test_runs_of_one_wrapper_do_not_mix():
    wrapper = OracleBTWrapper(
        model=ScriptedModel(lambda r: f"About {r.messages[-1]['content']}", repeats_last=True)
    )

    async def answer(query):
        return [chunk async for chunk in wrapper.process_query(query)][-1]["answer"]

    queries = [f"What is {n}?" for n in range(20)]
    answers = await asyncio.gather(*map(answer, queries))
    assert answers == [f"About {query}" for query in queries]


async def test_a_run_that_ends_before_the_model_is_asked_still_finishes():
    broken = ("    turn.begin,\n", '    turn.begin,\n    BT.expect("never", "false"),\n')
    heard = await ask(model=ScriptedModel(), trees=edited("turn.lua", broken))
    assert (heard.stop, heard.done["error_kind"]) == ("stuck", None)
    assert heard.of_type("sources")


PARTS = [
    f"Part {n} is in auth.py:{n}." + signal("need_turn", reason=f"part {n + 1} follows")
    for n in (3, 4)
]


async def test_an_answer_in_pieces_is_put_together():
    heard = await ask(look(), *PARTS, enough("That was all."))
    assert heard.done["answer"].startswith("Part 3 is in auth.py:3.\n\nPart 4 is in auth.py:4")
    assert heard.done["answer"].endswith("That was all.")
    outcomes = [each["outcome"] for each in heard.of_type("turn_end")]
    # The last text alone is a draft; what is shown as the answer comes after it.
    assert outcomes == ["tools", "draft", "draft", "draft", "answer"]
    shown = [chunk for chunk in heard.chunks if chunk.type in ("content", "turn_end")]
    assert shown[-2]["content"].startswith("Part 3")


async def test_an_answer_that_is_written_anew_replaces_its_drafts():
    heard = await ask(look(), *PARTS, enough("Both are in auth.py:3 and auth.py:4."))
    assert heard.done["answer"].startswith("Both are")
    assert "Part 3" not in heard.done["answer"]


CUT = "It is in auth.py:3. The token is checked there, and then the"


async def test_a_text_that_stops_in_mid_sentence_is_asked_for_again():
    heard = await ask(look(), CUT, "It is in auth.py:3. The token is checked there.")
    assert "cut off" in heard.told()
    assert heard.stop == "answered"


async def test_a_text_that_stops_in_mid_sentence_again_is_not_whole():
    heard = await ask(look(), CUT, CUT)
    assert heard.stop == "partial_answer"
    assert heard.done["missing"] == ["the rest of the answer, which stops in mid-sentence"]


async def test_who_signals_has_come_to_the_end():
    heard = await ask(look(), enough(CUT))
    assert heard.stop == "answered"


async def test_a_call_in_the_last_turn_is_no_answer_the_tree_names_what_was_found():
    again = Reply(
        text="I call it again." + signal("need_turn", reason="x"),
        calls=[("search_code", {"query": "login"})],
    )
    heard = await ask(look(), again, again, again, again, limits=Limits(turns=3))
    assert "auth.py:3" in heard.done["answer"]
    assert "I call it again" not in heard.done["answer"]
    assert heard.stop != "answered"


@pytest.mark.parametrize("form", ["```markdown\n{}\n```", '```json\n{{"answer": "{}"}}\n```'])
async def test_an_answer_that_is_wrapped_in_a_fence_cites_as_if_it_were_not(form):
    text = "The function login is in `auth.py:3`, see there."
    place = {"kind": "code", "where": "auth.py:3", "path": "auth.py", "start": 3, "end": 3}
    line = "def login()"
    found = {"success": True, "content": line, "sources": [{**place, "text": line}]}
    heard = await ask(look(), enough(form.format(text)), tools={"search_code": found})
    assert (heard.stop, heard.done["answer"]) == ("answered", text)
    assert [each["status"] for each in heard.of_type("sources")[0]["citations"]] == ["resolved"]
