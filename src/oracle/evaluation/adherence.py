"""How well models keep to the signal contract, and what the tree did about it, from events."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any, Final

from oracle.bt.wrappers.recipe import BASELINE
from oracle.evaluation.intervals import Interval, share
from oracle.services.ans.event import Event
from oracle.services.ans.event_types import select_types
from oracle.services.ans.query import EventQuery
from oracle.services.ans.table import EventsTable, StoredEvent, pages
from oracle.services.signals.parser import NOT_LAST
from oracle.services.story.words import decision_words

EVENTS: Final = (
    "run.started",
    "signal.*",
    "decision.made",
    "fallback.triggered",
    "grant.*",
    "capability.missing",
    "loop.detected",
)
"""The types of events that this is computed from."""
NO_SIGNAL: Final = "no signal"
_REACTIONS: Final = {
    "grant.given": "granted a tool",
    "grant.refused": "refused a tool",
    "capability.missing": "said that no tool can do it",
    "loop.detected": "saw that it goes in circles",
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Adherence:
    """Figures of one model. Each response counts once, as valid, malformed or missing.

    A response has a valid signal if one of its signals can be read. `second` are responses with
    more than one valid signal, `misplaced` those where text follows it. `not_believed` are signals
    that the evidence contradicts. `problems` is what could not be read or was dropped. `reactions`
    counts what the tree did, and after which signal.
    """

    model: str
    runs: int
    responses: int
    valid: int
    malformed: int
    missing: int
    second: int
    misplaced: int
    not_believed: int
    types: Mapping[str, int]
    problems: Mapping[str, int]
    reactions: Mapping[tuple[str, str], int]

    @property
    def valid_share(self) -> Interval:
        return share(self.valid, self.responses)

    @property
    def apt(self) -> int:
        """Responses with a valid signal that the evidence does not contradict."""
        return self.valid - self.not_believed

    def as_data(self) -> dict[str, Any]:
        valid = self.valid_share
        return {
            **{name: getattr(self, name) for name in self.__slots__ if name != "reactions"},
            "valid_share": {"mean": valid.mean, "low": valid.low, "high": valid.high},
            "reactions": [
                {"after": after, "what": what, "count": count}
                for (after, what), count in self.reactions.items()
            ],
        }


def adherence_of(events: Iterable[Event]) -> list[Adherence]:
    """The figures of each model, by name. Runs whose start is not among the events are left out,
    and those of the plain loop, which does not ask for signals.
    """
    models: dict[str, _Counts] = {}
    runs: dict[str, _Counts] = {}
    for event in events:
        run_id = event.run_id or ""
        if event.type == "run.started":
            if event.payload["tree"] != BASELINE:
                model = str(event.payload["model"])
                runs[run_id] = models.setdefault(model, _Counts())
                runs[run_id].runs.add(run_id)
        elif run_id in runs:
            runs[run_id].add(event)
    return [models[model].as_adherence(model) for model in sorted(models)]


def adherence_in(
    table: EventsTable,
    *,
    model: str | None = None,
    since: float | None = None,
    last: int | None = None,
) -> list[Adherence]:
    """From the stored events: of the `last` runs, begun `since` then, of models like `model`.

    `model` may hold `*`.
    """
    begun: dict[str, int] = {}
    starts = EventQuery(types=frozenset({"run.started"}), since=since)
    for stored in _stored(table, starts):
        payload, run_id = stored.event.payload, stored.event.run_id
        is_asked = model is None or fnmatchcase(str(payload["model"]), model)
        if is_asked and run_id is not None and payload["tree"] != BASELINE:
            begun.setdefault(run_id, stored.id)
    chosen = dict([*begun.items()][-last:] if last else begun)
    if not chosen:
        return []
    wanted = EventQuery(types=select_types(EVENTS), after=min(chosen.values()) - 1)
    events = (stored.event for stored in _stored(table, wanted))
    return adherence_of(event for event in events if event.run_id in chosen)


def _stored(table: EventsTable, query: EventQuery) -> Iterator[StoredEvent]:
    for page in pages(table, query):
        yield from page


@dataclass(kw_only=True, slots=True)
class _Counts:
    """Sets of responses, each named by its run and turn: a resumed run may report one again."""

    runs: set[str] = field(default_factory=set[str])
    responses: dict[str, set[tuple[str, int]]] = field(
        default_factory=dict[str, set[tuple[str, int]]]
    )
    types: Counter[str] = field(default_factory=Counter[str])
    problems: Counter[str] = field(default_factory=Counter[str])
    reactions: Counter[tuple[str, str]] = field(default_factory=Counter[tuple[str, str]])

    def add(self, event: Event) -> None:
        payload = event.payload
        match event.type:
            case "signal.received":
                self._note(event, "valid")
                self.types[str(payload["type"])] += 1
                self._note_problems(event)
            case "signal.ignored":
                self._note(event, "second")
            case "signal.malformed":
                self._note(event, "malformed")
                self.problems[str(payload["problem"])] += 1
            case "signal.missing":
                self._note(event, "missing")
            case "decision.made":
                if payload["verdict"] == "not_believed" and payload["signal"]:
                    self._note(event, "not_believed")
                self._react(payload["signal"], decision_words(str(payload["verdict"])))
            case "fallback.triggered":
                decided = decision_words(f"fallback_{payload['classification_action']}")
                self._react(payload["last_signal_type"], decided)
            case other:
                self._react("", _REACTIONS.get(other, other))

    def _note(self, event: Event, what: str) -> None:
        response = (event.run_id or "", event.turn or 0)
        self.responses.setdefault(what, set()).add(response)

    def _note_problems(self, event: Event) -> None:
        for problem in event.payload["problems"]:
            if problem == NOT_LAST:
                self._note(event, "misplaced")
            else:
                self.problems[str(problem)] += 1

    def _react(self, after: str | None, what: str) -> None:
        self.reactions[NO_SIGNAL if after is None else after, what] += 1

    def as_adherence(self, model: str) -> Adherence:
        found = {name: frozenset(those) for name, those in self.responses.items()}
        valid, none = found.get("valid", frozenset()), frozenset[tuple[str, int]]()
        malformed = found.get("malformed", none) - valid
        missing = found.get("missing", none) - valid - malformed
        return Adherence(
            model=model,
            runs=len(self.runs),
            responses=len(valid | malformed | missing),
            valid=len(valid),
            malformed=len(malformed),
            missing=len(missing),
            second=len(found.get("second", none)),
            misplaced=len(found.get("misplaced", none)),
            not_believed=len(found.get("not_believed", none)),
            types=dict(self.types.most_common()),
            problems=dict(self.problems.most_common()),
            reactions=dict(self.reactions.most_common()),
        )
