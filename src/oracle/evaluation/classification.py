"""Measures how well questions are classified, and how reliable the confidence is."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import TypeAlias

from oracle import evaluation
from oracle.evaluation.calibration import CalibrationBin, calibration
from oracle.evaluation.labelled import Labelled, broad_and_narrow, conversations, singles
from oracle.models.query_classification import QueryClassification, QueryType
from oracle.services.bert.bert import Readers
from oracle.services.bert.query_types import texts_of, type_probabilities
from oracle.services.classification.classifier import (
    UNSURE,
    classify_query,
    depends_on_history,
    gather,
)

# The end of a bin is excluded, so the last one must end above 1.
BINS = ((0.0, 0.5), (0.5, 0.7), (0.7, 0.8), (0.8, 0.9), (0.9, 0.97), (0.97, 1.01))
BROAD_FROM = 0.4


@dataclass(frozen=True, kw_only=True)
class ClassMeasure:
    query_type: QueryType
    precision: float
    recall: float
    count: int

    @property
    def f1(self) -> float:
        total = self.precision + self.recall
        return 2 * self.precision * self.recall / total if total else 0.0


@dataclass(frozen=True, kw_only=True)
class Mistake:
    row: Labelled
    given: QueryClassification


@dataclass(frozen=True, kw_only=True)
class ClassificationReport:
    """`confusion[truth, given]` is a count. A question is broad from a breadth of `BROAD_FROM`."""

    count: int
    accuracy: float
    macro_f1: float
    classes: tuple[ClassMeasure, ...]
    confusion: dict[tuple[QueryType, QueryType], int]
    calibration: tuple[CalibrationBin, ...]
    broad_precision: float
    broad_recall: float
    mistakes: tuple[Mistake, ...]


Classify: TypeAlias = Callable[[Labelled], QueryClassification]


def by_default(row: Labelled) -> QueryClassification:
    return classify_query(row.query, row.history)


def by_bert(readers: Readers) -> Classify:
    """BERT alone, for comparison; it knows nothing of breadth."""

    def classify(row: Labelled) -> QueryClassification:
        found = _opinion(readers, row)
        best = max(found, key=lambda kind: found[kind])
        return QueryClassification.of_type(QueryType(best), confidence=found[best])

    return classify


def by_both(readers: Readers) -> Classify:
    """As in a run: BERT is asked only where the default classifier is unsure."""

    def classify(row: Labelled) -> QueryClassification:
        found = by_default(row)
        if found.confidence >= UNSURE:
            return found
        return classify_query(row.query, row.history, opinion=_opinion(readers, row))

    return classify


def _opinion(readers: Readers, row: Labelled) -> dict[str, float]:
    turns = row.history if depends_on_history(row.query, row.history) else ()
    return type_probabilities(readers.encode, texts_of(row.query, turns))


def evaluate(rows: Sequence[Labelled], classify: Classify = by_default) -> ClassificationReport:
    given = [classify(row) for row in rows]
    right = [answer.query_type == row.query_type for row, answer in zip(rows, given, strict=True)]
    confusion = Counter(
        (row.query_type, answer.query_type) for row, answer in zip(rows, given, strict=True)
    )
    classes = tuple(_class_measure(query_type, confusion) for query_type in QueryType)
    found = [answer.breadth >= BROAD_FROM for answer in given]
    hits = sum(row.broad and wide for row, wide in zip(rows, found, strict=True))
    return ClassificationReport(
        count=len(rows),
        accuracy=_ratio(sum(right), len(rows)),
        macro_f1=sum(measure.f1 for measure in classes) / len(classes),
        classes=classes,
        confusion=dict(confusion),
        calibration=calibration([answer.confidence for answer in given], right, BINS),
        broad_precision=_ratio(hits, sum(found)),
        broad_recall=_ratio(hits, sum(row.broad for row in rows)),
        mistakes=tuple(
            Mistake(row=row, given=answer)
            for row, answer, ok in zip(rows, given, right, strict=True)
            if not ok
        ),
    )


def _class_measure(
    query_type: QueryType, confusion: Counter[tuple[QueryType, QueryType]]
) -> ClassMeasure:
    count = sum(n for (truth, _), n in confusion.items() if truth == query_type)
    claimed = sum(n for (_, given), n in confusion.items() if given == query_type)
    hits = confusion[query_type, query_type]
    return ClassMeasure(
        query_type=query_type,
        precision=_ratio(hits, claimed),
        recall=_ratio(hits, count),
        count=count,
    )


def _ratio(part: int, whole: int) -> float:
    return part / whole if whole else 0.0


def fingerprint(recipe: bytes) -> str:
    """A hash that shows whether the classifier's weights match the current data and features.

    It covers the training recipe, the patterns, and the features of the tuning part.
    """
    digest = hashlib.sha256(recipe)
    digest.update(files(evaluation).joinpath("data", "patterns.txt").read_bytes())
    for row in (*singles("tuning"), *broad_and_narrow("tuning"), *conversations("tuning")):
        # A fixed type for earlier messages: the features must not depend on the weights.
        found = gather(row.query, row.history, type_of=lambda _: QueryType.CODE).features
        seen = [(group, sorted(names)) for group, names in found.items()]
        digest.update(repr((row.query_type, row.broad, seen)).encode())
    return digest.hexdigest()[:16]
