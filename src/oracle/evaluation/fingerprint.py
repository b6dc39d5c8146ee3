"""Tells whether the classifier's weights belong to the data and the features of today."""

from __future__ import annotations

import hashlib
from importlib.resources import files

from oracle import evaluation
from oracle.evaluation.labelled import broad_and_narrow, conversations, singles
from oracle.models.query_classification import QueryType
from oracle.services.classification.classifier import gather


def fingerprint(recipe: bytes) -> str:
    """Of the training recipe, the patterns, and what the features make of the tuning part."""
    digest = hashlib.sha256(recipe)
    digest.update(files(evaluation).joinpath("data", "patterns.txt").read_bytes())
    for row in (*singles("tuning"), *broad_and_narrow("tuning"), *conversations("tuning")):
        found = gather(row.query, row.history, type_of=lambda _: QueryType.CODE).features
        seen = [(group, sorted(names)) for group, names in found.items()]
        digest.update(repr((row.query_type, row.broad, seen)).encode())
    return digest.hexdigest()[:16]
