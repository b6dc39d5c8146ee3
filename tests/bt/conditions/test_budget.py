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
    messages_have_no_room,
    only_the_last_answer_is_left,
    only_the_reserve_is_left,
    request_was_too_long,
    time_is_up,
)
from oracle.errors import ContextTooLong, ModelError, TimedOut
from oracle.services.control.ledger import Ledger, Limits
from tests.asking import context
from tests.tables import each_row

MODEL = {
    "name": "m",
    "context_window": 10_000,
    "longest_output": 100,
    "prices": {"input": 1e6, "output": 1e6},
}
LIMITS = Limits(turns=10, tokens=10_000, money=10_000.0, seconds=100)


def state(now=0.0, withdrawn=False, overdrawn=False, weight=500, last=False, **spent):
    """The provider counts as we estimate, so a margin of 1.1 is all that is added."""
    return context(
        now=now,
        ledger=Ledger(limits=LIMITS, counted=1.0, **spent).to_dict(),
        model=MODEL,
        weight={"count": 1, "tokens": weight, "digest": ""},
        tools_withdrawn=withdrawn,
        is_overdrawn=overdrawn,
        is_last_turn=last,
    )


# 500 of input and 100 of output are 650; the last request is longer by output, results and notes.
NEXT, LAST = 650, 1_320 + 100
FIRST_LIMIT = 10_000 - NEXT - LAST
SHORTEST = 660 + 100


@each_row(
    ("known", "exhausted", "reserve", "warning"),
    [
        ({}, False, False, False),
        ({"turns": 7}, False, False, True),
        ({"turns": 9}, False, True, True),
        ({"turns": 10}, True, True, True),
        ({"turns": 9, "withdrawn": True}, False, False, False),
        ({"turns": 7, "warned": ("turns",)}, False, False, False),
        ({"tokens": FIRST_LIMIT}, False, False, True),
        ({"tokens": FIRST_LIMIT + 1}, False, True, True),
        ({"tokens": 7_000, "weight": 1_100}, False, True, True),
        ({"money": FIRST_LIMIT + 1.0}, False, True, True),
        ({"tokens": 10_000 - SHORTEST}, False, True, True),
        ({"tokens": 10_001 - SHORTEST}, True, True, True),
        ({"money": 10_001.0 - SHORTEST}, True, True, True),
        ({"tokens": 10_000}, True, True, True),
        ({"now": 49.0}, False, False, False),
        ({"now": 50.0}, False, True, False),
        ({"now": 50.0, "longest_turn": 20.0}, False, False, False),
        ({"now": 55.0, "longest_turn": 20.0}, False, True, False),
        ({"now": 50.0, "longest_turn": 20.0, "slowest_token": 0.05}, False, True, False),
        ({"now": 100.0}, True, True, True),
    ],
)
def test_before_a_request(known, exhausted, reserve, warning):
    ctx = state(**known)
    told = (is_exhausted(ctx), only_the_reserve_is_left(ctx), a_warning_is_due(ctx, 0.7))
    assert told == (exhausted, reserve, warning)


@each_row(
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


@pytest.mark.parametrize(
    ("known", "answer"),
    [
        ({}, False),
        ({"overdrawn": True}, True),
        ({"overdrawn": True, "last": True}, False),
    ],
)
def test_a_turn_that_was_stopped_leaves_the_last_answer(known, answer):
    assert only_the_last_answer_is_left(state(**known)) is answer


def test_a_turn_that_took_too_long_leaves_the_last_answer():
    ctx = state()
    ctx.failure = TimedOut("late")
    assert only_the_last_answer_is_left(ctx) is True


@pytest.mark.parametrize(
    ("failure", "answer"), [(None, False), (ModelError("x"), False), (ContextTooLong("x"), True)]
)
def test_a_request_was_too_long_if_the_provider_says_so(failure, answer):
    ctx = state()
    ctx.failure = failure
    assert request_was_too_long(ctx) is answer


@pytest.mark.parametrize(("weight", "answer"), [(8_890, False), (9_001, True)])
def test_messages_and_the_answer_share_the_window(weight, answer):
    """10,000 less 100 for the answer, at 1.1 for each estimated token."""
    assert messages_have_no_room(state(weight=weight)) is answer


@pytest.mark.parametrize(("weight", "answer"), [(4_545, False), (4_546, True)])
def test_the_context_is_large_from_half_of_the_window_on(weight, answer):
    assert context_is_large(state(weight=weight)) is answer


def test_a_warning_is_not_due_again():
    ctx = state(turns=7, tokens=7_000)
    warn(ctx, 0.7)
    assert a_warning_is_due(ctx, 0.7) is False
    assert len(ctx.blackboard.get("messages")) == 2


def test_the_last_turn_is_announced_once():
    ctx = state(turns=9)
    withdraw_tools_for_the_last_turn(ctx)
    assert only_the_reserve_is_left(ctx) is False
    assert ctx.blackboard.get("stop_after_last_turn") == "turn_limit"


@pytest.mark.parametrize(
    ("known", "seconds"),
    [
        ({"longest_turn": 8.0}, 28.0),  # 10 for the answer, 2 for a tool that does not stop
        ({"longest_turn": 8.0, "last": True}, 40.0),
        ({}, -10.0),
    ],
)
def test_only_the_last_turn_may_use_the_time_of_the_last_answer(known, seconds):
    ctx = state(now=60.0, **known)
    note_the_time_left(ctx)
    assert ctx.blackboard.get("seconds_left") == seconds


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
