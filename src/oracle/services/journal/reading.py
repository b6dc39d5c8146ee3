"""Records back from disk."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, Final

from oracle.services.journal.record import Place, Record

SELECT: Final = (
    "SELECT seq, kind, node_path, turn, ordinal, body FROM journal WHERE run_id = ? ORDER BY seq"
)


def decoded(rows: Iterable[tuple[Any, ...]]) -> list[Record]:
    records: list[Record] = []
    for seq, kind, node_path, turn, ordinal, text in rows:
        body, clock = json.loads(text)
        records.append(Record(seq, kind, Place(node_path, turn, ordinal), body, tuple(clock)))
    return records
