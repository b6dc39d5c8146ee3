"""The parts for tests keep their own promises."""

import pytest

from oracle.bt.core.definition import TreeDefinition
from oracle.bt.core.runtime import TreeRun
from oracle.bt.state.base import RUNNING, SUCCESS
from oracle.errors import LeafError
from oracle.testing import ManualClock, ScriptedNode


def test_a_scripted_node_complains_when_it_is_ticked_too_often():
    run = TreeRun(TreeDefinition("t", ScriptedNode(SUCCESS, name="n")))
    run.tick()
    with pytest.raises(LeafError, match="more often than the 1 times scripted"):
        run.tick()


def test_a_scripted_node_complains_about_what_was_not_asked_for():
    node = ScriptedNode(RUNNING, SUCCESS, name="n")
    TreeRun(TreeDefinition("t", node)).tick()
    with pytest.raises(AssertionError, match=r"never asked for \['SUCCESS'\]"):
        node.check_played_out()


def test_a_manual_clock_calls_what_is_due_in_order_and_nothing_that_was_cancelled():
    clock, called = ManualClock(10), []
    for moment in (13, 11, 12, 99):
        clock.call_at(moment, lambda moment=moment: called.append(moment))
    clock.call_at(12.5, lambda: called.append("never")).cancel()
    assert clock.pending == [11, 12, 13, 99]
    clock.advance(3)
    assert (called, clock.now(), clock.pending) == ([11, 12, 13], 13, [99])
