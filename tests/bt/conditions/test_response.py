"""What a response consists of: truth tables."""

import pytest

from oracle.bt.conditions.response import (
    another_turn_is_left,
    has_calls,
    has_text,
    is_an_answer,
    speaks_for_itself,
)
from oracle.services.control.ledger import Ledger, Limits
from tests.asking import context

CALL = {"id": "1", "name": "search_code", "arguments": {}}
REFUSED = {**CALL, "not_run": "no"}
ACCEPTED = {**CALL, "not_run": None}


def response(text="", malformed=False):
    return {"text": text, "malformed": malformed}


@pytest.mark.parametrize(
    ("text", "calls", "answers"),
    [
        ("", [], (False, False, False)),
        ("so", [], (True, False, True)),
        ("", [CALL], (False, True, False)),
        ("so", [CALL], (True, True, False)),
        ("so", [ACCEPTED], (True, True, False)),
        ("so", [REFUSED], (True, True, True)),
        ("so", [REFUSED, CALL], (True, True, False)),
        ("", [REFUSED], (False, True, False)),
    ],
)
def test_text_calls_and_whether_it_is_an_answer(text, calls, answers):
    ctx = context(response=response(text), calls=calls)
    assert (has_text(ctx), has_calls(ctx), is_an_answer(ctx)) == answers


@pytest.mark.parametrize(
    ("malformed", "times", "answer"),
    [(False, 0, True), (True, 1, False), (True, 2, True), (True, 3, True), (False, 9, True)],
)
def test_a_spoilt_signal_keeps_an_answer_back_once(malformed, times, answer):
    ctx = context(response=response("so", malformed), malformed_responses=times)
    assert speaks_for_itself(ctx) is answer


@pytest.mark.parametrize(("turns", "answer"), [(0, True), (29, True), (30, False), (31, False)])
def test_another_turn_is_left(turns, answer):
    assert another_turn_is_left(context(ledger=Ledger(turns=turns).to_dict())) is answer


def test_no_turn_is_left_where_time_is_up():
    ledger = Ledger(limits=Limits(seconds=10), started_at=5).to_dict()
    assert another_turn_is_left(context(now=14.9, ledger=ledger)) is True
    assert another_turn_is_left(context(now=15.0, ledger=ledger)) is False
