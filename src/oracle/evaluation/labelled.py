"""The labelled questions: a tuning part, and a test part that is never used for tuning."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Any, Literal

from oracle import evaluation
from oracle.models.query_classification import QueryType
from oracle.services.bert.query_types import texts_of

Part = Literal["tuning", "test"]

TUNING_SINGLES = (
    "tuning_a",
    "tuning_b",
    "tuning_c",
    "tuning_d",
    "tuning_i",
    "tuning_o",
    "tuning_p",
)
TUNING_BREADTH = ("tuning_l", "tuning_breadth_o")
DEVELOPMENT = "development_o"
"""Neither trained on nor the test part: choices are checked on it. By writer O of the tuning part,
so it says less than the test part.
"""
TUNING_CONVERSATIONS = (
    "tuning_conversations_d",
    "tuning_conversations_e",
    "tuning_conversations_g",
    "tuning_conversations_h",
)
CONVERSATIONS: Mapping[Part, Sequence[str]] = {
    "tuning": TUNING_CONVERSATIONS,
    "test": ("test_conversations",),
}
BREADTH: Mapping[Part, Sequence[str]] = {"tuning": TUNING_BREADTH, "test": ("test_breadth",)}
SINGLES: Mapping[Part, Sequence[str]] = {"tuning": TUNING_SINGLES, "test": ("test_singles",)}


@dataclass(frozen=True, kw_only=True)
class Labelled:
    """`broad` means that a good answer covers five places or more."""

    query: str
    query_type: QueryType
    history: tuple[Mapping[str, str], ...] = ()
    broad: bool = False


def read_set(name: str) -> list[Labelled]:
    lines = files(evaluation).joinpath("data", f"{name}.jsonl").read_text("utf-8").splitlines()
    return [_labelled(json.loads(line)) for line in lines]


def singles(part: Part) -> list[Labelled]:
    return [row for name in SINGLES[part] for row in read_set(name)]


def conversations(part: Part) -> list[Labelled]:
    return [row for name in CONVERSATIONS[part] for row in read_set(name)]


def broad_and_narrow(part: Part) -> list[Labelled]:
    """As many broad questions as narrow ones; the other sets are mostly narrow."""
    return [row for name in BREADTH[part] for row in read_set(name)]


def tuning_fingerprint() -> str:
    """A digest of the tuning part. The layers on MiniLM have the one they were trained on."""
    digest = hashlib.sha256()
    for row in (*singles("tuning"), *broad_and_narrow("tuning"), *conversations("tuning")):
        digest.update(repr((row.query_type, texts_of(row.query, row.history))).encode())
    return digest.hexdigest()[:16]


def _labelled(row: Mapping[str, Any]) -> Labelled:
    return Labelled(
        query=row["query"],
        query_type=QueryType(row["type"]),
        history=tuple(row["history"]),
        broad=row["broad"],
    )
