"""Trains the layers on top of MiniLM that classify queries; needs the extras `bert` and `train`.

    python scripts/train_bert_layers.py              writes query_types.json
    python scripts/train_bert_layers.py --held-out   prints what each weight of the opinion brings

It reads the tuning part and never the test part. With `--held-out` the default classifier and the
layers are trained without some writers at a time, and both judge the queries of those. That takes
a quarter of an hour, and is how `OPINION_WEIGHT` and `UNSURE` were chosen.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from sklearn.linear_model import LogisticRegression
from train_classifier import ALONE, ROUNDS, SEEDS, flat, trained, tried

from oracle.evaluation.labelled import (
    TUNING_CONVERSATIONS,
    Labelled,
    read_set,
    tuning_fingerprint,
)
from oracle.services.bert import query_types as served
from oracle.services.bert.minilm import load_minilm
from oracle.services.bert.query_types import TYPES, texts_of
from oracle.services.classification.linear_model import linear_model

LAYERS = Path(served.__file__).with_name("query_types.json")
STRENGTH = 10.0
WEIGHTS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8, 1.0)
UNSURE = (0.8, 0.9, 1.01)
BATCH = 64

Sets = dict[str, list[Labelled]]


def main() -> None:
    singles = {name: read_set(name) for name in ALONE}
    talks = {name: read_set(name) for name in TUNING_CONVERSATIONS}
    encode = load_minilm()
    vectors = {
        name: encoded(encode, rows, with_turns=name in talks)
        for name, rows in (singles | talks).items()
    }
    if "--held-out" in sys.argv:
        held_out(singles, talks, vectors)
        return
    found = {
        "fingerprint": tuning_fingerprint(),
        "alone": as_data(fitted(singles, vectors)),
        "talk": as_data(fitted(talks, vectors)),
    }
    LAYERS.write_text(json.dumps(found, separators=(",", ":")) + "\n", "utf-8")
    print(f"{LAYERS.stat().st_size} bytes")


def encoded(encode: served.Encoder, rows: Sequence[Labelled], *, with_turns: bool) -> np.ndarray:
    texts = [texts_of(row.query, row.history if with_turns else ()) for row in rows]
    columns = [
        np.vstack([np.array(encode(column[at : at + BATCH])) for at in range(0, len(rows), BATCH)])
        for column in map(list, zip(*texts, strict=True))
    ]
    return np.hstack(columns)


def labels(rows: Sequence[Labelled]) -> np.ndarray:
    return np.array([TYPES.index(row.query_type) for row in rows])


def fitted(sets: Sets, vectors: dict[str, np.ndarray], without: str = "") -> LogisticRegression:
    """Without the sets of these writers."""
    names = [name for name in sets if name[-1] not in without]
    layer = LogisticRegression(C=STRENGTH, max_iter=500)
    return layer.fit(
        np.vstack([vectors[name] for name in names]),
        np.concatenate([labels(sets[name]) for name in names]),
    )


def as_data(layer: LogisticRegression) -> served.Layer:
    return {
        "weights": [[round(float(x), 3) for x in row] for row in layer.coef_],
        "bias": [round(float(x), 3) for x in layer.intercept_],
    }


def held_out(singles: Sets, talks: Sets, vectors: dict[str, np.ndarray]) -> None:
    judged: dict[str, list[tuple[np.ndarray, np.ndarray, np.ndarray]]] = {"alone": [], "talk": []}
    for writers, talk in ROUNDS:
        linear = trained(flat(singles, writers), flat(talks, talk[-1]), SEEDS[:1])
        for kind, without, sets in (("alone", writers, singles), ("talk", talk[-1], talks)):
            layer = fitted(sets, vectors, without)
            for name in (name for name in sets if name[-1] in without):
                scores, truth = tried(name, linear, sets[name])
                scores = scores / linear_model().temperatures[kind]
                logs = scores - np.logaddexp.reduce(scores, axis=1, keepdims=True)
                opinion = layer.predict_log_proba(vectors[name])
                judged[kind].append((logs, opinion, truth))
    for kind, each in judged.items():
        print_weights(kind, *(np.concatenate(column) for column in zip(*each, strict=True)))


def print_weights(kind: str, logs: np.ndarray, opinion: np.ndarray, truth: np.ndarray) -> None:
    alone = (logs.argmax(axis=1) == truth).mean()
    bert = (opinion.argmax(axis=1) == truth).mean()
    print(f"{kind}: {len(truth)}, default {alone:.4f}, BERT {bert:.4f}")
    for weight in WEIGHTS:
        both = (logs + weight * opinion).argmax(axis=1)
        right = [
            (np.where(np.exp(logs.max(axis=1)) < unsure, both, logs.argmax(axis=1)) == truth).mean()
            for unsure in UNSURE
        ]
        print(f"  weight {weight}: {', '.join(f'{x:.4f}' for x in right)} asked below {UNSURE}")


if __name__ == "__main__":
    main()
