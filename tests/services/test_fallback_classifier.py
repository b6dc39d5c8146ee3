"""The decisions of the fallback, from the state of a run."""

import logging

import pytest

from oracle.services.ans.bus import event_bus_replaced
from oracle.services.fallback_classifier import (
    FallbackAction,
    heuristic_classify,
    log_fallback_trigger,
)
from oracle.testing import RecordingBus
from tests.tables import each_row

GO_ON, ANSWER, RETRY, ESCALATE = (
    FallbackAction.CONTINUE,
    FallbackAction.FORCE_RESPONSE,
    FallbackAction.RETRY_WITH_HINT,
    FallbackAction.ESCALATE,
)
LONG_QUESTION = "please " * 25
WORKED = {"name": "search_code", "success": True}
FAILED = {"name": "read_file", "success": False}


@each_row(
    ("query", "content", "silent_turns", "results", "action"),
    [
        ("q", "", 1, [FAILED] * 3, ESCALATE),
        ("q", "x" * 900, 3, [FAILED] * 3, ESCALATE),
        ("q", "", 1, [FAILED] * 3 + [WORKED], ESCALATE),
        ("q", "", 1, [FAILED] * 2 + [WORKED], GO_ON),
        ("q", "", 0, [FAILED] * 2, GO_ON),
        ("q", "x" * 501, 2, [WORKED], ANSWER),
        ("q", "x" * 500, 2, [WORKED], GO_ON),
        ("q", "x" * 501, 1, [WORKED], GO_ON),
        ("why?", "", 0, [], ANSWER),
        (LONG_QUESTION, "", 0, [], GO_ON),
        (LONG_QUESTION, "", 3, [], RETRY),
        ("q", "", 3, [FAILED], RETRY),
        ("q", "", 3, [WORKED], GO_ON),
        ("q", "", 3, [FAILED, WORKED], GO_ON),
        ("q", "short", 9, [FAILED, FAILED], RETRY),
        ("", "", 0, [{}], GO_ON),
    ],
)
def test_decisions(query, content, silent_turns, results, action):
    assert heuristic_classify(query, content, silent_turns, results).action is action


def test_a_silent_turn_with_results_is_progress_and_only_asks_for_a_signal():
    decision = heuristic_classify("q", "", 3, [WORKED])
    assert "signal" in decision.hint
    assert "fail" not in decision.hint.lower()


def test_a_retry_names_each_tool_that_failed_once():
    decision = heuristic_classify("q", "", 3, [FAILED, {"name": "web_search"}, FAILED][:2])
    assert "read_file, web_search" in decision.hint


@pytest.mark.parametrize("confidence", [0.0, 0.29])
def test_a_weak_signal_makes_the_decision_less_sure_but_not_another(confidence):
    sure = heuristic_classify("why?", "", 1, [])
    doubted = heuristic_classify("why?", "", 1, [], confidence)
    assert doubted.action is sure.action
    assert 0 <= doubted.confidence < sure.confidence


@pytest.mark.parametrize("confidence", [None, 0.3, 0.9])
def test_a_firm_signal_changes_nothing(confidence):
    assert heuristic_classify("q", "", 0, [WORKED], confidence).confidence == 0.5


@pytest.mark.parametrize(("action", "severity"), [("continue", "info"), ("escalate", "warning")])
def test_each_decision_is_an_event_and_prints_nothing(caplog, action, severity):
    with event_bus_replaced(RecordingBus()) as bus, caplog.at_level(logging.INFO):
        log_fallback_trigger("why", 3, "stuck", 0.2, action, 0.6)
    (event,) = bus.events
    assert (event.type, event.severity) == ("fallback.triggered", severity)
    assert event.payload["classification_action"] == action
    assert caplog.records == []


def test_calls_that_are_about_to_run_are_not_counted_in_words():
    pending = {"name": "search", "success": True, "empty": True, "pending": True}
    decision = heuristic_classify("why?", "", 1, [FAILED] * 3 + [pending])
    assert decision.reason == "high failure rate: 3 of 3 tool calls"
