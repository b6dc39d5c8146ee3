"""Evidence, and what calls have come to: truth tables."""

import json
from dataclasses import asdict

import pytest

from oracle.bt.conditions.evidence import (
    a_reading_tool_is_on_offer,
    backs_the_claim,
    calls_have_failed,
    is_enough,
    is_missing,
    no_reading_tool_is_on_offer,
    strategies_keep_finding_nothing,
    was_not_found_anywhere,
)
from oracle.models.query_classification import QueryClassification, QueryType
from oracle.services.agent_services import AgentServices
from oracle.services.control.grants import specs_as_data
from oracle.services.control.sufficiency import Verdict
from oracle.testing.models import tool_spec
from tests.asking import context

PLACE = {"where": "a.py:1", "text": "x", "turn": 1, "name": "n", "call": "c", "kind": "code"}
TOOLS = json.dumps(specs_as_data([tool_spec("search_code"), tool_spec("write_note")]))


def classified(query_type=QueryType.CODE):
    found = asdict(QueryClassification.of_type(query_type))
    return {**found, "keywords_matched": []}


TALK = classified(QueryType.CONVERSATIONAL)


@pytest.mark.parametrize(
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


@pytest.mark.parametrize(
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


@pytest.mark.parametrize(
    ("results", "applied", "answer"),
    [
        ([], 0, False),
        ([EMPTY] * 2, 0, False),
        ([EMPTY] * 3, 0, True),
        ([EMPTY, FAILED, EMPTY], 0, True),
        ([EMPTY, result(False, run=False), EMPTY], 0, False),
        ([EMPTY] * 3, 1, False),
        ([EMPTY] * 5, 1, False),
        ([EMPTY] * 6, 1, True),
        ([EMPTY] * 7, 1, True),
        ([EMPTY] * 12, 3, True),
        ([*[EMPTY] * 12, FOUND], 3, False),
        ([FOUND, *[EMPTY] * 3], 0, True),
    ],
)
def test_three_calls_without_a_result_are_enough_for_a_strategy(results, applied, answer):
    ctx = context(tool_results=results, strategies_tried=applied)
    assert strategies_keep_finding_nothing(ctx, calls=3) is answer


@pytest.mark.parametrize("verdict", Verdict)
def test_the_verdict_is_that_of_the_function_in_place(verdict):
    ctx = context(services=AgentServices(is_sufficient=lambda _: verdict))
    assert is_enough(ctx) is (verdict is Verdict.ENOUGH)
    assert was_not_found_anywhere(ctx) is (verdict is Verdict.NOTHING)
