"""Finds the type of a query: offline, deterministic, in a fraction of a millisecond.

1. `tokenizer.py` splits the text into tokens.
2. `parsed_query.py` makes a sketch of the tokens.
3. `structure.py` and `features.py` turn the sketch into features.
4. `history.py` adds features from the conversation, if the turn depends on it. A turn that only
   accepts an offer is replaced by the offer (`accepted_offers.py`).
5. `known_terms.py` adds features for names that belong to the project.
6. `linear_model.py` weighs all features.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import cast

from oracle.lazy_dataclass import dataclass
from oracle.models.query_classification import NEEDS, Needs, QueryClassification, QueryType
from oracle.patterns import lazy_pattern
from oracle.services.classification.accepted_offers import accepted_offer
from oracle.services.classification.features import (
    Features,
    features,
    plain_features,
    talk_features,
)
from oracle.services.classification.history import (
    RecentTurns,
    Turn,
    acceptance_features,
    history_features,
    recent_turns,
)
from oracle.services.classification.known_terms import (
    LIKELIER,
    ONLY_OURS,
    KnownTerms,
    known_features,
)
from oracle.services.classification.linear_model import Scores, linear_model
from oracle.services.classification.parsed_query import ParsedQuery, parse_query

History = Iterable[object]

MARGIN = 0.25
"""If the two best types are closer than this, the query gets the sources of both."""
BROAD = 0.6
"""From this breadth on, a query is about the whole project and not small talk."""
SURE_TALK = 0.8
"""From this probability on, small talk stays small talk: `thanks for all of this` is broad too."""
UNSURE = 0.9
"""Below this confidence a second opinion is asked for, if there is one (`services/bert/`)."""
OPINION_WEIGHT = 0.4
"""The weight of a second opinion's log-probabilities. Both were chosen on held-out writers of the
tuning part (`scripts/train_bert_layers.py --held-out`).
"""
MOST_KEYWORDS = 6
MOST_TURNS = 8
"""Older turns are not read: only the last two questions and answers are used."""
_INSIDE = (QueryType.CODE, QueryType.DOCUMENTATION)
_LOCATION = r"\bwhere\b.*\b(?:code|inside)\b"
_DECISION = r"\bdecide\b"
_BOTH = lazy_pattern(rf"{_DECISION}.*\band {_LOCATION}|{_LOCATION}.*\band\b.*{_DECISION}")
"""Matches the sketch of a query for a decision and for its place in the code, in either order."""
# The groups whose features a person can read. N-grams of letters and sketches say nothing.
_READABLE = ("evidence", "word", "history", "known")


@dataclass(frozen=True, kw_only=True)
class Explanation:
    """Why a query got its type. `read_as` is the offer that the query accepts, or empty."""

    classification: QueryClassification
    probabilities: Mapping[QueryType, float]
    sketch: str
    read_as: str
    evidence: Mapping[QueryType, tuple[tuple[str, float], ...]]


@dataclass(frozen=True, kw_only=True)
class Gathered:
    """All that is known about a query before it is scored. `parsed` is the accepted offer, if the
    query accepts one.
    """

    features: Features
    parsed: ParsedQuery
    read_as: str


def classify_query(
    query: str,
    history: History = (),
    known_terms: KnownTerms | None = None,
    opinion: Mapping[str, float] | None = None,
) -> QueryClassification:
    """`history` are turns with a role and a content, oldest first, as mappings or as objects.

    `opinion` are the probabilities of the types according to another classifier.
    """
    gathered = gather(query, history, known_terms)
    return _classification(gathered, _scores(gathered.features, opinion))


def depends_on_history(query: str, history: History) -> bool:
    """Whether the query is a turn that can only be understood after the earlier ones."""
    return bool(gather(query, history).features["talk"])


def explain_query(
    query: str, history: History = (), known_terms: KnownTerms | None = None
) -> Explanation:
    gathered = gather(query, history, known_terms)
    scores = _scores(gathered.features)
    return Explanation(
        classification=_classification(gathered, scores),
        probabilities=scores.probabilities,
        sketch=" ".join(gathered.parsed.sketch),
        read_as=gathered.read_as,
        evidence={kind: _strongest(gathered.features, kind) for kind in scores.probabilities},
    )


def terms_to_look_up(query: str, history: History = ()) -> list[str]:
    """Every term that a classification may look up in `known_terms`, with or without history."""
    asked: dict[str, None] = {}

    def note(term: str) -> bool:
        asked[term] = None
        return False

    # Only what is looked up: the other features would be made in vain.
    for turns in ((), history) if history else ((),):
        _, parsed, _ = _read(query, turns)
        known_features(parsed, note)
    return list(asked)


def _scores(found: Features, opinion: Mapping[str, float] | None = None) -> Scores:
    scores = linear_model().scores(found)
    if opinion is not None:
        scores = _with_opinion(scores, opinion)
    # Only the strongest feature counts: they are not independent of each other.
    strongest = next((each for each in LIKELIER if each in found["known"]), "")
    if strongest:
        scores = _multiplied(scores, LIKELIER[strongest])
    is_ours = ONLY_OURS in found["known"]
    return scores if is_ours or scores.breadth < BROAD else _about_the_project(scores)


def _multiplied(scores: Scores, factors: Mapping[QueryType, float]) -> Scores:
    shares = {kind: share * factors.get(kind, 1.0) for kind, share in scores.probabilities.items()}
    total = sum(shares.values())
    ranked = sorted(shares.items(), key=lambda each: -each[1])
    return replace(scores, probabilities={kind: share / total for kind, share in ranked})


def _with_opinion(scores: Scores, opinion: Mapping[str, float]) -> Scores:
    """The two judges see different things (form here, meaning there), so their logs are added."""
    # Opinions are rounded: a probability of 0 only means a small one.
    factors = {
        kind: max(opinion.get(kind, 0.0), 1e-4) ** OPINION_WEIGHT for kind in scores.probabilities
    }
    return _multiplied(scores, factors)


def _about_the_project(scores: Scores) -> Scores:
    """Read a broad query that looks like small talk as a question about the project.

    Its best inside type and small talk share their probability equally. A broad query about the
    world stays as it is: if the types are close, it gets the sources of both anyway.
    """
    (best, first), *others = scores.probabilities.items()
    if best != QueryType.CONVERSATIONAL or first >= SURE_TALK:
        return scores
    inside, share = next(each for each in others if each[0] in _INSIDE)
    half = (first + share) / 2
    rest = {kind: each for kind, each in others if kind != inside}
    return replace(scores, probabilities={inside: half, best: half, **rest})


def type_alone(parsed: ParsedQuery) -> QueryType:
    """The type of a turn without its history."""
    return next(iter(linear_model().scores(plain_features(parsed)).probabilities))


def gather(
    query: str,
    history: History = (),
    known_terms: KnownTerms | None = None,
    type_of: Callable[[ParsedQuery], QueryType] = type_alone,
) -> Gathered:
    """The features of a query. Training passes its own `type_of` for the earlier turns."""
    recent, parsed, read_as = _read(query, history)
    if read_as:
        context = acceptance_features(recent, type_of)
    else:
        context = history_features(query, parsed, recent, type_of)
    known = known_features(parsed, known_terms)
    found = features(parsed)
    found |= {"talk": set(), "history": context, "known": known}
    if context:
        found["talk"] = talk_features(found)
    return Gathered(features=found, parsed=parsed, read_as=read_as)


def _read(query: str, history: History) -> tuple[RecentTurns, ParsedQuery, str]:
    """The last turns, the query, and the offer that it accepts, which is then what was parsed."""
    recent = recent_turns([_turn(turn) for turn in list(history)[-MOST_TURNS:]])
    parsed = parse_query(query)
    read_as = accepted_offer(query, parsed, recent.offer)
    return recent, parse_query(read_as) if read_as else parsed, read_as


def _turn(turn: object) -> Turn:
    return Turn(role=_part(turn, "role"), content=_part(turn, "content"))


def _part(turn: object, name: str) -> str:
    """A missing part is empty: a turn that only calls tools has no content."""
    if isinstance(turn, Mapping):
        return str(cast("Mapping[str, object]", turn).get(name) or "")
    return str(getattr(turn, name, None) or "")


def _classification(gathered: Gathered, scores: Scores) -> QueryClassification:
    (best, first), (second, next_best), *_ = scores.probabilities.items()
    is_both = {best, second} == {*_INSIDE} and _BOTH.search(" ".join(gathered.parsed.sketch))
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
    """The features that favour `query_type` most, without those that only repeat a stronger one."""
    chosen: dict[str, float] = {}
    for name, weight in linear_model().speaking_for(query_type, found, _READABLE):
        if len(chosen) == MOST_KEYWORDS:
            break
        for other in chosen:
            if name in other or other in name:
                break
        else:
            chosen[name] = weight
    return tuple(chosen.items())
