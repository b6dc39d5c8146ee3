"""Sentences by what they mean for a run, and how near a text is to each meaning.

Nothing is trained: the sentences in `prototypes.txt` are written by hand. To add a meaning or a
wording, add a line there.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Final

from oracle.patterns import lazy_pattern
from oracle.services import bert
from oracle.services.bert.minilm import Encoder, Vector

STATES: Final = ("progressing", "done", "confused", "blocked")
STRATEGIES: Final = ("rephrase", "another_source", "coverage", "more_tools")

NEAREST: Final = 2
"""How many of a meaning's sentences count. One alone would decide by chance."""
SHARPNESS: Final = 20.0
"""Similarities lie close together: this spreads them. Chosen on the tuning part, like `NEAREST`."""
LAST_SENTENCES: Final = 4
"""What a model says last shows its state. What it quoted before does not."""
LONGEST_SENTENCE: Final = 300

_END_OF_SENTENCE: Final = lazy_pattern(r"(?<=[.!?])\s+|\n+")


@cache
def sentences() -> Mapping[str, Sequence[str]]:
    """The prototypes by meaning."""
    lines = files(bert).joinpath("prototypes.txt").read_text("utf-8").splitlines()
    found: dict[str, list[str]] = {}
    for line in lines:
        meaning, tab, sentence = line.partition("\t")
        if tab:
            found.setdefault(meaning, []).append(sentence)
    return found


def last_sentences(text: str) -> list[str]:
    found = [part.strip() for part in _END_OF_SENTENCE.split(text[-2_000:]) if part.strip()]
    return [sentence[:LONGEST_SENTENCE] for sentence in found[-LAST_SENTENCES:]]


class Prototypes:
    """The vectors of the prototypes, made once with an encoder."""

    def __init__(self, encode: Encoder) -> None:
        self._encode = encode
        self._vectors = {meaning: encode(texts) for meaning, texts in sentences().items()}

    def situation(self, said: Sequence[str]) -> dict[str, dict[str, float]]:
        """The probabilities of states and of strategies, by what `last_sentences` returned."""
        vectors = self._encode(said)
        return {
            "states": self._near(vectors, STATES),
            "strategies": self._near(vectors, STRATEGIES),
        }

    def _near(self, vectors: Sequence[Vector], meanings: Sequence[str]) -> dict[str, float]:
        scores = [
            SHARPNESS * sum(self._similarity(vector, meaning) for vector in vectors) / len(vectors)
            for meaning in meanings
        ]
        return dict(zip(meanings, softmax(scores), strict=True))

    def _similarity(self, vector: Vector, meaning: str) -> float:
        near = sorted(dot(vector, each) for each in self._vectors[meaning])[-NEAREST:]
        return sum(near) / len(near)


def dot(one: Vector, other: Vector) -> float:
    return sum(a * b for a, b in zip(one, other, strict=True))


def softmax(scores: Sequence[float]) -> list[float]:
    """Rounded, because the result is kept in the journal."""
    top = max(scores)
    powers = [math.exp(score - top) for score in scores]
    return [round(power / sum(powers), 4) for power in powers]
