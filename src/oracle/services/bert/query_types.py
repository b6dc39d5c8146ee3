"""The type of a query by its meaning: a linear layer on top of MiniLM's vectors.

There is one layer for queries that are complete, and one for turns of a conversation, which also
gets the vector of what was said before. `query_types.json` is written by
`scripts/train_bert_layers.py`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Final, TypedDict

from oracle.models.query_classification import QueryType
from oracle.services import bert
from oracle.services.bert.minilm import Encoder, Vector
from oracle.services.bert.prototypes import dot, softmax

TYPES: Final = tuple(QueryType)
LONGEST_QUERY: Final = 600
# As much of a conversation as the default classifier reads (`classification/history.py`).
_ASKED, _SAID = 100, 240


class Layer(TypedDict):
    """A row of weights and a bias for each type."""

    weights: list[list[float]]
    bias: list[float]


class Layers(TypedDict):
    fingerprint: str
    alone: Layer
    talk: Layer


def texts_of(query: str, turns: Sequence[Mapping[str, str]] = ()) -> list[str]:
    """What MiniLM reads: the query, and what was said before if there are `turns`."""
    texts = [query[:LONGEST_QUERY]]
    if turns:
        asked = [turn["content"] for turn in turns if turn["role"] == "user"]
        said = [turn["content"] for turn in turns if turn["role"] == "assistant"]
        texts.append(f"{_last(asked)[:_ASKED]} | {_last(said)[:_SAID]}")
    return texts


def _last(texts: Sequence[str]) -> str:
    return texts[-1] if texts else ""


@cache
def layers() -> Layers:
    return json.loads(files(bert).joinpath("query_types.json").read_text("utf-8"))


def type_probabilities(encode: Encoder, texts: Sequence[str]) -> dict[str, float]:
    """The probability of each type, for what `texts_of` returned."""
    vector: Vector = [number for each in encode(texts) for number in each]
    layer = layers()["talk" if len(texts) > 1 else "alone"]
    scores = [
        dot(row, vector) + bias for row, bias in zip(layer["weights"], layer["bias"], strict=True)
    ]
    return dict(zip(TYPES, softmax(scores), strict=True))
