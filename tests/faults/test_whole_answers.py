"""An answer is called whole only when it is: attacks on the stop reason `answered`."""

import pytest

from oracle.errors import ModelError
from oracle.services.control.ledger import Limits
from oracle.testing import Reply, ScriptedModel, ScriptedTools, signal
from tests.asking import CODE, LONG, TALK, ask, enough, look, stuck
from tests.default_run import thinned
from tests.tables import each_row

SPOILT = '<signal type="done"><confidence>2</confidence></signal>'
ANSWER = "It is in auth.py:3, in the function login."
PROSE = ANSWER + "".join(f" In step {n} it checks token {n} and user {n}." for n in range(20))
WEAK = 0.1

# -- 1. grounded, or not `answered` ----------------------------------------------------------------

UNGROUNDED = {
    "text without a signal": ANSWER,
    "long text without a signal": PROSE,
    "a spoilt signal": ANSWER + SPOILT,
    "a claim": enough(ANSWER),
    "a weak claim": ANSWER + signal("context_sufficient", WEAK, sources_found=3),
    "need_turn": ANSWER + signal("need_turn", reason="more"),
    "a weak need_turn": ANSWER + signal("need_turn", WEAK, reason="more"),
    "a weak need_capability": ANSWER
    + signal("need_capability", WEAK, capability="web search", reason="r"),
    "delegation": ANSWER + signal("delegation_recommended", reason="large", scope="src"),
    "stuck": stuck(ANSWER),
    "empty": "",
    "a tool that was not granted": Reply(text=ANSWER, calls=[("rm_rf", {})]),
    "broken arguments": Reply(text=ANSWER, calls=[("search_code", "{")]),
}
LIMITS = {
    "all turns": Limits(),
    "one turn": Limits(turns=1),
    "two turns": Limits(turns=2),
    "few tokens": Limits(tokens=12_000),
}
FAILS = {"search_code": RuntimeError("disk"), "web_search": RuntimeError("net")}
EMPTY = {"search_code": "", "web_search": ""}


def stubborn(reply):
    return ScriptedModel(reply, repeats_last=True)


@each_row("limits", LIMITS.values(), ids=LIMITS)
@each_row("query", [CODE, LONG], ids=["short", "long"])
@each_row("reply", UNGROUNDED.values(), ids=UNGROUNDED)
async def test_without_evidence_no_way_to_end_is_answered(reply, query, limits):
    tools = FAILS if isinstance(reply, Reply) else None
    heard = await ask(model=stubborn(reply), query=query, limits=limits, tools=tools)
    assert heard.stop != "answered"
    assert len(heard.model.requests) < 15, "it idles"
    if heard.stop == "partial_answer":
        assert heard.done["missing"], "what is missing is named"


@pytest.mark.parametrize("tools", [FAILS, EMPTY], ids=["failing", "empty"])
@pytest.mark.parametrize("reply", UNGROUNDED.values(), ids=UNGROUNDED)
async def test_calls_that_bring_nothing_are_no_evidence(reply, tools):
    model = ScriptedModel(look(), reply, repeats_last=True)
    assert (await ask(model=model, tools=tools)).stop != "answered"


@pytest.mark.parametrize("reply", [ANSWER, PROSE, ANSWER + SPOILT, enough(ANSWER)])
async def test_a_first_text_that_nothing_backs_goes_back_once_with_tools(reply):
    heard = await ask(model=stubborn(reply))
    assert heard.offered == [["search_code"], ["search_code"]]
    assert heard.told(1).count("Search first") == 1
    assert (heard.stop, heard.done["answer"]) == ("partial_answer", heard.done["answer"])
    assert heard.done["missing"] == ["any source, because nothing was looked at"]


@pytest.mark.parametrize("reply", [ANSWER, PROSE, ANSWER + SPOILT, enough(ANSWER)])
async def test_who_searches_after_being_sent_back_is_answered(reply):
    heard = await ask(reply, look(), enough())
    assert (heard.stop, heard.done["missing"]) == ("answered", [])


async def test_forcing_a_response_keeps_tools_that_were_not_used():
    replies = ["Hm." + signal("need_turn", WEAK, reason=str(n)) for n in range(3)]
    heard = await ask(*replies, look(), enough())
    decided = [event["classification_action"] for event in heard.events("fallback.triggered")]
    assert "force_response" in decided
    assert all(offer == ["search_code"] for offer in heard.offered)
    assert heard.stop == "answered"


@pytest.mark.parametrize("given", [{"attachment": "def login(): ..."}, {"query": TALK}])
@pytest.mark.parametrize("limits", [Limits(), Limits(turns=1)])
async def test_what_needs_no_search_is_answered_at_once(given, limits):
    heard = await ask(ANSWER, limits=limits, **given)
    assert (heard.stop, len(heard.model.requests)) == ("answered", 1)


WANTS_MORE = [
    signal("need_turn", reason="the tests"),
    signal("need_capability", capability="web search", reason="the tests"),
    signal("delegation_recommended", scope="src", reason="the tests"),
]


@pytest.mark.parametrize("wish", WANTS_MORE)
async def test_a_last_turn_that_wants_more_is_not_whole(wish):
    heard = await ask(ANSWER + wish, attachment="def login(): ...", limits=Limits(turns=1))
    assert heard.stop != "answered"
    assert "the tests" in heard.done["missing"][0]


async def test_a_weak_claim_is_not_a_whole_answer():
    heard = await ask(look(), ANSWER + signal("context_sufficient", WEAK, sources_found=1))
    assert (heard.stop, heard.done["answer"]) == ("partial_answer", ANSWER)
    assert "0.1" in heard.done["missing"][0]


# -- 2. a cut answer is not whole ------------------------------------------------------------------


async def test_a_text_that_reaches_the_longest_output_is_continued_in_the_same_turn():
    cut = Reply(text="It is in auth.py, in the fun", ending="length")
    heard = await ask(look(), cut, enough("ction login, with a token."))
    assert (heard.stop, heard.done["answer"]) == (
        "answered",
        "It is in auth.py, in the function login, with a token.",
    )
    assert heard.done["usage"]["turns"] == 2
    assert heard.model.requests[2].messages[-2]["content"] == "It is in auth.py, in the fun"


@pytest.mark.parametrize("place", thinned(range(1, len(enough(""))), 4))
async def test_a_signal_may_be_cut_by_the_longest_output(place):
    whole = enough("It is here.")
    cut = len("It is here.") + place
    heard = await ask(look(), Reply(text=whole[:cut], ending="length"), whole[cut:])
    assert (heard.stop, heard.done["answer"]) == ("answered", "It is here.")


async def test_a_pause_is_continued():
    heard = await ask(look(), Reply(text="It is ", ending="pause"), enough("here."))
    assert (heard.stop, heard.done["answer"]) == ("answered", "It is here.")


@pytest.mark.parametrize("ending", ["length", "pause", "unknown"])
async def test_a_text_that_never_ends_is_marked_as_cut(ending):
    model = ScriptedModel(look(), Reply(text="and so on ", ending=ending), repeats_last=True)
    heard = await ask(model=model)
    assert heard.stop == "partial_answer"
    assert heard.done["answer"].endswith("[…]")
    assert any("the rest of the answer" in each for each in heard.done["missing"])
    assert len(heard.model.requests) <= 11


async def test_an_answer_that_is_too_long_is_asked_for_again_in_less():
    def reply(request):
        if "much shorter" in request.messages[-1]["content"]:
            return enough("In short.")
        return Reply(text=f"Part {len(model.requests)} of many.", ending="length")

    model = ScriptedModel(look(), reply, repeats_last=True)
    heard = await ask(model=model)
    assert (heard.stop, heard.done["answer"]) == ("answered", "In short.")


async def test_a_continuation_that_fails_leaves_the_text_marked_as_cut():
    cut = Reply(text="It is in auth.py, in the", ending="length")
    heard = await ask(look(), cut, Reply(raises=ModelError("lost")), limits=Limits(turns=2))
    assert heard.done["answer"] == "It is in auth.py, in the […]"
    assert heard.stop == "turn_limit"


@pytest.mark.parametrize("rest", [Reply(reasoning="hm"), "", Reply(ending="length")])
async def test_a_continuation_that_brings_no_text_does_not_make_it_whole(rest):
    cut = Reply(text="Part one and the", ending="length")
    heard = await ask(look(), cut, rest, limits=Limits(turns=2))
    assert heard.stop != "answered"
    assert heard.done["answer"].startswith("Part one and the […]")


async def test_the_signal_at_the_end_of_a_continued_text_counts():
    first = Reply(text="Part one. " + enough(""), ending="length")
    heard = await ask(look(), first, "Part two." + signal("partial_answer", missing="half of it"))
    assert (heard.stop, heard.done["missing"]) == ("partial_answer", ["half of it"])


INVISIBLE = [
    "\u200b",
    "\u2060",
    "\u00ad",
    "\ufeff",
    "\x07",
    "\u3164",
    "\u2800",
    "&nbsp;",
    "<!-- x -->",
]


@each_row("text", [*INVISIBLE, "</signal>"])
async def test_an_invisible_text_is_no_answer(text):
    heard = await ask(look(), *[text + enough("")] * 2, enough("It is here."))
    assert heard.done["answer"] == "It is here."


@pytest.mark.parametrize("text", [" \n", " ", "\u200b", "\x00"])
async def test_a_blank_attachment_is_no_evidence(text):
    heard = await ask(*[enough(ANSWER)] * 2, attachment=text)
    assert heard.stop == "partial_answer"


async def test_what_is_continued_is_paid_for_each_time():
    usage = {"input_tokens": 1_000, "output_tokens": 100}
    cut = Reply(text="It is ", ending="length", usage=usage)
    heard = await ask(cut, Reply(text="here.", usage=usage), query=TALK)
    assert heard.done["usage"]["tokens"] == 2_200
    assert sum(cost["tokens"] for cost in heard.of_type("cost")) == 2_200


async def test_a_call_that_was_cut_in_the_middle_is_not_run():
    cut = Reply(calls=[("search_code", '{"query": "lo')], ending="length")
    heard = await ask(cut, look(), enough())
    assert heard.ran == ["search_code"]
    assert "in the middle of this call" in heard.results()[0]


REFUSED = [("refusal", "refusal"), ("filter", "content_filter")]


@each_row("text", ["", "I will not.", ANSWER + signal("context_sufficient", sources_found=1)])
@each_row(("ending", "stop"), REFUSED)
async def test_a_refusal_and_a_filter_have_their_own_stop_reasons(ending, stop, text):
    heard = await ask(look(), Reply(text=text, ending=ending))
    assert heard.stop == stop
    assert "not complete" in heard.done["answer"]
    assert "auth.py:3" in heard.done["answer"], "what was found is not lost"


# -- 5. nothing is dropped in silence --------------------------------------------------------------


async def allow(_question):
    return True


async def test_calls_beside_a_partial_answer_are_run():
    half = Reply(text="Half." + signal("partial_answer", missing="who?"), calls=look("who").calls)
    heard = await ask(
        look(), half, enough(), tools={"search_code": lambda a: f"{a['query']}.py:1 x"}
    )
    assert heard.ran == ["search_code", "search_code"]
    assert heard.stop == "answered"


@pytest.mark.parametrize("signal_", ["", enough(""), signal("partial_answer", missing="who?")])
async def test_a_write_on_the_last_turn_is_said_to_be_undone(signal_):
    wish = "Hm." + signal("need_capability", capability="write_note", reason="save")
    last = Reply(text="Written." + signal_, calls=[("write_note", {"query": "x"})])
    tools = {"search_code": "auth.py:3 x", "write_note": "notes/x.md"}
    heard = await ask(look(), wish, last, tools=tools, approve=allow, limits=Limits(turns=3))
    assert heard.ran == ["search_code"]
    assert heard.stop != "answered"
    assert any("write_note was not run" in missing for missing in heard.done["missing"])
    assert any("Not run" in chunk["content"] for chunk in heard.of_type("system"))
    assert "Not run" in heard.of_type("tool_result")[-1]["content"]


IDLING = {
    "ever new reasons": lambda n: "Hm." + signal("need_turn", reason=f"reason {n}"),
    "a granted capability": lambda n: (
        "Hm." + signal("need_capability", capability="search_code", reason=f"reason {n}")
    ),
    "a tool that is not granted": lambda n: Reply(
        text=signal("need_turn", reason=f"reason {n}"), calls=[("rm_rf", {"n": n})]
    ),
    "delegations": lambda n: (
        "Hm." + signal("delegation_recommended", reason=f"r{n}", scope=f"s{n}")
    ),
    "all in turn": lambda n: [
        "Hm." + signal("need_turn", reason=f"reason {n}"),
        "",
        "Hm." + SPOILT,
        stuck("Hm.", blocker=f"b{n}"),
    ][n % 4],
}


@pytest.mark.parametrize("evidence", [False, True])
@pytest.mark.parametrize("reply", IDLING.values(), ids=IDLING)
async def test_idling_is_stopped_by_the_ladder_long_before_the_turns_are_used_up(reply, evidence):
    def next_reply(request):
        number = len(model.requests)
        if not request.tools:
            return "All I know."
        return look() if evidence and number == 1 else reply(number)

    model = ScriptedModel(next_reply, repeats_last=True)
    heard = await ask(model=model)
    assert len(model.requests) <= 12
    assert heard.stop in ("stuck", "partial_answer", "answered" if evidence else "stuck")


async def test_a_table_of_equal_rows_is_no_circle():
    table = "| a | b |\n|---|---|\n" + "| 0 | 0 |\n" * 30
    heard = await ask(look(), enough(table))
    assert heard.done["answer"] == table.strip()


async def test_a_quotation_of_equal_lines_is_no_circle():
    lines = "0, 0, 0, 0, 0, 0, 0, 0,\n" * 64
    tools = {"search_code": f"auth.py:3\n{lines}"}
    quoted = f"The login function of auth.py is:\n\n```\n{lines}```\n"
    heard = await ask(look(), enough(quoted), tools=tools)
    assert heard.stop == "answered"
    assert lines in heard.done["answer"]


async def test_each_request_is_paid_for_once_whatever_ends_the_run():
    usage = {"input_tokens": 1_000, "output_tokens": 100}
    empty = Reply(usage=usage)
    heard = await ask(empty, empty, Reply(text=" loop" * 400, usage=usage), limits=Limits(turns=3))
    assert len(heard.of_type("cost")) == 3


async def test_after_an_empty_search_a_tool_that_was_not_used_gets_its_chance():
    tools = {"search_code": "", "read_file": "auth.py:3 x", "find_definition": "auth.py:3 y"}
    heard = await ask(look(), enough(ANSWER), look(tool="find_definition"), enough(), tools=tools)
    assert (heard.stop, len(heard.model.requests)) == ("answered", 4)


async def test_text_in_circles_on_the_last_turn_ends_the_run():
    model = ScriptedModel(Reply(text="so it goes on\n" * 200), repeats_last=True)
    heard = await ask(model=model)
    assert len(model.requests) <= 8
    assert heard.stop == "stuck"


async def test_failed_and_empty_calls_are_not_enough():
    tools = {"search_code": ["auth.py:3 x", "", RuntimeError("disk"), "", ""], "web_search": ""}
    heard = await ask(*[look(n) for n in range(3)], enough(), tools=tools)
    assert "added little" not in heard.told()


async def test_silent_turns_with_failed_calls_are_no_progress():
    silent = [Reply(calls=[("search_code", {"query": str(n)})]) for n in range(3)]
    tools = {"search_code": ["", ""], "web_search": ""}
    heard = await ask(*silent, "It is not here.", tools=tools, query=LONG)
    reasons = [event["reason"] for event in heard.events("fallback.triggered")]
    assert not any("but with results" in reason for reason in reasons)


async def test_every_capability_of_a_request_is_considered():
    wish = signal(
        "need_capability", capability="web search, write_note and run the tests", reason="all of it"
    )
    tools = {"search_code": "auth.py:3 x", "web_search": "w", "write_note": "notes/x.md"}
    heard = await ask("Hm." + wish, look(), enough(), tools=tools, approve=allow)
    assert heard.offered[1] == ["search_code", "web_search", "write_note"]
    assert heard.done["missing"] == ["run the tests (all of it)"]


async def test_every_capability_is_considered_where_nobody_can_be_asked():
    wish = signal("need_capability", capability="write_note; web_search", reason="both")
    tools = {"search_code": "auth.py:3 x", "web_search": "w", "write_note": "notes/x.md"}
    heard = await ask("Hm." + wish, look(), enough(), tools=ScriptedTools(tools))
    assert heard.offered[1] == ["search_code", "web_search"]
    assert heard.done["missing"] == ["write_note was not allowed (both)"]
