"""The linear model: integer weights from `weights.txt`, read with the standard library alone.

The file has a header (one line of JSON), then one line for each feature: its group, its name and
six characters. Each character is a weight: one for each of the five types, one for breadth. They
stay text until a query has the feature, because a query has a few hundred of 36,000; the first
queries of a process even look for them in the text. Sums of integers do not depend on the order of
a set, so a query has the same score in every process.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache, lru_cache
from importlib.resources import files
from typing import Any

from oracle.lazy_dataclass import dataclass
from oracle.models.query_classification import QueryType
from oracle.services import classification
from oracle.services.classification.features import Features

TYPES = tuple(QueryType)
# The character for the weight 0, and the largest weight. All characters are printable ASCII.
ZERO, LIMIT = ord("O"), 45
_COLUMNS = len(TYPES) + 1
_MOST_SEARCHES = 400
"""Features of a group to look for in the text. After that, a dictionary has paid for itself."""
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


@lru_cache(maxsize=2048)
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
    weights: Mapping[str, _Weights]

    def scores(self, features: Features) -> Scores:
        sums = list(self.bias)
        for group, names in features.items():
            known = self.weights[group]
            hits = list(filter(None, map(known.looking_up, names)))
            if not hits:
                continue
            value = self._value(group, len(names))
            codes = "".join(hits).encode("ascii")
            for column in range(_COLUMNS):
                # Characters are never negative. Take off each one's zero here.
                sums[column] += value * (sum(codes[column::_COLUMNS]) - ZERO * len(hits))
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
        zero = chr(ZERO)
        found: list[tuple[str, float]] = []
        for group in groups:
            look_up = self.weights[group].looking_up
            value = self._value(group, len(features[group])) / len(TYPES)
            for name in features[group]:
                text = look_up(name)
                # A quick test first: most features do not favour the type at all.
                if text is not None and text[column] > zero:
                    weights = text.encode("ascii")
                    # The last column is breadth, not a type.
                    lead = len(TYPES) * weights[column] - sum(weights[:-1])
                    if lead > 0:
                        found.append((name, lead * value))
        return sorted(found, key=lambda pair: (-pair[1], pair[0]))

    def _value(self, group: str, size: int) -> float:
        return value_of(group, size) * self.units[group]


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
    head, _, body = text.partition("\n")
    header = json.loads(head)
    return LinearModel(
        fingerprint=header["fingerprint"],
        bias=tuple(header["bias"]),
        units=header["units"],
        temperatures=header["temperatures"],
        weights={group: _Weights(group, body) for group in SHARES},
    )


class _Weights(Mapping[str, str]):
    """The weights of a group by feature.

    The lines are sorted, so a feature is found in the text by halving. That is faster than making a
    dictionary, which takes a sixth of the time of a small command, until many were looked for.
    """

    def __init__(self, group: str, body: str) -> None:
        mark = f"{group}\t"
        start = 0 if body.startswith(mark) else body.find(f"\n{mark}") + 1
        end = body.find("\n", body.rfind(f"\n{mark}") + 1)
        self._mark = mark
        self._lines = body[start:end] if body.startswith(mark, start) else ""
        self._left_to_search = _MOST_SEARCHES
        self._all: dict[str, str] | None = None

    def __getitem__(self, name: str) -> str:
        found = self.get(name)
        if found is None:
            raise KeyError(name)
        return found

    @property
    def looking_up(self) -> Callable[[str], str | None]:
        """`get`, without a call of our own for each feature where there is a dictionary."""
        return self.get if self._all is None else self._all.get

    def get(self, name: str, default: Any = None) -> Any:
        if self._all is not None:
            return self._all.get(name, default)
        self._left_to_search -= 1
        if self._left_to_search < 0:
            self._all = dict(self._pairs())
        return self._searched(f"{self._mark}{name}\t") or default

    def _searched(self, key: str) -> str | None:
        """What follows the key in the line that begins with it."""
        lines = self._lines
        low, high = 0, len(lines)
        # A line that begins with the key, if there is one, begins at `low` or later, before `high`.
        while low < high:
            start = lines.rfind("\n", low, (low + high) // 2) + 1 or low
            if lines.startswith(key, start):
                return lines[start + len(key) : start + len(key) + _COLUMNS]
            end = lines.find("\n", start, high)
            end = high if end < 0 else end
            low, high = (end + 1, high) if lines[start:end] < key else (low, start)
        return None

    def _pairs(self) -> Iterator[tuple[str, str]]:
        fields = self._lines.replace("\n", "\t").split("\t")
        return zip(fields[1::3], fields[2::3], strict=True)

    def __iter__(self) -> Iterator[str]:
        return (name for name, _ in self._pairs())

    def __len__(self) -> int:
        return self._lines.count("\n") + bool(self._lines)
