"""What kind of question it is, and whether it continues the conversation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from oracle.bt.board import (
    SECONDS_WAITED,
    as_data,
    bb_get,
    bb_set,
    board_of,
    classification_of,
    known_terms_of,
    services_of,
    set_ledger,
    shares_of,
)
from oracle.bt.core.context import TickContext
from oracle.bt.core.leaves import action
from oracle.bt.report import say_system
from oracle.bt.second_opinion import second_opinion
from oracle.bt.state.base import SUCCESS, RunStatus
from oracle.bt.state.blackboard import TypedBlackboard
from oracle.models.query_classification import QueryClassification, QueryType
from oracle.services.bert.query_types import texts_of
from oracle.services.classification.classifier import classify_query, depends_on_history
from oracle.services.control.ledger import Ledger, Limits
from oracle.services.control.topic import asks_for_something_new, is_topic_shift, last_topic

UNSURE: Final = 0.5
"""The confidence of a class that was chosen by the sources, not by the words of the question."""


@action(reads=["limits", "model", "seconds_before", "facts"], writes=["ledger"])
def open_ledger(ctx: TickContext) -> RunStatus:
    """Start counting. Without known prices a money budget cannot be kept, so it is switched off.

    That is a warning if somebody has set the budget, and a note if it is the usual one.
    """
    bb = board_of(ctx)
    limits = Limits(**bb_get(bb, "limits"))
    model = bb_get(bb, "model")
    if model["prices"] is None and limits.money is not None:
        severity = "info" if limits.money == Limits().money else "warning"
        limits = replace(limits, money=None)
        text = f"The price of {model['name']} is not known; the money budget is off."
        say_system(ctx, text, severity)
    # The time limit counts from the question, not from the first tick after the sources are read.
    started_at = ctx.now - bb_get(bb, "seconds_before")
    waited = bb_get(bb, "facts").get(SECONDS_WAITED, 0.0)
    set_ledger(bb, Ledger(limits=limits, started_at=started_at, waited=waited))
    return SUCCESS


@action(reads=["history", "query"], writes=["earlier_evidence", "previous_errors"])
def recall_conversation(ctx: TickContext) -> RunStatus:
    """Count what earlier exchanges on the last topic gathered, and note whether the last one
    failed. A text that the user attached counts as one place. For a question about something new
    nothing of it counts.
    """
    bb = board_of(ctx)
    history: list[dict[str, Any]] = bb_get(bb, "history")
    on_topic = (exchange["metadata"] for exchange in last_topic(history))
    found = sum(
        known.get("places_found", 0) + bool(known.get("attached_characters")) for known in on_topic
    )
    is_new = asks_for_something_new(bb_get(bb, "query"), history)
    bb_set(bb, "earlier_evidence", 0 if is_new else found)
    bb_set(bb, "previous_errors", bool(history) and bool(history[-1]["metadata"].get("failed")))
    return SUCCESS


@action(reads=["query", "history"], writes=["topic_shift"])
def notice_topic_shift(ctx: TickContext) -> RunStatus:
    bb = board_of(ctx)
    bb_set(bb, "topic_shift", is_topic_shift(bb_get(bb, "query"), bb_get(bb, "history")))
    return SUCCESS


@action(reads=["query", "history", "known_terms", "topic_shift"], writes=["classification"])
def classify(ctx: TickContext) -> RunStatus:
    """Classify as part of the conversation; after a topic shift, by the question alone."""
    _classify(ctx)
    return SUCCESS


@action(reads=["query", "history", "known_terms", "topic_shift"], writes=["classification"])
async def weigh_second_opinion(ctx: TickContext) -> RunStatus:
    """Classify once more, with BERT's opinion. Without its answer the class stays as it is."""
    bb = board_of(ctx)
    query, turns = bb_get(bb, "query"), _turns(bb)
    texts = texts_of(query, turns if depends_on_history(query, turns) else ())
    found = await second_opinion(
        ctx, "classification", [*texts], lambda bert: bert.query_types(texts)
    )
    if found is not None:
        _classify(ctx, found["types"])
    return SUCCESS


@action(reads=["facts", "classification"], writes=["classification"])
def take_for_a_search(ctx: TickContext) -> RunStatus:
    """Classify by the source that has the words. That is not sure, so other tools are near."""
    bb = board_of(ctx)
    shares, before = shares_of(bb), classification_of(bb)
    # A search of the code finds notes too, so only more than the notes have speaks for code.
    notes = max(shares.get("vault", 0.0), shares.get("threads", 0.0))
    is_code = shares.get("code", 0.0) > notes
    found = QueryClassification.of_type(
        QueryType.CODE if is_code else QueryType.DOCUMENTATION,
        confidence=min(before.confidence, UNSURE),
        keywords_matched=("all words are in one place",),
        runner_up=QueryType.DOCUMENTATION if is_code else QueryType.CODE,
        breadth=before.breadth,
    )
    bb_set(bb, "classification", as_data(found))
    return SUCCESS


def _classify(ctx: TickContext, opinion: Mapping[str, float] | None = None) -> None:
    bb = board_of(ctx)
    terms = known_terms_of(bb)
    query, turns = bb_get(bb, "query"), _turns(bb)
    if opinion is None:
        found = services_of(ctx).classify(query, turns, terms)
    else:
        found = classify_query(query, turns, terms, opinion)
    bb_set(bb, "classification", as_data(found))


def _turns(bb: TypedBlackboard) -> list[dict[str, str]]:
    return [] if bb_get(bb, "topic_shift") else turns_of(bb_get(bb, "history"))


def turns_of(history: Sequence[Mapping[str, Any]]) -> list[dict[str, str]]:
    """The conversation in the form that the classifier reads."""
    return [
        {"role": role, "content": exchange[part]}
        for exchange in history
        for role, part in (("user", "question"), ("assistant", "answer"))
    ]
