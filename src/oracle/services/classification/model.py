"""The linear model: integer weights from `weights.txt`, read with the standard library alone.

The file has a header (JSON, one line), then one feature a line: its group, its name and six
characters, one weight each for the five types and for breadth. In memory the six are lanes of one
integer, so that a sum of integers adds them all. It does not depend on the order either: a query
scores the same in every process.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from struct import Struct

from oracle.models.query_classification import QueryType
from oracle.services import classification
from oracle.services.classification.features import Features

TYPES = tuple(QueryType)
# The character of a weight of zero, and how far the others may be from it.
ZERO, LIMIT = ord("O"), 45
# Four bytes a lane hold the sum of more weights than a query can have.
_LANES = Struct(f"<{len(TYPES) + 1}I")
_LANE, _WIDTH = 4, _LANES.size
SHARES = {
    "evidence": 2.0,
    "sketch": 5.0,
    "word": 4.0,
    "letters": 4.0,
    "talk": 6.0,
    "history": 0.6,
    "known": 1.0,
}
_IN_FULL = frozenset({"history", "known"})


def value_of(group: str, size: int) -> float:
    """How much each of a group's `size` members counts; in most groups they share a weight."""
    return SHARES[group] if group in _IN_FULL else SHARES[group] / math.sqrt(max(1, size))


@dataclass(frozen=True, kw_only=True)
class Scores:
    """`probabilities` begin with the best type."""

    probabilities: dict[QueryType, float]
    breadth: float


@dataclass(frozen=True, kw_only=True)
class Model:
    """`units` are the worth of a weight of one, by group; a turn of a talk is less certain."""

    fingerprint: str
    bias: tuple[float, ...]
    units: Mapping[str, float]
    temperatures: Mapping[str, float]
    weights: Mapping[str, Mapping[str, int]]

    def scores(self, features: Features) -> Scores:
        sums = list(self.bias)
        for group, names in features.items():
            known = self.weights[group]
            hits = list(filter(None, map(known.get, names)))
            if not hits:
                continue
            value = self._value(group, len(names))
            for column, total in enumerate(_LANES.unpack(sum(hits).to_bytes(_WIDTH, "little"))):
                sums[column] += value * (total - ZERO * len(hits))
        *types, broad = sums
        temperature = self.temperatures["talk" if features.get("talk") else "alone"]
        return Scores(
            probabilities=_softmax([score / temperature for score in types]),
            breadth=1 / (1 + math.exp(-broad)),
        )

    def speaking_for(
        self, query_type: QueryType, features: Features, groups: Iterable[str]
    ) -> list[tuple[str, float]]:
        """The features of `groups` that speak for `query_type` more than for the mean type."""
        column = TYPES.index(query_type)
        shift = 8 * _LANE * column
        found: list[tuple[str, float]] = []
        for group in groups:
            known = self.weights[group]
            value = self._value(group, len(features[group])) / len(TYPES)
            for name in features[group]:
                packed = known.get(name, 0)
                if packed >> shift & 255 > ZERO:
                    weights = packed.to_bytes(_WIDTH, "little")[::_LANE]
                    lead = len(TYPES) * weights[column] - sum(weights[:-1])
                    if lead > 0:
                        found.append((name, lead * value))
        return sorted(found, key=lambda pair: (-pair[1], pair[0]))

    def _value(self, group: str, size: int) -> float:
        return value_of(group, size) * self.units[group]


def _packed(code: str) -> int:
    lanes = bytearray(_WIDTH)
    lanes[::_LANE] = code.encode("ascii")
    return int.from_bytes(lanes, "little")


def _softmax(scores: list[float]) -> dict[QueryType, float]:
    top = max(scores)
    powers = [math.exp(score - top) for score in scores]
    ranked = sorted(zip(TYPES, powers, strict=True), key=lambda pair: -pair[1])
    return {query_type: power / sum(powers) for query_type, power in ranked}


@cache
def model() -> Model:
    return parse(files(classification).joinpath("weights.txt").read_text("utf-8"))


def parse(text: str) -> Model:
    head, *lines = text.splitlines()
    header = json.loads(head)
    weights: dict[str, dict[str, int]] = {group: {} for group in SHARES}
    for line in lines:
        group, name, code = line.split("\t")
        weights[group][name] = _packed(code)
    return Model(
        fingerprint=header["fingerprint"],
        bias=tuple(header["bias"]),
        units=header["units"],
        temperatures=header["temperatures"],
        weights=weights,
    )
