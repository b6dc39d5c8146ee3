"""The linear model: integer weights from `weights.txt`, read with the standard library alone.

The file has a header (one line of JSON), then one line for each feature: its group, its name and
six characters. Each character is a weight: one for each of the five types, one for breadth. In
memory the six weights are lanes of one integer, so one addition adds all six. Sums of integers do
not depend on the order of a set, so a query has the same score in every process.
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
# The character for the weight 0, and the largest weight. All characters are printable ASCII.
ZERO, LIMIT = ord("O"), 45
# A lane has four bytes, so a sum never overflows into the next lane: a weight is below 128, and a
# query has a few thousand features at most.
_LANES = Struct(f"<{len(TYPES) + 1}I")
_LANE, _WIDTH = 4, _LANES.size
# The influence of each group of features on the score. Chosen by trial on the tuning part; the
# weights belong to these numbers, so changing one means training again.
SHARES = {
    "evidence": 2.0,
    "sketch": 5.0,
    "word": 4.0,
    "letters": 4.0,
    "talk": 6.0,
    "history": 0.6,
    "known": 1.0,
}
# These groups have few features, and each of them counts in full.
_IN_FULL = frozenset({"history", "known"})


def value_of(group: str, size: int) -> float:
    """The factor of each of a group's `size` features. In most groups it falls as the group grows,
    so that a long query does not score higher than a short one.
    """
    return SHARES[group] if group in _IN_FULL else SHARES[group] / math.sqrt(max(1, size))


@dataclass(frozen=True, kw_only=True)
class Scores:
    """`probabilities` are sorted, the best type first. `breadth` is from 0 to 1."""

    probabilities: dict[QueryType, float]
    breadth: float


@dataclass(frozen=True, kw_only=True)
class LinearModel:
    """`units` convert integer weights to scores, by group. `temperatures` calibrate the confidence:
    `alone` for a single query, `talk` for a turn in a conversation, which is less certain.
    """

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
                # Lanes hold characters, which are never negative. Take off each one's zero here.
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
        """Features of `groups` that favour `query_type` over the mean of all types, best first."""
        column = TYPES.index(query_type)
        shift = 8 * _LANE * column
        found: list[tuple[str, float]] = []
        for group in groups:
            known = self.weights[group]
            value = self._value(group, len(features[group])) / len(TYPES)
            for name in features[group]:
                packed = known.get(name, 0)
                # A quick test first: most features do not favour the type at all.
                if packed >> shift & 255 > ZERO:
                    weights = packed.to_bytes(_WIDTH, "little")[::_LANE]
                    # The last lane is breadth, not a type.
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
    # Subtracting the maximum changes no probability and keeps `exp` from overflowing.
    top = max(scores)
    powers = [math.exp(score - top) for score in scores]
    ranked = sorted(zip(TYPES, powers, strict=True), key=lambda pair: -pair[1])
    return {query_type: power / sum(powers) for query_type, power in ranked}


@cache
def linear_model() -> LinearModel:
    return parse_weights(files(classification).joinpath("weights.txt").read_text("utf-8"))


def parse_weights(text: str) -> LinearModel:
    head, *lines = text.splitlines()
    header = json.loads(head)
    weights: dict[str, dict[str, int]] = {group: {} for group in SHARES}
    for line in lines:
        group, name, code = line.split("\t")
        weights[group][name] = _packed(code)
    return LinearModel(
        fingerprint=header["fingerprint"],
        bias=tuple(header["bias"]),
        units=header["units"],
        temperatures=header["temperatures"],
        weights=weights,
    )
