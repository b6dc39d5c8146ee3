"""Is the run going in circles: truth tables."""

import pytest

from oracle.bt.conditions.loop_detection import (
    need_turn_repeats_its_reason,
    nothing_new_comes,
    refused_call_repeats,
    same_call_repeats,
    text_repeats,
)
from oracle.services.control.repetition import name_of_call
from tests.asking import context
from tests.tables import each_row

TURN = {"type": "need_turn", "reason": "r", "confidence": 0.9}
STUCK = {"type": "stuck", "confidence": 0.9}
RUN = {"id": "1", "name": "t", "arguments": {}, "not_run": None}
NOT_RUN = {**RUN, "not_run": "no"}
UNSCREENED = {"id": "1", "name": "t", "arguments": {}}
NAME = name_of_call("t", {})
AGAIN = [[NAME, "1"], [NAME, "1"]]


@each_row(
    ("times", "signal", "answer"),
    [
        (0, TURN, False),
        (2, TURN, False),
        (3, TURN, True),
        (4, TURN, False),
        (6, TURN, True),
        (3, STUCK, False),
        (3, None, False),
    ],
)
def test_the_same_reason_three_times(times, signal, answer):
    ctx = context(consecutive_same_reason=times, signal=signal)
    assert need_turn_repeats_its_reason(ctx, times=3) is answer


@each_row(
    ("calls", "made", "answer"),
    [
        ([RUN], AGAIN, True),
        ([RUN], [[NAME, "1"], [NAME, "2"]], False),
        ([RUN], [[NAME, "1"]], False),
        ([NOT_RUN], AGAIN, False),
        ([UNSCREENED], AGAIN, False),
        ([], AGAIN, False),
        ([RUN, RUN], [*AGAIN, ["u:1", "1"]], True),
        ([RUN, NOT_RUN], [*AGAIN, ["u:1", "1"]], False),
    ],
)
def test_the_same_call_with_the_same_result(calls, made, answer):
    ctx = context(calls=calls, made=made)
    assert same_call_repeats(ctx) is answer


@pytest.mark.parametrize(
    ("calls", "refused", "answer"),
    [([NOT_RUN], [NAME], True), ([NOT_RUN], [], False), ([], [NAME], False)],
)
def test_a_call_that_was_refused_before(calls, refused, answer):
    ctx = context(calls=calls, refused=refused)
    assert refused_call_repeats(ctx) is answer


@pytest.mark.parametrize("runaway", [True, False])
def test_a_text_in_circles(runaway):
    assert text_repeats(context(is_runaway=runaway)) is runaway


@each_row(
    ("stall", "idle", "answer"),
    [(0, 0, False), (8, 1, False), (9, 0, True), (10, 0, False), (10, 1, True), (12, 0, True)],
)
def test_nothing_new_for_long(stall, idle, answer):
    assert nothing_new_comes(context(stall=stall, idle_turns=idle), stall=9, every=3) is answer
