"""Records back from the rows of the table."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from oracle.services.journal.record import Place, Record


def decoded(rows: Iterable[tuple[Any, ...]]) -> list[Record]:
    """From (seq, kind, node_path, turn, ordinal, body), in order of seq."""
    records: list[Record] = []
    for seq, kind, node_path, turn, ordinal, text in rows:
        body, clock, request = json.loads(text)
        place = Place(node_path, turn, ordinal, request)
        records.append(Record(seq, kind, place, body, tuple(clock)))
    return records
