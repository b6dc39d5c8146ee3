"""When the fallback is consulted: a truth table over what stands on the board."""

import pytest

from oracle.bt.conditions.fallback import (
    is_stuck_signal,
    needs_fallback,
    no_signal_for_n_turns,
    signal_confidence_below,
)
from oracle.bt.core.context import TickContext
from oracle.bt.state.blackboard import TypedBlackboard
from tests.tables import each_row

WEAK = {"type": "need_turn", "confidence": 0.29}
FIRM = {"type": "need_turn", "confidence": 0.3}
STUCK = {"type": "stuck", "confidence": 0.9}


def context(**state):
    board = TypedBlackboard(scope_name="test")
    for key, value in state.items():
        board.set(key, value)
    return TickContext(blackboard=board)


@each_row(
    ("state", "needed"),
    [
        ({}, False),
        ({"turns_without_signal": 2}, False),
        ({"turns_without_signal": 3}, True),
        ({"turns_without_signal": 4, "turns_at_last_fallback": 3}, False),
        ({"turns_without_signal": 6, "turns_at_last_fallback": 3}, True),
        ({"last_signal": FIRM}, False),
        ({"last_signal": WEAK}, True),
        ({"last_signal": STUCK}, True),
        ({"last_signal": WEAK, "signal_consulted": True}, False),
        ({"last_signal": STUCK, "signal_consulted": True}, False),
        ({"last_signal": STUCK, "signal_consulted": True, "turns_without_signal": 3}, True),
        ({"last_signal": FIRM, "signal_malformed": True}, True),
        ({"signal_malformed": True}, True),
        ({"last_signal": None, "turns_without_signal": 0}, False),
        ({"last_signal": {"type": "need_turn"}}, False),
    ],
)
def test_needs_fallback(state, needed):
    assert needs_fallback(context(**state)) is needed


@pytest.mark.parametrize(
    "ask", [needs_fallback, no_signal_for_n_turns, signal_confidence_below, is_stuck_signal]
)
def test_without_a_board_nothing_is_known_and_nothing_needed(ask):
    assert ask(TickContext()) is False


@pytest.mark.parametrize(
    ("turns", "n", "answer"), [(2, 3, False), (3, 3, True), (5, 3, True), (1, 1, True)]
)
def test_no_signal_for_n_turns(turns, n, answer):
    assert no_signal_for_n_turns(context(turns_without_signal=turns), n=n) is answer


@pytest.mark.parametrize(("threshold", "answer"), [(0.3, True), (0.2, False)])
def test_signal_confidence_below(threshold, answer):
    assert signal_confidence_below(context(last_signal=WEAK), threshold) is answer
