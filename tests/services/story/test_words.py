"""Codes in words, for people."""

import re
from importlib.resources import files
from pathlib import Path

import pytest

from oracle.cli.terminal.outcome import EXIT_CODES
from oracle.services.ans.event import Event
from oracle.services.ans.event_types import EVENT_TYPES
from oracle.services.comparison.choosing import SHADOW_LIMIT
from oracle.services.fallback_classifier import FallbackAction
from oracle.services.storage.runs import WITHOUT_END
from oracle.services.story.event_words import event_words, node_of
from oracle.services.story.words import (
    STOP_REASONS,
    VERDICTS,
    call_words,
    decision_words,
    result_words,
    signal_words,
)
from tests.tables import each_row


def test_each_stop_reason_has_words():
    assert STOP_REASONS.keys() == {*EXIT_CODES, *WITHOUT_END, SHADOW_LIMIT}
    assert not any("_" in words for words in STOP_REASONS.values())


@each_row(
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


def verdicts():
    """Those of the tree files and of the leaves."""
    folder = Path(str(files("oracle") / "bt"))
    texts = [file.read_text("utf-8") for file in sorted(folder.rglob("*.lua"))]
    files_ = [*folder.glob("*.py"), *(folder / "actions").glob("*.py")]
    texts += [file.read_text("utf-8") for file in sorted(files_)]
    found = re.findall(r'verdict = "(\w+)"|say_verdict\(ctx, "(\w+)"', "\n".join(texts))
    return {lua or leaf for lua, leaf in found}


def test_each_decision_has_words_and_each_of_the_words_a_decision():
    fallbacks = {f"fallback_{action.value}" for action in FallbackAction}
    assert VERDICTS.keys() == verdicts() | fallbacks


@pytest.mark.parametrize(
    ("action", "words"),
    [
        ("continue", "let it go on"),
        ("force_response", "asked for the answer"),
        ("retry_with_hint", "gave a hint"),
        ("escalate", "withdrew the tools"),
    ],
)
def test_a_decision_of_the_fallback_says_what_it_does(action, words):
    assert words in decision_words(f"fallback_{action}", "why")


def test_words_for_the_end_are_told_apart_in_a_narrow_column():
    assert len({words[:13] for words in STOP_REASONS.values()}) == len(STOP_REASONS)


def test_a_verdict_of_ones_own_tree_is_shown_too():
    assert decision_words("sent_home", "too late") == "sent home: too late"


PAYLOADS = {
    "run.started": {"question": "why?", "tree": "t", "model": "m", "resumed": True},
    "run.ended": {"stop_reason": "token_limit", "turns": 1, "usage": {}, "missing": ["b", "c"]},
    "signal.received": {"type": "stuck", "fields": {"blocker": "b"}, "confidence": 0.5}
    | {"raw_xml": "", "at": 0, "timestamp": "", "problems": []},
    "turn.started": {"tools": []},
    "decision.made": {"signal": None, "verdict": "not_believed", "reason": "nothing was gathered"},
    "tool.called": {"call_id": "1", "tool": "f", "arguments": {"a": "b"}},
    "budget.warning": {"budget": "turns", "used": 21, "limit": 30},
}
WORDS = {
    "run.started": "resumed: why? (model m, tree t)",
    "run.ended": "ended: token limit; missing: b; c",
    "signal.received": "the model is stuck: b (50% sure)",
    "turn.started": "asked the model, without tools",
    "decision.made": "the tree did not take it as the answer: nothing was gathered",
    "tool.called": 'calls f("b")',
    "budget.warning": "used 21 of 30 turns",
}


@each_row("type_", PAYLOADS)
def test_an_event_is_a_sentence(type_):
    event = Event(type=type_, source="question/turns", payload=PAYLOADS[type_])
    assert (event_words(event), node_of(event)) == (WORDS[type_], "question/turns")


@each_row("type_", [*EVENT_TYPES, "of.another.version"])
@each_row("payload", [{}, {"usage": 3, "n": 1}, {"arguments": None, "fields": []}])
def test_an_event_with_other_facts_is_shown_by_them(type_, payload):
    words = event_words(Event(type=type_, source="test", payload=payload))
    assert words.startswith(type_)
    assert all(key in words for key in payload)
