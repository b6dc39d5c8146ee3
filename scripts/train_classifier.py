"""Trains the query classifier, for `make classifier`; needs the extra `train`.

It reads the tuning part and writes `weights.txt`. It never reads the test part. All random numbers
have fixed seeds, so the same input gives the same file.
"""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import pairwise
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from sklearn.linear_model import LogisticRegression

from oracle.evaluation.classification import fingerprint
from oracle.evaluation.labelled import (
    TUNING_BREADTH,
    TUNING_CONVERSATIONS,
    TUNING_SINGLES,
    Labelled,
    read_set,
)
from oracle.evaluation.patterns import disturbed, filled, filled_conversations
from oracle.models.query_classification import QueryType
from oracle.services.classification import linear_model as served
from oracle.services.classification.classifier import gather
from oracle.services.classification.features import Features, features, plain_features
from oracle.services.classification.known_terms import known_features
from oracle.services.classification.linear_model import LIMIT, SHARES, TYPES, ZERO, value_of
from oracle.services.classification.parsed_query import ParsedQuery, parse_query

WEIGHTS = Path(served.__file__).with_name("weights.txt")

SEEDS = (11, 12, 13)
PATTERNS_EACH = 1200
PATTERN_CONVERSATIONS = 2000
STRENGTH = 0.5
BROAD_STRENGTH = 0.2
BROAD_WEIGHT = 2.5
BINS = (0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
# A feature that is rarer, or whose rounded weights are all smaller, is left out, to keep
# the file below a megabyte.
SEEN_AT_LEAST = 3
SMALLEST = 0.039
ALONE = (*TUNING_SINGLES, *TUNING_BREADTH)
# Each round leaves out two writers of single questions, with all of their sets, and one of
# conversations. The last letter of a set's name is its writer.
ROUNDS = tuple(zip(("ab", "cd", "il", "op"), TUNING_CONVERSATIONS, strict=True))

# The share of queries of each type that contain a known name, a known everyday word, and a word
# that many files have; counted with the indexes of a dozen projects.
KNOWN_RATES = {
    QueryType.CODE: (0.2, 0.55, 0.2),
    QueryType.DOCUMENTATION: (0.05, 0.1, 0.05),
    QueryType.ACTION: (0.05, 0.2, 0.08),
    QueryType.RESEARCH: (0.01, 0.12, 0.03),
    QueryType.CONVERSATIONAL: (0.01, 0.08, 0.02),
}
KNOWN = ("names a thing of ours", "uses a word of ours", "uses a common word of ours")


Tried = tuple[np.ndarray, np.ndarray]
"""Scores, and the correct types."""


@dataclass(frozen=True, kw_only=True)
class Example:
    features: Features
    row: Labelled
    weight: float


@dataclass(frozen=True, kw_only=True)
class Linear:
    """`weights` has a row for each feature and a column for each type, then one for breadth."""

    vocabulary: dict[tuple[str, str], int]
    weights: np.ndarray
    bias: np.ndarray

    def indices(self, group: str, names: set[str]) -> list[int]:
        found = (self.vocabulary.get((group, name)) for name in names)
        return sorted(index for index in found if index is not None)

    def type_alone(self, parsed: ParsedQuery) -> QueryType:
        total = self.bias[:-1].copy()
        for group, names in plain_features(parsed).items():
            rows = self.weights[self.indices(group, names), :-1]
            total += value_of(group, len(names)) * rows.sum(axis=0)
        return TYPES[int(total.argmax())]

    def matrix(self, rows: Sequence[Features]) -> sp.csr_matrix:
        values: list[float] = []
        columns: list[int] = []
        ends = [0]
        for row in rows:
            for group, names in row.items():
                hits = self.indices(group, names)
                columns.extend(hits)
                values.extend([value_of(group, len(names))] * len(hits))
            ends.append(len(columns))
        return sp.csr_matrix((values, columns, ends), shape=(len(rows), len(self.vocabulary)))


def main() -> None:
    singles = {name: read_set(name) for name in ALONE}
    talks = {name: read_set(name) for name in TUNING_CONVERSATIONS}
    temperatures = calibrated(singles, talks)
    linear = trained(flat(singles), flat(talks))
    text = written(linear, temperatures)
    WEIGHTS.write_text(text, "utf-8")
    print(f"temperatures {temperatures}, {len(text.splitlines()) - 1} features, {len(text)} bytes")


def flat(sets: dict[str, list[Labelled]], without: str = "") -> list[Labelled]:
    """All rows, but not those of the writers in `without`."""
    return [row for name, rows in sets.items() if name[-1] not in without for row in rows]


def trained(singles: list[Labelled], talks: list[Labelled], seeds: Sequence[int] = SEEDS) -> Linear:
    """The mean of several models, each with other random examples. That reduces their noise."""
    patterns = filled(each=PATTERNS_EACH, seed=0)
    alone = fitted([*weighted(singles, 1.0), *weighted(patterns, 0.3)])
    return mean([fitted(examples(singles, talks, alone, seed)) for seed in seeds])


def weighted(rows: list[Labelled], weight: float) -> list[Example]:
    return [
        Example(features=features(parse_query(row.query)), row=row, weight=weight) for row in rows
    ]


def examples(
    singles: list[Labelled], talks: list[Labelled], alone: Linear, seed: int
) -> list[Example]:
    chance = random.Random(seed)

    def seen(row: Labelled, weight: float) -> Example:
        if not row.history:
            return Example(features=features_alone(row.query), row=row, weight=weight)
        found = gather(row.query, row.history, type_of=alone.type_alone).features
        return Example(features=found, row=row, weight=weight)

    plain = [seen(row, 1.0) for row in singles]
    # A complete query keeps its type after the history of another conversation.
    shifted = [
        replace(row, history=chance.choice(talks).history)
        for row in chance.sample(singles, len(singles) // 3)
    ]
    return [
        *plain,
        *(seen(row, 2.0) for row in talks),
        *(seen(replace(row, query=disturbed(row, chance)), 0.5) for row in talks),
        *(seen(row, 0.3) for row in filled(each=PATTERNS_EACH, seed=seed)),
        *(seen(row, 0.12) for row in filled_conversations(count=PATTERN_CONVERSATIONS, seed=seed)),
        *(seen(replace(row, query=disturbed(row, chance)), 0.2) for row in singles),
        *(seen(row, 0.12) for row in shifted),
        *(with_known(example, chance) for example in chance.sample(plain, len(plain) // 2)),
    ]


@cache
def features_alone(query: str) -> Features:
    """Cached, because every round uses the same queries. Without a history no type is asked for."""
    return gather(query).features


def with_known(example: Example, chance: random.Random) -> Example:
    """The example as it would be with a list of the project's terms."""
    rates = KNOWN_RATES[example.row.query_type]
    known = {name for name, rate in zip(KNOWN, rates, strict=True) if chance.random() < rate}
    if not known:
        # What the query has if no term is known; nothing at all, if there is nothing to look up.
        known = known_features(parse_query(example.row.query), ())
    return replace(example, features={**example.features, "known": known}, weight=0.3)


def fitted(found: list[Example]) -> Linear:
    counts = Counter(
        (group, name)
        for example in found
        for group, names in example.features.items()
        for name in names
    )
    kept = sorted(key for key, count in counts.items() if count >= SEEN_AT_LEAST)
    empty = Linear(
        vocabulary={key: index for index, key in enumerate(kept)},
        weights=np.zeros((0, 0)),
        bias=np.zeros(0),
    )
    matrix = empty.matrix([example.features for example in found])
    weights = np.array([example.weight for example in found])
    types = LogisticRegression(C=STRENGTH, max_iter=400)
    types.fit(matrix, [TYPES.index(example.row.query_type) for example in found], weights)
    is_broad = np.array([example.row.broad for example in found])
    broad = LogisticRegression(C=BROAD_STRENGTH, max_iter=400)
    broad.fit(matrix, is_broad, weights * np.where(is_broad, BROAD_WEIGHT, 1.0))
    return replace(
        empty,
        weights=np.vstack([types.coef_, broad.coef_]).T,
        bias=np.concatenate([types.intercept_, broad.intercept_]),
    )


def mean(linears: list[Linear]) -> Linear:
    kept = sorted({key for linear in linears for key in linear.vocabulary})
    vocabulary = {key: index for index, key in enumerate(kept)}
    weights = np.zeros((len(kept), len(TYPES) + 1))
    for linear in linears:
        weights[[vocabulary[key] for key in linear.vocabulary]] += linear.weights / len(linears)
    bias = np.mean([linear.bias for linear in linears], axis=0)
    return Linear(vocabulary=vocabulary, weights=weights, bias=bias)


def calibrated(
    singles: dict[str, list[Labelled]], talks: dict[str, list[Labelled]]
) -> dict[str, float]:
    """The temperatures at which the confidence matches the accuracy for writers left out."""
    tries: dict[str, list[Tried]] = {"alone": [], "talk": []}
    for writers, talk in ROUNDS:
        linear = trained(flat(singles, writers), flat(talks, talk[-1]), SEEDS[:1])
        for name in (name for name in ALONE if name[-1] in writers):
            tries["alone"].append(tried(name, linear, singles[name]))
        tries["talk"].append(tried(talk, linear, talks[talk]))
    return {kind: best_temperature(kind, found) for kind, found in tries.items()}


def tried(name: str, linear: Linear, rows: list[Labelled]) -> Tried:
    found = [gather(row.query, row.history, type_of=linear.type_alone).features for row in rows]
    scores = (linear.matrix(found) @ linear.weights + linear.bias)[:, :-1]
    labels = np.array([TYPES.index(row.query_type) for row in rows])
    right = (scores.argmax(axis=1) == labels).mean()
    print(f"held out {name}: {right:.3f} of {len(rows)}", flush=True)
    return scores, labels


def best_temperature(kind: str, tries: list[Tried]) -> float:
    scores = np.vstack([scores for scores, _ in tries])
    truth = np.concatenate([labels for _, labels in tries])

    def logs(temperature: float) -> np.ndarray:
        scaled = scores / temperature
        return scaled - np.logaddexp.reduce(scaled, axis=1, keepdims=True)

    def loss(temperature: float) -> float:
        return -float(logs(temperature)[np.arange(len(truth)), truth].mean())

    best = round(float(min(np.arange(0.5, 3.0, 0.05), key=loss)), 2)
    confidences = np.exp(logs(best).max(axis=1))
    right = scores.argmax(axis=1) == truth
    for low, high in pairwise((*BINS, 1.01)):
        among = (confidences >= low) & (confidences < high)
        if among.any():
            print(
                f"{kind} from {low}: {among.sum()} answers with a mean confidence of "
                f"{confidences[among].mean():.3f}; {right[among].mean():.3f} are right"
            )
    return best


def written(linear: Linear, temperatures: dict[str, float]) -> str:
    units = {
        group: float(np.abs(linear.weights[rows]).max()) / LIMIT
        for group in SHARES
        if (rows := [index for key, index in linear.vocabulary.items() if key[0] == group])
    }
    lines = [
        f"{group}\t{name}\t{coded(whole)}"
        for (group, name), index in linear.vocabulary.items()
        if np.abs(whole := np.round(linear.weights[index] / units[group])).max() * units[group]
        > SMALLEST
    ]
    header = {
        "bias": [round(float(bias), 5) for bias in linear.bias],
        "fingerprint": fingerprint(Path(__file__).read_bytes()),
        "temperatures": temperatures,
        "units": {group: round(unit, 7) for group, unit in units.items()},
    }
    return "\n".join([json.dumps(header), *lines]) + "\n"


def coded(weights: np.ndarray) -> str:
    return "".join(chr(ZERO + int(weight)) for weight in weights)


if __name__ == "__main__":
    main()
