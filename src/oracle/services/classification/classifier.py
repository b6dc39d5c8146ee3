"""What kind of question is this? Offline, deterministic, in a fraction of a millisecond.

Text becomes tokens (`classification/text.py`), tokens a sketch (`reading.py`), the sketch evidence
and n-grams (`evidence.py`, `features.py`). History is evidence for turns that lean on it
(`context.py`), the project's terms are for what is inside it (`known.py`). A linear model weighs
them all (`model.py`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import cast

from oracle.models.query_classification import NEEDS, Needs, QueryClassification, QueryType
from oracle.services.classification.context import (
    Turn,
    acceptance_features,
    accepted,
    history_features,
    look_back,
)
from oracle.services.classification.features import (
    Features,
    features,
    plain_features,
    talk_features,
)
from oracle.services.classification.known import ONLY_OURS, KnownTerms, known_features
from oracle.services.classification.model import Scores, model
from oracle.services.classification.reading import Reading, read

History = Iterable[object]

MARGIN = 0.25
"""Closer than this the two best types cannot be told apart, and what both need is granted."""
OURS_OR_THEIRS = 25
"""How much more often a question about the project names a thing that only the project has."""
BROAD = 0.6
"""From here on a question spans the project, and is no small talk."""
SURE_TALK = 0.8
"""From here on breadth does not overrule it: `thanks for all of this` names everything too."""
MOST_KEYWORDS = 6
_INSIDE = (QueryType.CODE, QueryType.DOCUMENTATION)
_TURNS = 8
_PLACE = r"\bwhere\b.*\b(?:code|inside)\b"
_DECISION = r"\bdecide\b"
_BOTH = re.compile(rf"{_DECISION}.*\band {_PLACE}|{_PLACE}.*\band\b.*{_DECISION}")
"""In a sketch: what was decided, and where that is in the code."""
_READABLE = ("evidence", "word", "history", "known")


@dataclass(frozen=True, kw_only=True)
class Explanation:
    """Why a query got its type; `read_as` is the offer that it takes up, if it does."""

    classification: QueryClassification
    probabilities: Mapping[QueryType, float]
    sketch: str
    read_as: str
    evidence: Mapping[QueryType, tuple[tuple[str, float], ...]]


@dataclass(frozen=True, kw_only=True)
class Gathered:
    features: Features
    reading: Reading
    read_as: str


def classify_query(
    query: str, history: History = (), known_terms: KnownTerms | None = None
) -> QueryClassification:
    """`history` holds turns with a role and a content, mappings or objects, oldest first."""
    gathered = gather(query, history, known_terms)
    return _classification(gathered, _scores(gathered.features))


def explain_query(
    query: str, history: History = (), known_terms: KnownTerms | None = None
) -> Explanation:
    gathered = gather(query, history, known_terms)
    scores = _scores(gathered.features)
    return Explanation(
        classification=_classification(gathered, scores),
        probabilities=scores.probabilities,
        sketch=" ".join(gathered.reading.sketch),
        read_as=gathered.read_as,
        evidence={kind: _strongest(gathered.features, kind) for kind in scores.probabilities},
    )


def terms_to_look_up(query: str, history: History = ()) -> list[str]:
    """All that a classification may ask `known_terms` for, with this history or without."""
    asked: dict[str, None] = {}

    def note(term: str) -> bool:
        asked[term] = None
        return False

    for turns in ((), list(history)):
        gather(query, turns, note)
    return list(asked)


def _scores(found: Features) -> Scores:
    """What only this project has is not asked of the world, whatever the sentence sounds like."""
    scores = model().scores(found)
    if ONLY_OURS not in found["known"]:
        return _about_the_project(scores) if scores.breadth >= BROAD else scores
    shares = {
        kind: OURS_OR_THEIRS * share if kind in _INSIDE else share
        for kind, share in scores.probabilities.items()
    }
    total = sum(shares.values())
    ranked = sorted(shares.items(), key=lambda each: -each[1])
    return replace(scores, probabilities={kind: share / total for kind, share in ranked})


def _about_the_project(scores: Scores) -> Scores:
    """A broad question that sounds like talk is one about the project, with no more confidence
    than in the talk. One that sounds like the world is left: where it is close, both are needed.
    """
    (best, first), *others = scores.probabilities.items()
    if best != QueryType.CONVERSATIONAL or first >= SURE_TALK:
        return scores
    inside, share = next(each for each in others if each[0] in _INSIDE)
    half = (first + share) / 2
    rest = {kind: each for kind, each in others if kind != inside}
    return replace(scores, probabilities={inside: half, best: half, **rest})


def type_alone(reading: Reading) -> QueryType:
    """The type of a turn whatever came before it."""
    return next(iter(model().scores(plain_features(reading)).probabilities))


def gather(
    query: str,
    history: History = (),
    known_terms: KnownTerms | None = None,
    type_of: Callable[[Reading], QueryType] = type_alone,
) -> Gathered:
    """All that the model is to weigh."""
    before = look_back([_turn(turn) for turn in list(history)[-_TURNS:]])
    reading = read(query)
    read_as = accepted(query, reading, before)
    if read_as:
        reading = read(read_as)
        context = acceptance_features(before, type_of)
    else:
        context = history_features(query, reading, before, type_of)
    known = known_features(reading, known_terms)
    found = features(reading)
    found |= {"talk": set(), "history": context, "known": known}
    if context:
        found["talk"] = talk_features(found)
    return Gathered(features=found, reading=reading, read_as=read_as)


def _turn(turn: object) -> Turn:
    return Turn(role=_part(turn, "role"), content=_part(turn, "content"))


def _part(turn: object, name: str) -> str:
    """A turn without a part (a tool call has no content) says nothing by it."""
    if isinstance(turn, Mapping):
        return str(cast("Mapping[str, object]", turn).get(name) or "")
    return str(getattr(turn, name, None) or "")


def _classification(gathered: Gathered, scores: Scores) -> QueryClassification:
    (best, first), (second, next_best), *_ = scores.probabilities.items()
    is_both = {best, second} == {*_INSIDE} and _BOTH.search(" ".join(gathered.reading.sketch))
    is_clear = first - next_best >= MARGIN and not is_both
    needs = NEEDS[best] if is_clear else _union(NEEDS[best], NEEDS[second])
    return QueryClassification(
        query_type=best,
        needs_code=needs.code,
        needs_vault=needs.vault,
        needs_web=needs.web,
        confidence=round(first, 4),
        keywords_matched=tuple(name for name, _ in _strongest(gathered.features, best)),
        runner_up=second,
        breadth=round(scores.breadth, 4),
    )


def _union(one: Needs, other: Needs) -> Needs:
    return Needs(
        code=one.code or other.code, vault=one.vault or other.vault, web=one.web or other.web
    )


def _strongest(found: Features, query_type: QueryType) -> tuple[tuple[str, float], ...]:
    """What speaks most for `query_type`, without what only repeats a part of something stronger."""
    chosen: dict[str, float] = {}
    for name, weight in model().speaking_for(query_type, found, _READABLE):
        if len(chosen) == MOST_KEYWORDS:
            break
        if not any(name in other or other in name for other in chosen):
            chosen[name] = weight
    return tuple(chosen.items())
