"""What the fallback's decision does to the next turn."""

from pathlib import Path

import pytest

import oracle.bt
from oracle.bt.actions.fallback_actions import (
    apply_heuristic_classification,
    inject_fallback_hint,
    trigger_fallback,
)
from oracle.bt.conditions.fallback import needs_fallback
from oracle.bt.core.context import TickContext
from oracle.bt.core.runtime import TreeRun
from oracle.bt.lua.library import TreeLibrary
from oracle.bt.state.base import FAILURE, SUCCESS
from oracle.bt.state.blackboard import TypedBlackboard
from oracle.bt.wrappers.recipe import import_our_leaves
from oracle.services.ans.bus import event_bus_replaced
from oracle.testing import RecordingBus

TREES = Path(oracle.bt.__file__).parent / "trees"
ALONE = """
BT.tree("alone", {
  root = BT.sequence("alone", {
    BT.subtree("fallback"),
    BT.deferred("change strategy", BT.expect("asked for", "true")),
    BT.deferred("search first", BT.expect("asked for", "true")),
    BT.expect("done", "true"),
  }),
})
"""


def context(**state):
    board = TypedBlackboard(scope_name="test")
    for key, value in state.items():
        board.set(key, value)
    return TickContext(blackboard=board)


def decided(action, hint=None):
    return context(fallback_classification={"action": action, "hint": hint})


def messages(ctx):
    return [message["content"] for message in ctx.blackboard.get("messages") or []]


@pytest.mark.parametrize("query", ["why?", {"question": "why?"}])
def test_a_consultation_is_stored_told_and_not_repeated(query):
    signal = {"type": "stuck", "confidence": 0.2}
    ctx = context(query=query, last_signal=signal, turns_without_signal=0, signal_malformed=True)
    with event_bus_replaced(RecordingBus()) as bus:
        assert trigger_fallback(ctx) is SUCCESS
    assert ctx.blackboard.get("fallback_classification")["action"] == "retry_with_hint"
    assert bus.events[0].payload["last_signal_type"] == "stuck"
    assert needs_fallback(ctx) is False


@pytest.mark.parametrize(
    ("silent_turns", "told"), [(2, 0), (3, 1)], ids=["not yet", "after three silent turns"]
)
def test_the_tree_consults_and_carries_out_in_one_tick(silent_turns, told):
    import_our_leaves()
    sources = {file.name: file.read_text() for file in TREES.glob("*.lua")}
    run = TreeRun(TreeLibrary(sources={**sources, "alone.lua": ALONE})["alone"])
    run.context.blackboard.set("query", "why?")
    run.context.blackboard.set("turns_without_signal", silent_turns)
    assert run.tick() is SUCCESS
    assert len(messages(run.context)) == told
    assert bool(run.context.blackboard.get("tools_withdrawn")) is bool(told)


def test_silence_is_heard_again_after_three_more_turns():
    ctx = context(query="why?", turns_without_signal=3)
    trigger_fallback(ctx)
    ctx.blackboard.set("turns_without_signal", 5)
    assert needs_fallback(ctx) is False
    ctx.blackboard.set("turns_without_signal", 6)
    assert needs_fallback(ctx) is True


def test_to_continue_changes_nothing_but_may_say_something():
    ctx = decided("continue", "say how you stand")
    apply_heuristic_classification(ctx)
    assert messages(ctx) == ["say how you stand"]
    assert ctx.blackboard.get("tools_withdrawn") is None


def test_a_forced_response_is_asked_for_and_gets_no_tools():
    ctx = decided("force_response", "Answer directly.")
    assert apply_heuristic_classification(ctx) is SUCCESS
    (message,) = messages(ctx)
    assert message.startswith("Answer directly.")
    assert "final response" in message
    assert ctx.blackboard.get("tools_withdrawn") is True


def test_a_retry_gives_the_hint():
    ctx = decided("retry_with_hint", "Try other words.")
    apply_heuristic_classification(ctx)
    assert messages(ctx) == ["Try other words."]


def test_an_escalation_is_told_to_the_user_and_asks_for_an_honest_answer():
    ctx = decided("escalate")
    apply_heuristic_classification(ctx)
    (chunk,) = ctx.blackboard.get("_pending_chunks")
    assert (chunk["type"], chunk["severity"]) == ("system", "warning")
    assert "honestly" in messages(ctx)[0]
    assert ctx.blackboard.get("tools_withdrawn") is True


def test_a_decision_is_carried_out_once():
    ctx = decided("retry_with_hint", "Try other words.")
    apply_heuristic_classification(ctx)
    apply_heuristic_classification(ctx)
    assert len(messages(ctx)) == 1
    assert ctx.blackboard.get("fallback_classification") is None


def test_earlier_messages_are_kept_and_not_changed_in_place():
    before = [{"role": "user", "content": "why?"}]
    ctx = context(messages=before, fallback_classification={"action": "escalate"})
    apply_heuristic_classification(ctx)
    assert len(before) == 1
    assert len(ctx.blackboard.get("messages")) == 2


@pytest.mark.parametrize(
    ("hint", "told"), [("Look at the tests.", ["Look at the tests."]), (None, [])]
)
def test_the_hint_can_be_told_alone(hint, told):
    ctx = decided("escalate", hint)
    assert inject_fallback_hint(ctx) is SUCCESS
    assert messages(ctx) == told


@pytest.mark.parametrize(
    "act", [trigger_fallback, apply_heuristic_classification, inject_fallback_hint]
)
def test_without_a_board_nothing_can_be_done(act):
    assert act(TickContext()) is FAILURE
