"""Whether the layers on top of MiniLM match the current tuning part."""

from __future__ import annotations

import hashlib

from oracle.evaluation.labelled import broad_and_narrow, conversations, singles
from oracle.services.bert.query_types import texts_of


def fingerprint() -> str:
    digest = hashlib.sha256()
    for row in (*singles("tuning"), *broad_and_narrow("tuning"), *conversations("tuning")):
        digest.update(repr((row.query_type, texts_of(row.query, row.history))).encode())
    return digest.hexdigest()[:16]
