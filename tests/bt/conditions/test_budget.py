"""What the ledger allows: truth tables."""

import pytest

from oracle.bt.actions.budget import warn, withdraw_tools_for_the_last_turn
from oracle.bt.actions.calls import note_the_time_left
from oracle.bt.conditions.budget import (
    a_warning_is_due,
    allows_another_turn,
    context_is_large,
    is_exhausted,
    is_within_limits,
    only_the_reserve_is_left,
    time_is_up,
)
from oracle.errors import TimedOut
from oracle.services.control.ledger import Ledger, Limits
from tests.asking import context

MODEL = {
    "name": "m",
    "context_window": 1000,
    "longest_output": 100,
    "prices": {"input": 1e6, "output": 1e6},
}
LIMITS = Limits(turns=10, tokens=1000, money=1000.0, seconds=100)


def state(now=0.0, withdrawn=False, overdrawn=False, weight=50, **spent):
    return context(
        now=now,
        ledger=Ledger(limits=LIMITS, **spent).to_dict(),
        model=MODEL,
        weight={"count": 1, "tokens": weight, "digest": ""},
        tools_withdrawn=withdrawn,
        is_overdrawn=overdrawn,
    )


@pytest.mark.parametrize(
    ("known", "exhausted", "reserve", "warning"),
    [
        ({}, False, False, False),
        ({"turns": 7}, False, False, True),
        ({"turns": 9}, False, True, True),
        ({"turns": 10}, True, True, True),
        ({"turns": 9, "withdrawn": True}, False, False, False),
        ({"turns": 7, "warned": ("turns",)}, False, False, False),
        ({"tokens": 849}, False, False, True),
        ({"tokens": 850}, False, True, True),
        ({"tokens": 700, "weight": 200}, False, True, True),
        ({"money": 850.0}, False, True, True),
        ({"tokens": 1000}, True, True, True),
        ({"now": 69.0}, False, False, False),
        ({"now": 69.0, "longest_turn": 31.0}, False, True, False),
        ({"now": 100.0}, True, True, True),
    ],
)
def test_before_a_request(known, exhausted, reserve, warning):
    ctx = state(**known)
    told = (is_exhausted(ctx), only_the_reserve_is_left(ctx), a_warning_is_due(ctx, 0.7))
    assert told == (exhausted, reserve, warning)


@pytest.mark.parametrize(
    ("known", "answer"),
    [
        ({}, True),
        ({"now": 99.9}, True),
        ({"now": 100.0}, False),
        ({"overdrawn": True}, False),
        ({"turns": 10}, True),
    ],
)
def test_while_the_model_streams_only_time_and_an_overdraft_stop_it(known, answer):
    assert is_within_limits(state(**known)) is answer


@pytest.mark.parametrize(("weight", "answer"), [(500, False), (501, True)])
def test_the_context_is_large_from_half_of_the_window_on(weight, answer):
    assert context_is_large(state(weight=weight)) is answer


def test_a_warning_is_not_due_again():
    ctx = state(turns=7, tokens=700)
    warn(ctx, 0.7)
    assert a_warning_is_due(ctx, 0.7) is False
    assert len(ctx.blackboard.get("messages")) == 2


def test_the_last_turn_is_announced_once():
    ctx = state(turns=9)
    withdraw_tools_for_the_last_turn(ctx)
    assert only_the_reserve_is_left(ctx) is False
    assert ctx.blackboard.get("stop_after_last_turn") == "turn_limit"


def test_tools_get_the_time_that_the_model_has_left():
    ctx = state(now=60.0)
    note_the_time_left(ctx)
    assert ctx.blackboard.get("seconds_left") == 40.0


@pytest.mark.parametrize(("turns", "answer"), [(0, True), (9, True), (10, False), (11, False)])
def test_another_turn_is_allowed(turns, answer):
    assert allows_another_turn(state(turns=turns)) is answer


@pytest.mark.parametrize(
    ("now", "failure", "answer"),
    [(0.0, None, False), (100.0, None, True), (0.0, TimedOut("late"), True)],
)
def test_time_is_up_at_the_limit_and_after_a_timeout(now, failure, answer):
    ctx = state(now=now)
    ctx.failure = failure
    assert time_is_up(ctx) is answer


@pytest.mark.parametrize(("now", "answer"), [(99.9, True), (100.0, False)])
def test_no_turn_is_allowed_once_time_is_up(now, answer):
    assert allows_another_turn(state(now=now)) is answer
