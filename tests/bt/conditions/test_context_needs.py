"""Evidence, and what calls have come to: truth tables."""

import json
from dataclasses import asdict

import pytest

from oracle.bt.conditions.context_needs import (
    calls_keep_failing,
    enough_is_there,
    has_evidence,
    has_nothing_to_search_with,
    nothing_comes_of_this_strategy,
    nothing_was_found,
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


@pytest.mark.parametrize(
    ("state", "answer"),
    [
        ({}, False),
        ({"evidence": [PLACE]}, True),
        ({"earlier_evidence": 1}, True),
        ({"earlier_evidence": 1, "topic_shift": True}, False),
        ({"attachment": "text"}, True),
        ({"classification": classified(QueryType.CONVERSATIONAL)}, True),
        ({"sources_tried": ["code"], "new_by_call": [0]}, False),
    ],
)
def test_a_claim_to_know_enough_is_believed_with_evidence(state, answer):
    assert has_evidence(context(**{"classification": classified(), **state})) is answer


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
    assert has_nothing_to_search_with(ctx) is answer


def result(success, run=True):
    return {"name": "t", "success": success, "empty": False, "run": run}


@pytest.mark.parametrize(
    ("results", "advised", "answer"),
    [
        ([], False, False),
        ([result(False)], False, False),
        ([result(False), result(True), result(False)], False, True),
        ([result(False), result(False)], True, False),
        ([result(False), result(False, run=False)], False, False),
    ],
)
def test_two_failed_calls_are_worth_advice_once(results, advised, answer):
    assert calls_keep_failing(context(tool_results=results, was_advised=advised)) is answer


@pytest.mark.parametrize(
    ("calls", "applied", "evidence", "answer"),
    [
        (0, 0, [], False),
        (2, 0, [], False),
        (3, 0, [], True),
        (3, 1, [], False),
        (5, 1, [], False),
        (6, 1, [], True),
        (7, 1, [], True),
        (12, 3, [], True),
        (12, 3, [PLACE], False),
    ],
)
def test_three_calls_without_a_result_are_enough_for_a_strategy(calls, applied, evidence, answer):
    ctx = context(new_by_call=[0] * calls, strategy_applied=applied, evidence=evidence)
    assert nothing_comes_of_this_strategy(ctx) is answer


@pytest.mark.parametrize("verdict", Verdict)
def test_the_verdict_is_that_of_the_function_in_place(verdict):
    ctx = context(services=AgentServices(is_sufficient=lambda _: verdict))
    assert enough_is_there(ctx) is (verdict is Verdict.ENOUGH)
    assert nothing_was_found(ctx) is (verdict is Verdict.NOTHING)
