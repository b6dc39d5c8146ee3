"""Every type of event: when it is emitted, and what its payload tells.

This table is the only one. `docs/events.md` repeats it and a test compares them; the bus reports an
event that does not keep to it; `oracle audit --type` knows the names from it.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import TYPE_CHECKING

from oracle.errors import InputError, did_you_mean
from oracle.services.ans.event import NOT_JSON

if TYPE_CHECKING:
    from oracle.services.ans.event import Event

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class EventType:
    when: str
    payload: Mapping[str, str]
    """Each field and what it tells. A field that has nothing to tell is null, never absent."""


CATALOGUE: Mapping[str, EventType] = {
    "run.started": EventType(
        when="a run begins, or is resumed",
        payload={
            "question": "what was asked",
            "tree": "the tree's name",
            "model": "the model's name",
            "resumed": "whether it goes on from a record",
        },
    ),
    "run.ended": EventType(
        when="a run ends, in whatever way",
        payload={
            "stop_reason": "why, as a word for machines",
            "turns": "how many it took",
            "usage": "what it used of each budget",
        },
    ),
    "turn.started": EventType(
        when="a request goes to the model", payload={"tools": "the names of the tools offered"}
    ),
    "turn.ended": EventType(
        when="the model's response is complete, or was cut off",
        payload={
            "outcome": "what became of the response",
            "usage": "what the turn used of each budget",
        },
    ),
    "signal.received": EventType(
        when="a response carries a valid signal",
        payload={
            "type": "the signal's type",
            "confidence": "0 to 1",
            "fields": "the fields of that type",
        },
    ),
    "signal.malformed": EventType(
        when="a response carries a signal that does not count",
        payload={"problem": "what is wrong with it", "raw_xml": "the signal as it was written"},
    ),
    "signal.missing": EventType(
        when="a response carries no signal at all",
        payload={"turns_without_signal": "how many in a row"},
    ),
    "tool.called": EventType(
        when="a tool is about to run",
        payload={
            "call_id": "names the call",
            "tool": "the tool's name",
            "arguments": "what it was given",
        },
    ),
    "tool.returned": EventType(
        when="a tool has run, or was not run",
        payload={
            "call_id": "names the call",
            "tool": "the tool's name",
            "success": "whether it brought a result",
            "seconds": "how long it took",
            "error": "why it failed, or null",
        },
    ),
    "grant.given": EventType(
        when="a tool becomes available in mid-run",
        payload={
            "tool": "the tool's name",
            "reason": "why",
            "by": "who decided: the tree, or a person",
        },
    ),
    "grant.refused": EventType(
        when="a tool that was asked for stays out of reach",
        payload={
            "tool": "the tool's name",
            "reason": "why",
            "by": "who decided: the tree, or a person",
        },
    ),
    "capability.missing": EventType(
        when="the model asks for something that no tool can do",
        payload={"capability": "what it asks for", "reason": "what for"},
    ),
    "budget.warning": EventType(
        when="70 % of a budget is used",
        payload={
            "budget": "turns, tokens, money, seconds, or a tool's name",
            "used": "how much",
            "limit": "of how much",
        },
    ),
    "budget.exhausted": EventType(
        when="only the reserve for the last answer is left",
        payload={
            "budget": "turns, tokens, money, seconds, or a tool's name",
            "used": "how much",
            "limit": "of how much",
        },
    ),
    "loop.detected": EventType(
        when="a run repeats itself",
        payload={
            "kind": "the same reason, or the same call with the same result",
            "what": "the reason, or the call",
            "times": "how often in a row",
        },
    ),
    "fallback.triggered": EventType(
        when="the fallback is consulted",
        payload={
            "timestamp": "when, in ISO form",
            "reason": "why it decides so",
            "turns_without_signal": "how many in a row",
            "last_signal_type": "the last signal's type, or null",
            "last_signal_confidence": "the last signal's confidence, or null",
            "classification_action": "what it decides",
            "classification_confidence": "how sure it is, 0 to 1",
        },
    ),
    "tree.reloaded": EventType(
        when="a tree file has changed",
        payload={
            "file": "the file",
            "trees": "the names of its trees",
            "problem": "why the last good trees stay, or null",
        },
    ),
    "node.failed": EventType(
        when="a node fails by a developer's mistake",
        payload={"node_path": "where", "error": "what was raised"},
    ),
    "journal.degraded": EventType(
        when="a run goes on though its journal cannot be written",
        payload={"problem": "what the disk or the database said"},
    ),
    "events.dropped": EventType(
        when="events are written again after an outage that memory could not bridge",
        payload={"count": "how many are missing before this one"},
    ),
    "shadow.compared": EventType(
        when="both loops have answered the same question",
        payload={"report_id": "the report in `shadow_reports`", "agree": "whether they agree"},
    ),
}


def select_types(patterns: Iterable[str]) -> frozenset[str]:
    """Resolve names and globs, such as `fallback.*`, to the types that they mean."""
    return frozenset(name for pattern in patterns for name in _matching(pattern))


def _matching(pattern: str) -> list[str]:
    names = [name for name in CATALOGUE if fnmatchcase(name, pattern)]
    if not names:
        raise InputError(f"no event type {pattern!r}{_suggestion(pattern)}")
    return names


def _suggestion(pattern: str) -> str:
    families = {f"{name.partition('.')[0]}.*" for name in CATALOGUE}
    near = did_you_mean(pattern, families if "*" in pattern else CATALOGUE)
    return near or f"; there are {', '.join(sorted(families))}"


def mistake_in(event: Event) -> str | None:
    """Say how an event breaks the catalogue, which is a mistake in the code that emits it."""
    known = CATALOGUE.get(event.type)
    if known is None:
        return f"no event type {event.type!r}{did_you_mean(event.type, CATALOGUE)}"
    if event.payload.keys() == known.payload.keys() or NOT_JSON in event.payload:
        return None
    missing = sorted(known.payload.keys() - event.payload.keys())
    surplus = sorted(event.payload.keys() - known.payload.keys())
    return f"the payload of {event.type} lacks {missing} and has {surplus} besides"


def report_mistake(event: Event) -> None:
    """Subscribe to a bus with this: a developer's mistake goes to the log, not to the caller."""
    if mistake := mistake_in(event):
        _report_once(mistake, event.source)


@lru_cache(maxsize=1000)
def _report_once(mistake: str, source: str) -> None:
    log.error("%s, in an event from %s; see CATALOGUE in %s", mistake, source, __name__)
