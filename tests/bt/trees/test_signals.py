"""Each signal changes what happens next: a branch that did nothing would fail its test."""

import pytest

from oracle.bt.wrappers.recipe import AgentSetup, services_from
from oracle.bt.wrappers.recorded_tree import RecordedTree
from oracle.models.session import Exchange
from oracle.services.agent_services import AgentServices
from oracle.services.control.ledger import Limits
from oracle.testing import Reply, ScriptedModel, ScriptedTools, signal
from tests.asking import CODE, TALK, ask, enough, look, stuck

WEAK = 0.29


def numbered(**more):
    return ScriptedTools({"search_code": lambda a: f"f{a['query']}.py:1 x", **more})


async def allow(_question):
    return True


async def forbid(_question):
    return False


# -- need_turn -------------------------------------------------------------------------------------


async def test_need_turn_without_calls_is_granted_and_told():
    heard = await ask("Thinking." + signal("need_turn", reason="one more look"), look(), enough())
    assert heard.stop == "answered"
    assert "Another turn is granted, for this: one more look (29 left)" in heard.told(1)
    assert heard.offered[1] == ["search_code"]


async def test_need_turn_with_calls_goes_on_by_itself():
    heard = await ask(look(), "It is in auth.py:3.")
    assert heard.ran == ["search_code"]
    assert heard.results(1) == ["auth.py:3 def login()"]
    assert "granted" not in heard.told(1)


async def test_the_text_beside_need_turn_is_a_draft_and_not_the_answer():
    draft = "A draft." + signal("need_turn", reason="r")
    heard = await ask(draft, "The answer.", query=TALK)
    assert [turn["outcome"] for turn in heard.of_type("turn_end")] == ["draft", "answer"]
    assert heard.done["answer"] == "The answer."


async def test_need_turn_is_refused_where_nothing_is_left():
    dear = {"input_tokens": 90_000, "output_tokens": 20_000}
    more = Reply(
        text="So far." + signal("need_turn", reason="more"),
        calls=[("search_code", {"query": "x"})],
        usage=dear,
    )
    heard = await ask(more, limits=Limits(tokens=100_000))
    assert (heard.stop, len(heard.model.requests), heard.ran) == ("token_limit", 1, [])
    assert heard.done["answer"].startswith("So far.")


# -- context_sufficient ----------------------------------------------------------------------------


async def test_context_sufficient_ends_the_run_where_it_has_evidence():
    heard = await ask(look(), enough())
    assert (heard.stop, heard.done["answer"]) == ("answered", "It is in auth.py:3.")
    assert len(heard.model.requests) == 2


async def test_context_sufficient_without_evidence_is_sent_back_to_search():
    heard = await ask(enough("A guess."), look(), enough("It is Y."))
    assert (heard.stop, heard.done["answer"]) == ("answered", "It is Y.")
    assert "Nothing was gathered yet" in heard.told(1)


async def test_who_is_not_believed_but_searches_anyway_is_let_search():
    both = Reply(text=enough("A guess."), calls=[("search_code", {"query": "x"})])
    heard = await ask(both, enough())
    assert (heard.ran, heard.stop) == (["search_code"], "answered")
    assert "Nothing was gathered yet" not in heard.told(1)


async def test_a_search_that_found_nothing_is_no_evidence():
    heard = await ask(
        look(),
        enough("There is none."),
        tools={"search_code": "", "web_search": "w"},
    )
    assert heard.stop == "partial_answer"
    assert heard.done["missing"] == ["anything in code"]
    assert len(heard.model.requests) == 2


async def test_a_failing_tool_is_no_evidence():
    heard = await ask(
        look(),
        enough("A guess."),
        enough("A guess."),
        enough("A guess."),
        tools={"search_code": RuntimeError("disk"), "web_search": "w"},
    )
    assert heard.stop == "partial_answer"


async def test_who_insists_on_knowing_enough_gets_a_partial_answer():
    heard = await ask(*[enough("It is X.")] * 2)
    assert (heard.stop, heard.done["answer"]) == ("partial_answer", "It is X.")
    assert heard.done["missing"] == ["any source, because nothing was looked at"]


async def test_who_insists_without_a_word_is_asked_for_what_there_is():
    heard = await ask(*[enough("")] * 2, "I do not know.")
    assert heard.offered == [["search_code"]] * 2 + [[]]
    assert heard.stop == "stuck"


async def test_without_tools_nobody_is_sent_back_to_search():
    heard = await ask(enough("It is X."), tools={})
    assert (heard.stop, len(heard.model.requests)) == ("partial_answer", 1)


async def test_what_the_user_attached_is_evidence():
    heard = await ask(enough("It logs in."), attachment="def login(): ...")
    assert (heard.stop, len(heard.model.requests)) == ("answered", 1)


async def test_a_question_that_needs_no_source_needs_no_evidence():
    heard = await ask(
        "You are welcome." + signal("context_sufficient", sources_found=0),
        query="Thanks, that helps!",
    )
    assert (heard.stop, len(heard.model.requests)) == ("answered", 1)


def earlier(question, answer, places):
    return Exchange(
        id="e",
        session_id="s",
        question=question,
        answer=answer,
        created_at=0.0,
        metadata={"places_found": places},
    )


@pytest.mark.parametrize(
    ("history", "requests"),
    [
        ([("How does login work?", "The login function in auth.py checks a token.", 2)], 1),
        ([("How does login work?", "The login function in auth.py checks a token.", 0)], 2),
        ([("Which colour has the banner?", "Blue, see banner.css.", 2)], 2),
        (
            [
                ("Which colour has the banner?", "Blue, see banner.css.", 2),
                ("How does login work?", "The login function in auth.py checks a token.", 0),
            ],
            2,
        ),
    ],
    ids=["the same topic", "nothing was found then", "another topic", "a topic before this one"],
)
async def test_an_earlier_exchange_counts_if_it_found_something_on_the_same_topic(
    history, requests
):
    model = ScriptedModel(*[enough("As said.")] * requests)
    tools = ScriptedTools({"search_code": "auth.py:3 def login()"})
    live = AgentServices(model=model, tools=tools)
    before = [earlier(*exchange) for exchange in history]
    recipe = AgentSetup(live=live).recipe(CODE, history=before)
    await RecordedTree(recipe, services=lambda made: services_from(made, live)).settle()
    assert len(model.requests) == requests


async def test_searches_beside_context_sufficient_are_not_run():
    both = Reply(text=enough("Enough."), calls=[("search_code", {"query": "more"})])
    heard = await ask(look(), both, "It is in auth.py:3.")
    assert heard.ran == ["search_code"]
    assert "you say that the context is sufficient" in heard.results()[1]
    assert heard.offered[2] == []
    assert (heard.stop, heard.done["answer"]) == ("answered", "It is in auth.py:3.")


async def test_a_writing_call_beside_context_sufficient_is_run():
    save = ("write_note", {"query": "x"})
    granted = signal("need_capability", capability="write_note", reason="save it")
    both = Reply(text=enough("Saved."), calls=[save, ("search_code", {"query": "more"})])
    tools = {"search_code": "auth.py:3 x", "write_note": "notes/x.md"}
    heard = await ask(look(), granted, both, "Saved in notes/x.md.", tools=tools, approve=allow)
    assert heard.ran == ["search_code", "write_note"]
    assert heard.results()[1] == "notes/x.md"
    assert heard.offered[3] == []


async def test_context_sufficient_without_text_is_asked_for_the_answer():
    heard = await ask(look(), enough(""), "It is in auth.py:3.")
    assert "Give the whole answer now" in heard.told(2)
    assert (heard.offered[2], heard.stop) == ([], "answered")


# -- stuck -----------------------------------------------------------------------------------------


async def test_stuck_consults_the_fallback_and_then_takes_the_strategies_in_order():
    """What each of them finds has a word of the question that was not there before."""
    found = ["auth.py:3", "the login", "the function"]
    looks = [stuck(), look(2), stuck(), look(3), stuck()]
    tools = {"search_code": found, "web_search": "w"}
    heard = await ask(look(), *looks, stuck("All I know."), stuck(), tools=tools)
    decided = [event["classification_action"] for event in heard.events("fallback.triggered")]
    assert decided == ["retry_with_hint"] * 5
    assert "no such file Take another way" in heard.told(2)
    assert "Put the search differently" in heard.told(2)
    assert heard.offered[4] == ["search_code", "web_search"]
    assert "Try another source: web" in heard.told(6)
    assert "No other way is left" in heard.told(7)
    assert (heard.offered[7], heard.stop) == ([], "stuck")


async def test_after_two_strategies_that_bring_nothing_there_is_no_third():
    heard = await ask(look(), *[stuck()] * 3, stuck("All I know."))
    assert "Put the search differently" in heard.told(2)
    assert heard.offered[3] == ["search_code", "web_search"]
    assert "No other way is left" in heard.told(4)
    assert (heard.offered[4], heard.stop) == ([], "stuck")


async def test_each_strategy_is_taken_once_even_if_two_reasons_ask_for_one():
    """Stuck and nothing found in one turn: one step on, not two."""
    reply = Reply(text=stuck(), calls=[("search_code", {"query": "x"})])
    heard = await ask(reply, "x", tools={"search_code": "", "web_search": "w"})
    assert "Put the search differently" in heard.told(1)
    assert heard.offered[1] == ["search_code"]


async def test_a_strategy_that_has_nothing_to_offer_makes_room_and_is_not_taken_twice():
    tools = {"search_code": "auth.py:3 x"}
    heard = await ask(look(), stuck(), stuck(), "All I know.", tools=tools)
    assert "Put the search differently" in heard.told(2)
    assert "No other way is left" in heard.told(3)
    assert heard.stop == "stuck"


async def test_stuck_because_all_tools_fail_is_told_to_the_user():
    replies = [look(1), look(2), look(3), stuck("I cannot."), "An honest answer."]
    heard = await ask(*replies, tools={"search_code": RuntimeError("disk"), "web_search": "w"})
    assert any("difficulty" in chunk["content"] for chunk in heard.of_type("system"))
    assert (heard.offered[4], heard.stop) == ([], "partial_answer")


# -- partial_answer, delegation_recommended --------------------------------------------------------


async def test_partial_answer_ends_with_what_is_missing_and_the_caveat_shown():
    heard = await ask("Half." + signal("partial_answer", missing="who?", caveat="It is old."))
    assert (heard.stop, heard.done["answer"], heard.done["caveat"]) == (
        "partial_answer",
        "Half.",
        "It is old.",
    )
    assert heard.done["missing"] == ["who?"]
    assert "Still open: who?; caveat: It is old." in [c["content"] for c in heard.of_type("system")]


async def test_the_caveat_is_shown_on_the_last_turn_too():
    partial = "Half." + signal("partial_answer", missing="who?", caveat="It is old.")
    heard = await ask(partial, limits=Limits(turns=1))
    assert "Still open: who?; caveat: It is old." in [c["content"] for c in heard.of_type("system")]


async def test_partial_answer_without_text_is_asked_for_it():
    heard = await ask(signal("partial_answer", missing="who?"), "Half.")
    assert (heard.offered[1], heard.done["answer"]) == ([], "Half.")


def delegates(text, scope="src/api"):
    return text + signal("delegation_recommended", reason="large", scope=scope)


async def test_delegation_is_recorded_and_the_model_goes_on_alone():
    heard = await ask(delegates("So far."), look(), "The rest.")
    assert heard.done["answer"] == "The rest."
    assert heard.done["missing"] == ["delegated work on src/api"]
    assert "nobody to delegate to" in heard.told(1)
    assert any("going on alone" in chunk["content"] for chunk in heard.of_type("system"))


async def test_who_does_nothing_but_delegate_is_asked_for_what_there_is():
    heard = await ask(delegates("One."), delegates("Two.", "src/db"), "All I know.")
    assert (heard.offered[2], heard.stop) == ([], "stuck")


async def test_a_claim_without_evidence_is_not_believed_on_the_last_turn_either():
    heard = await ask(enough("A guess."), limits=Limits(turns=1))
    assert heard.stop == "partial_answer"
    assert heard.done["missing"] == ["any source, because nothing was looked at"]


async def test_stuck_on_the_only_turn_ends_stuck():
    heard = await ask(stuck("I know nothing."), limits=Limits(turns=1))
    assert (heard.stop, heard.done["answer"]) == ("stuck", "I know nothing.")


async def test_a_second_delegation_with_calls_goes_on():
    replies = [
        Reply(text=delegates("So far.", s), calls=[("search_code", {"query": s})]) for s in "ab"
    ]
    heard = await ask(*replies, "Ok.")
    assert heard.ran == ["search_code"] * 2
    assert (heard.offered[2], heard.stop) == (["search_code"], "answered")
