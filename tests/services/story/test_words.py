"""Codes in words, for people."""

import pytest

from oracle.cli.terminal.outcome import EXIT_CODES
from oracle.services.ans.event import Event
from oracle.services.ans.event_types import EVENT_TYPES
from oracle.services.storage.runs import WITHOUT_END
from oracle.services.story.event_words import event_words, node_of
from oracle.services.story.words import (
    STOP_REASONS,
    call_words,
    decision_words,
    result_words,
    signal_words,
)


def test_each_stop_reason_has_words():
    assert STOP_REASONS.keys() == {*EXIT_CODES, *WITHOUT_END}
    assert not any("_" in words for words in STOP_REASONS.values())


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({}, "f()"),
        ({"query": "login", "limit": 3}, 'f("login", limit=3)'),
        ({"start": 1, "path": "a.py"}, 'f(start=1, path="a.py")'),
        ({"text": "x" * 300}, f'f("{"x" * 199}… (302 characters))'),
        ("not json", 'f("not json")'),
    ],
)
def test_a_call_reads_like_code(arguments, words):
    assert call_words("f", arguments) == words


def test_a_result_is_its_first_line():
    assert result_words("\n\nauth.py: lines 1 to 3.\n\n1 def", places=1) == "auth.py: lines 1 to 3."
    assert result_words("", places=2) == "2 places"
    assert result_words(" ", places=0) == "nothing"


def test_a_signal_that_lacks_a_field_is_named_by_its_type():
    assert signal_words({"type": "stuck"}) == "stuck"
    assert signal_words({"type": "stuck", "blocker": "no key"}) == "is stuck: no key"
    assert signal_words({"type": "own_type"}) == "own type"


def test_a_verdict_of_ones_own_tree_is_shown_too():
    assert decision_words("sent_home", "too late") == "sent home: too late"


PAYLOADS = {
    "run.started": {"question": "why?", "tree": "t", "model": "m", "resumed": True},
    "run.ended": {"stop_reason": "token_limit", "turns": 1, "usage": {}},
    "signal.received": {"type": "stuck", "fields": {"blocker": "b"}, "confidence": 0.5}
    | {"raw_xml": "", "at": 0, "timestamp": "", "problems": []},
    "tool.called": {"call_id": "1", "tool": "f", "arguments": {"a": "b"}},
    "budget.warning": {"budget": "turns", "used": 21, "limit": 30},
}
WORDS = {
    "run.started": "resumed: why? (model m, tree t)",
    "run.ended": "ended: reached the token limit",
    "signal.received": "the model is stuck: b (50% sure)",
    "tool.called": 'calls f("b")',
    "budget.warning": "used 21 of 30 turns",
}


@pytest.mark.parametrize("type_", PAYLOADS)
def test_an_event_is_a_sentence(type_):
    event = Event(type=type_, source="question/turns", payload=PAYLOADS[type_])
    assert (event_words(event), node_of(event)) == (WORDS[type_], "question/turns")


@pytest.mark.parametrize("type_", [*EVENT_TYPES, "of.another.version"])
@pytest.mark.parametrize("payload", [{}, {"usage": 3, "n": 1}, {"arguments": None, "fields": []}])
def test_an_event_with_other_facts_is_shown_by_them(type_, payload):
    words = event_words(Event(type=type_, source="test", payload=payload))
    assert words.startswith(type_)
    assert all(key in words for key in payload)
