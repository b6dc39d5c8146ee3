"""Every type of event: when it is emitted, and what its payload contains.

`docs/events.md` repeats this table and a test compares them. The bus reports an event that does
not fit it. `oracle audit --type` takes the names from it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import TYPE_CHECKING

from oracle.errors import InputError, did_you_mean
from oracle.lazy_dataclass import dataclass
from oracle.logs import logger_of
from oracle.services.ans.event import NOT_JSON

if TYPE_CHECKING:
    from oracle.services.ans.event import Event

log = logger_of(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class EventType:
    when: str
    payload: Mapping[str, str]
    """Each field and its meaning. A field without a value is null, never absent."""


_GRANT = {
    "tool": "the tool's name",
    "reason": "why",
    "by": "who decided: the tree, or a person",
}
_BUDGET = {
    "budget": "turns, tokens, money, seconds, or a tool's name",
    "used": "how much",
    "limit": "of how much",
}

_SIGNAL = {
    "type": "the signal's type",
    "confidence": "0 to 1",
    "fields": "the fields of that type",
    "raw_xml": "the signal as the model wrote it",
    "at": "how many characters of the shown text are before it",
    "timestamp": "when it was parsed, in ISO form",
    "problems": "fields that were dropped, or that text follows it; a list",
}

EVENT_TYPES: Mapping[str, EventType] = {
    "run.started": EventType(
        when="a run begins, or is resumed",
        payload={
            "question": "what was asked",
            "tree": "the tree's name",
            "model": "the model's name",
            "resumed": "whether it continues from a record",
        },
    ),
    "run.ended": EventType(
        when="a run ends, for any reason",
        payload={
            "stop_reason": "why, as a word for programs",
            "turns": "how many turns it took",
            "usage": "how much of each budget it used",
            "missing": "what the answer lacks; a list",
        },
    ),
    "turn.started": EventType(
        when="a request goes to the model", payload={"tools": "the names of the tools offered"}
    ),
    "turn.ended": EventType(
        when="the model's response is complete, or was cut off",
        payload={
            "outcome": "how the response was used",
            "usage": "how much of each budget the turn used",
        },
    ),
    "signal.received": EventType(
        when="a response carries a valid signal, which counts",
        payload=_SIGNAL,
    ),
    "signal.ignored": EventType(
        when="a response carries a valid signal after the one that counts",
        payload=_SIGNAL,
    ),
    "signal.malformed": EventType(
        when="a response carries a signal that cannot be read; once for each",
        payload={
            "problem": "what is wrong with it",
            "raw_xml": "the signal as the model wrote it, up to 4,096 characters",
            "at": "how many characters of the shown text are before it, or null",
        },
    ),
    "signal.missing": EventType(
        when="a response carries no signal at all",
        payload={"turns_without_signal": "how many in a row"},
    ),
    "tool.called": EventType(
        when="a tool is about to run",
        payload={
            "call_id": "the id of the call",
            "tool": "the tool's name",
            "arguments": "its arguments",
        },
    ),
    "tool.returned": EventType(
        when="a tool has run, or was not run",
        payload={
            "call_id": "the id of the call",
            "tool": "the tool's name",
            "success": "whether it returned a result",
            "seconds": "how long it took",
            "error": "why it failed, or null",
        },
    ),
    "grant.given": EventType(
        when="a tool becomes available during a run",
        payload=_GRANT,
    ),
    "grant.refused": EventType(
        when="a tool that was asked for is not granted",
        payload=_GRANT,
    ),
    "capability.missing": EventType(
        when="the model asks for something that no tool can do",
        payload={"capability": "what it asks for", "reason": "its purpose"},
    ),
    "budget.warning": EventType(
        when="70 % of a budget is used",
        payload=_BUDGET,
    ),
    "budget.exhausted": EventType(
        when="only the reserve for the last answer is left",
        payload=_BUDGET,
    ),
    "loop.detected": EventType(
        when="a run repeats itself",
        payload={
            "kind": "the same reason, or the same call with the same result",
            "what": "the reason, or the call",
            "times": "how many times in a row",
        },
    ),
    "decision.made": EventType(
        when="the tree decides what follows from a response; the fallback has its own event",
        payload={
            "signal": "the type of the signal, or null",
            "verdict": "what was decided, as a word for programs",
            "reason": "why, as a text for people; may be empty",
        },
    ),
    "fallback.triggered": EventType(
        when="the fallback is consulted",
        payload={
            "timestamp": "the time, in ISO form",
            "reason": "why it decides this",
            "turns_without_signal": "how many in a row",
            "last_signal_type": "the last signal's type, or null",
            "last_signal_confidence": "the last signal's confidence, or null",
            "classification_action": "what it decides",
            "classification_confidence": "how sure it is, 0 to 1",
        },
    ),
    "bert.unavailable": EventType(
        when="BERT was asked and did not answer in time, so the heuristic decides alone",
        payload={
            "use": "classification or fallback",
            "problem": "why: not installed, still being loaded, too slow, or broken",
        },
    ),
    "node.failed": EventType(
        when="a node fails because of a mistake in its code",
        payload={"node_path": "the node's path", "error": "the exception"},
    ),
    "journal.degraded": EventType(
        when="the journal of a run cannot be written",
        payload={"problem": "what the database reported"},
    ),
    "shadow.compared": EventType(
        when="both loops have answered the question of a run, and are compared",
        payload={
            "tree": "what the tree's run did, in figures",
            "baseline": "what the plain loop's run did, in figures",
            "shared": "how much the answers share: `words` and `citations`, each from 0 to 1",
            "shadow_run_id": "the run in the shadow; the event itself belongs to the first run",
        },
    ),
    "events.dropped": EventType(
        when="events are written again after an outage in which some were dropped",
        payload={"count": "how many are missing before this event"},
    ),
}


def select_types(patterns: Iterable[str]) -> frozenset[str]:
    """Resolve names and globs, such as `fallback.*`, to types."""
    return frozenset(name for pattern in patterns for name in _matching(pattern))


@lru_cache(maxsize=128)
def _matching(pattern: str) -> tuple[str, ...]:
    """Each run subscribes to the same few patterns."""
    # `tool` alone means the whole family.
    wanted = (pattern, f"{pattern}.*")
    names = tuple(name for name in EVENT_TYPES if any(fnmatchcase(name, each) for each in wanted))
    if not names:
        raise InputError(f"no event type {pattern!r}{_suggestion(pattern)}")
    return names


def _suggestion(pattern: str) -> str:
    families = {f"{name.partition('.')[0]}.*" for name in EVENT_TYPES}
    near = did_you_mean(pattern, families if "*" in pattern else EVENT_TYPES)
    return near or f"; known are {', '.join(sorted(families))}"


def mistake_in(event: Event) -> str | None:
    """How an event differs from the table, or None. It is a mistake in the code that emits it."""
    known = EVENT_TYPES.get(event.type)
    if known is None:
        return f"no event type {event.type!r}{did_you_mean(event.type, EVENT_TYPES)}"
    # A payload that is not JSON was reported when the event was created.
    if event.payload.keys() == known.payload.keys() or NOT_JSON in event.payload:
        return None
    missing = sorted(known.payload.keys() - event.payload.keys())
    surplus = sorted(event.payload.keys() - known.payload.keys())
    return f"the payload of {event.type} lacks {missing} and has the unknown keys {surplus}"


def report_mistake(event: Event) -> None:
    """A subscriber that logs such a mistake. Raising it would stop the code that emits."""
    if mistake := mistake_in(event):
        _report_once(mistake, event.source)


# The cache is the memory of what was reported: a mistake in a loop would fill the log.
@lru_cache(maxsize=1000)
def _report_once(mistake: str, source: str) -> None:
    log.error("%s, in an event from %s; see EVENT_TYPES in %s", mistake, source, __name__)
