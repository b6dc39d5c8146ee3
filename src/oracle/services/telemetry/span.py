"""A span as data, with ids that follow from the run: the same run gives the same trace again."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Final, TypeAlias

from oracle.lazy_dataclass import dataclass

Value: TypeAlias = str | bool | int | float | Sequence[str]

_TRACE: Final = re.compile(r"(?!0{32})[0-9a-f]{32}")


@dataclass(frozen=True, kw_only=True, slots=True)
class SpanEvent:
    name: str
    at: float
    attributes: Mapping[str, Value] = field(default_factory=dict[str, Value])


@dataclass(frozen=True, kw_only=True, slots=True)
class Span:
    """Times are seconds since 1970, ids hexadecimal digits. `is_remote` marks a call of a model."""

    name: str
    trace_id: str
    span_id: str
    parent_id: str | None
    start: float
    end: float
    attributes: Mapping[str, Value]
    events: Sequence[SpanEvent] = ()
    is_error: bool = False
    is_remote: bool = False


def trace_id_of(run_id: str) -> str:
    """The id of the run itself, as far as it can be one: so a trace is found by its run."""
    if _TRACE.fullmatch(run_id):
        return run_id
    return hashlib.sha256(run_id.encode(errors="replace")).hexdigest()[:32]


def span_id_of(run_id: str, *parts: object) -> str:
    """A resumed run has the same root, and a turn that is exported twice is the same span."""
    text = "/".join(map(str, (run_id, *parts)))
    return hashlib.sha256(text.encode(errors="replace")).hexdigest()[:16]
