"""An event in words."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, Final

from oracle.services.ans.event import Event
from oracle.services.story.words import (
    OUTCOMES,
    budget_words,
    call_words,
    confidence_words,
    decision_words,
    signal_words,
    stop_words,
)

Payload = Mapping[str, Any]


def event_words(event: Event) -> str:
    """What happened. An event of another version, or without the usual facts, is shown by these."""
    try:
        return _WORDS[event.type](event.payload)
    except (KeyError, TypeError, ValueError, AttributeError):
        facts = ", ".join(
            f"{key} {json.dumps(value, ensure_ascii=False)}" for key, value in event.payload.items()
        )
        return f"{event.type}: {facts}" if facts else event.type


def node_of(event: Event) -> str:
    """The path of the node that reported it; empty for an event that no node reported."""
    if event.type == "node.failed":
        return str(event.payload.get("node_path", ""))
    return event.source if "/" in event.source else ""


def _started(payload: Payload) -> str:
    what = "resumed" if payload["resumed"] else "asked"
    return f"{what}: {payload['question']} (model {payload['model']}, tree {payload['tree']})"


def _ended(payload: Payload) -> str:
    used = _used(payload["usage"])
    missing = "; ".join(map(str, payload.get("missing") or ()))
    return (
        f"ended: {stop_words(payload['stop_reason'])}{f' after {used}' if used else ''}"
        f"{f'; missing: {missing}' if missing else ''}"
    )


def _used(usage: Payload) -> str:
    if not usage:
        return ""
    parts = [_counted(usage["turns"], "turn")]
    parts += [f"{usage['tokens']:,} tokens"] if usage["tokens"] else []
    parts += [f"cost {usage['money']:.4g}"] if usage["money"] else []
    return f"{', '.join(parts)}, {usage['seconds']:.1f} s"


def _counted(number: int, noun: str) -> str:
    return f"1 {noun}" if number == 1 else f"{number} {noun}s"


def _turn_started(payload: Payload) -> str:
    tools = ", ".join(payload["tools"])
    return f"asked the model, with the tools {tools}" if tools else "asked the model, without tools"


def _turn_ended(payload: Payload) -> str:
    used = _used(payload["usage"])
    return f"turn ended: {OUTCOMES[payload['outcome']]}{f' (so far {used})' if used else ''}"


def _signal(payload: Payload) -> str:
    words = signal_words({"type": payload["type"], **payload["fields"]})
    problems = f"; {'; '.join(payload['problems'])}" if payload["problems"] else ""
    return f"the model {words} ({confidence_words(payload['confidence'])}{problems})"


def _returned(payload: Payload) -> str:
    if not payload["success"]:
        return f"{payload['tool']} failed: {payload['error']}"
    seconds = payload["seconds"]
    return f"{payload['tool']} returned" + (f" after {seconds:.1f} s" if seconds >= 0.05 else "")


def _fallback(payload: Payload) -> str:
    decision = decision_words(f"fallback_{payload['classification_action']}", payload["reason"])
    return f"the tree {decision} ({confidence_words(payload['classification_confidence'])})"


def _loop(payload: Payload) -> str:
    return f"repeats itself {payload['times']} times ({payload['kind']}): {payload['what']}"


_WORDS: Final[Mapping[str, Callable[[Payload], str]]] = {
    "run.started": _started,
    "run.ended": _ended,
    "turn.started": _turn_started,
    "turn.ended": _turn_ended,
    "signal.received": _signal,
    "signal.ignored": lambda p: f"{_signal(p)}; ignored: only the first signal counts",
    "signal.malformed": lambda p: f"a signal cannot be read: {p['problem']}",
    "signal.missing": lambda p: (
        f"no signal ({_counted(p['turns_without_signal'], 'turn')} in a row)"
    ),
    "tool.called": lambda p: f"calls {call_words(p['tool'], p['arguments'])}",
    "tool.returned": _returned,
    "grant.given": lambda p: f"{p['by']} granted {p['tool']}: {p['reason']}",
    "grant.refused": lambda p: f"{p['by']} refused {p['tool']}: {p['reason']}",
    "capability.missing": lambda p: f"no tool can do this: {p['capability']} ({p['reason']})",
    "budget.warning": lambda p: budget_words(p["budget"], p["used"], p["limit"]),
    "budget.exhausted": lambda p: (
        f"{budget_words(p['budget'], p['used'], p['limit'])}; the rest is kept for the answer"
    ),
    "loop.detected": _loop,
    "decision.made": lambda p: f"the tree {decision_words(p['verdict'], p['reason'])}",
    "fallback.triggered": _fallback,
    "bert.unavailable": lambda p: f"the heuristic decides ({p['use']}): {p['problem']}",
    "node.failed": lambda p: f"a node failed: {p['error']}",
    "journal.degraded": lambda p: f"the record cannot be written: {p['problem']}",
    "events.dropped": lambda p: f"{_counted(p['count'], 'event')} could not be stored before this",
}
