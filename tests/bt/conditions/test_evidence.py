"""Evidence, and what calls have come to: truth tables."""

import json
from dataclasses import asdict

import pytest

from oracle.bt.conditions.evidence import (
    a_reading_tool_is_on_offer,
    backs_the_claim,
    calls_have_failed,
    is_a_search_for_what_is_here,
    is_enough,
    is_missing,
    more_calls_add_nothing,
    no_reading_tool_is_on_offer,
    no_source_knows_the_name,
    nothing_better_is_here,
    only_the_web_could_bring_it,
    strategies_brought_nothing,
    strategies_keep_finding_nothing,
    was_gathered,
    was_not_found_anywhere,
)
from oracle.models.query_classification import QueryClassification, QueryType
from oracle.services.agent_services import AgentServices
from oracle.services.control.grants import specs_as_data
from oracle.services.control.sufficiency import Verdict
from oracle.testing.models import tool_spec
from tests.asking import context
from tests.tables import each_row

PLACE = {"where": "a.py:1", "text": "x", "turn": 1, "name": "n", "call": "c", "kind": "code"}
TOOLS = json.dumps(specs_as_data([tool_spec("search_code"), tool_spec("write_note")]))


def classified(query_type=QueryType.CODE):
    found = asdict(QueryClassification.of_type(query_type))
    return {**found, "keywords_matched": []}


TALK = classified(QueryType.CONVERSATIONAL)


@each_row(
    ("state", "answer"),
    [
        ({}, False),
        ({"evidence": [PLACE]}, True),
        ({"earlier_evidence": 1}, True),
        ({"earlier_evidence": 1, "topic_shift": True}, False),
        ({"attachment": "text"}, True),
        ({"facts": {"is_pipe_empty": True}, "query": "is this safe?"}, True),
        ({"facts": {"is_pipe_empty": True}, "query": "where is the login?"}, False),
        ({"facts": {"is_pipe_empty": True}, "query": "what does this project do?"}, False),
        ({"classification": TALK}, True),
        ({"sources_tried": ["code"], "new_by_call": [0]}, False),
    ],
)
def test_a_claim_to_know_enough_is_believed_with_evidence(state, answer):
    ctx = context(**{"classification": classified(), **state})
    assert backs_the_claim(ctx) is answer
    assert is_missing(ctx) is not answer


@each_row(
    ("query", "known", "answer"),
    [
        # Words for the world or the present.
        ("Which CVEs affect requests 2.31?", [["requests", 1]], True),
        ("When is the next solar eclipse?", None, True),
        ("Wer ist Bundeskanzler?", None, True),
        # A fact is asked for, and nothing in the question is known here.
        ("Is GitHub down?", [], True),
        ("Is GitHub down?", None, False),
        ("Is GitHub down?", [["GitHub", 1]], False),
        # The name of the project, and a word that so many files have that it says nothing.
        ("Is GitHub down?", [["GitHub", 0]], False),
        ("Is GitHub down?", [["GitHub", 12]], True),
        # An older record has the terms alone.
        ("Is GitHub down?", ["GitHub"], False),
        # The project may explain it, or have a place for it.
        ("What is a thread?", [], False),
        ("Where is GitHub down?", [], False),
        ("Is our GitHub down?", [], False),
        # What the project says about itself, and what `it` is if nothing else was spoken of.
        ("Which Python versions are supported?", [], False),
        ("Does it work on Windows?", [], False),
        ("Does it rain in Lisbon?", [], True),
        ("Who maintains Linux?", [], True),
    ],
)
def test_what_only_the_web_could_bring_is_known_from_words_and_from_what_is_not_known(
    query, known, answer
):
    research = {**classified(QueryType.RESEARCH), "confidence": 0.9}
    ctx = context(query=query, known_terms=known, classification=research, tool_list=TOOLS)
    assert only_the_web_could_bring_it(ctx, sure=0.8) is answer
    assert not only_the_web_could_bring_it(ctx, sure=0.95)


@each_row(
    ("query", "share", "answer"),
    [
        ("When is the next solar eclipse?", 0.5, True),
        ("When is the next solar eclipse?", 0.7, False),
        # The place to look is named.
        ("Search the web for the solar eclipse", 1.0, True),
    ],
)
def test_what_a_place_of_the_project_has_the_words_of_is_looked_for_here(query, share, answer):
    research = {**classified(QueryType.RESEARCH), "confidence": 0.9}
    facts = {"words_by_source": {"code": 0.0, "vault": share}}
    ctx = context(query=query, facts=facts, classification=research, tool_list=TOOLS)
    assert only_the_web_could_bring_it(ctx, sure=0.8, here=0.6) is answer


@each_row(
    ("query", "share", "answer"),
    [
        ("dark theme", 1.0, True),
        ("work_mem", 1.0, True),
        ("dark theme", 0.5, False),
        ("good morning", 1.0, False),
        ("theme", 1.0, False),
        ("I like the dark theme", 1.0, False),
    ],
)
def test_words_that_one_place_has_are_a_search_even_if_they_sound_like_small_talk(
    query, share, answer
):
    talk = classified(QueryType.CONVERSATIONAL)
    facts = {"words_by_source": {"threads": share}}
    ctx = context(query=query, facts=facts, classification=talk, history=[], topic_shift=False)
    assert is_a_search_for_what_is_here(ctx) is answer


@each_row(
    ("granted", "withdrawn", "all_withdrawn", "answer"),
    [
        (["search_code"], [], False, False),
        (["search_code"], ["search_code"], False, True),
        (["search_code"], [], True, True),
        (["write_note"], [], False, True),
        (["search_code", "write_note"], [], False, False),
        ([], [], False, True),
    ],
)
def test_nothing_to_search_with(granted, withdrawn, all_withdrawn, answer):
    ctx = context(
        tool_list=TOOLS, granted=granted, withdrawn=withdrawn, tools_withdrawn=all_withdrawn
    )
    assert no_reading_tool_is_on_offer(ctx) is answer
    assert a_reading_tool_is_on_offer(ctx) is not answer


def result(success, run=True):
    return {"name": "t", "success": success, "empty": False, "run": run}


@pytest.mark.parametrize(
    ("results", "answer"),
    [
        ([], False),
        ([result(False)], False),
        ([result(False), result(True), result(False)], True),
        ([result(False), result(False, run=False)], False),
    ],
)
def test_two_calls_have_failed(results, answer):
    assert calls_have_failed(context(tool_results=results), failures=2) is answer


FOUND, EMPTY, FAILED = result(True), {**result(True), "empty": True}, result(False)


NONE, SAME, WORDS, LEAD = "nothing", "same", "words", "lead"


@each_row(
    ("yields", "applied", "answer"),
    [
        ([], 0, False),
        ([NONE] * 2, 0, False),
        ([NONE] * 3, 0, True),
        ([NONE] * 3, 1, False),
        ([NONE] * 5, 1, False),
        ([NONE] * 6, 1, True),
        ([NONE] * 12, 3, True),
        ([*[NONE] * 12, SAME], 3, False),
        ([SAME, *[NONE] * 3], 0, True),
        ([SAME] * 20, 0, False),
    ],
)
def test_three_calls_without_a_result_are_enough_for_a_strategy(yields, applied, answer):
    ctx = context(yields=yields, strategies_tried=applied)
    assert strategies_keep_finding_nothing(ctx, calls=3, share=0.6) is answer


@each_row(
    ("found", "yields", "answer"),
    [
        (["login"], [WORDS, SAME, SAME], False),
        (["login"], [WORDS, SAME, SAME, SAME], True),
        (["login"], [WORDS, SAME, NONE, SAME], True),
        (["login"], [WORDS, SAME, SAME, LEAD, LEAD], False),
        (["login"], [WORDS, *[SAME] * 6, WORDS], False),
        (["login", "auth.py"], [WORDS, *[SAME] * 6], False),
    ],
)
def test_three_finds_beside_the_question_are_enough_for_a_strategy_too(found, yields, answer):
    ctx = context(words_found=found, yields=yields)
    assert strategies_keep_finding_nothing(ctx, calls=3, share=0.6) is answer


@each_row(
    ("found", "yields", "answer"),
    [
        ([], [SAME] * 9, False),
        (["login"], [WORDS, *[SAME] * 9], False),
        (["auth.py"], [WORDS, SAME, SAME], False),
        (["auth.py"], [WORDS, SAME, SAME, SAME], True),
        (["auth.py"], [WORDS, SAME, NONE, SAME], True),
        (["auth.py"], [WORDS, SAME, LEAD, LEAD, SAME], False),
        (["auth.py"], [SAME, SAME, SAME, WORDS], False),
    ],
)
def test_more_calls_add_nothing_once_most_words_are_found(found, yields, answer):
    ctx = context(words_found=found, yields=yields)
    assert more_calls_add_nothing(ctx, calls=3, share=0.6) is answer


@each_row(
    ("words", "at_strategies", "answer"),
    [
        ([], [], False),
        ([], [0], False),
        ([], [0, 0], True),
        (["a"], [0, 0], False),
        (["a"], [0, 1], False),
        (["a"], [0, 1, 1], True),
    ],
)
def test_strategies_brought_nothing_if_no_word_came_since_the_last_but_one(
    words, at_strategies, answer
):
    ctx = context(words_found=words, words_at_strategies=at_strategies)
    assert strategies_brought_nothing(ctx, strategies=2) is answer


@pytest.mark.parametrize(("evidence", "answer"), [([], False), ([PLACE], True)])
def test_something_was_gathered(evidence, answer):
    assert was_gathered(context(evidence=evidence)) is answer


@pytest.mark.parametrize("verdict", Verdict)
def test_the_verdict_is_that_of_the_function_in_place(verdict):
    ctx = context(services=AgentServices(is_sufficient=lambda _: verdict))
    assert is_enough(ctx) is (verdict is Verdict.ENOUGH)
    assert was_not_found_anywhere(ctx) is (verdict is Verdict.NOTHING)


@each_row(
    ("state", "answer"),
    [
        ({}, True),
        ({"words_found": ["GraphQL"]}, False),
        ({"strategies_tried": 0}, False),
        ({"sources_tried": ["vault"]}, False),
        ({"query": "why did we pick it?"}, False),
        ({"evidence": []}, False),
    ],
    ids=["nowhere", "found", "first way", "a source is left", "no name", "nothing found"],
)
def test_a_name_that_no_source_has_ends_the_search(state, answer):
    tools = json.dumps(specs_as_data([tool_spec("search_code"), tool_spec("search_vault")]))
    known = {"query": "Why did we pick GraphQL?", "strategies_tried": 1, "tool_list": tools}
    tried = {"sources_tried": ["code", "vault"], "evidence": [PLACE], "words_found": ["pick"]}
    ctx = context(**{"classification": classified(), **known, **tried, **state})
    assert no_source_knows_the_name(ctx) is answer


TIDES = "where are the tide tables?"
SEARCHED = {"name": "search_code", "run": True}


@each_row(
    ("shares", "text", "searches", "answer"),
    [
        ({"code": 0.5, "vault": 0.0}, "the tide", 3, True),
        ({"code": 0.5, "vault": 0.0}, "the tide tables", 3, True),
        ({"code": 0.5, "vault": 1.0}, "the tide", 3, False),
        ({"code": 0.5, "vault": 0.0}, "something else", 3, False),
        ({"code": 0.5, "vault": 0.0}, "the tide", 2, False),
        # Nothing is known of the index, or nothing in it: the sources may have other words.
        ({}, "the tide tables", 3, False),
        ({"code": 0.0, "vault": 0.0}, "the tide tables", 3, False),
    ],
)
def test_nothing_better_is_here_if_the_best_place_of_the_index_was_found(
    shares, text, searches, answer
):
    ctx = context(
        query=TIDES,
        facts={"words_by_source": shares},
        evidence=[{**PLACE, "text": text}],
        tool_results=[SEARCHED] * searches,
        tool_list=TOOLS,
    )
    assert nothing_better_is_here(ctx, searches=3) is answer
