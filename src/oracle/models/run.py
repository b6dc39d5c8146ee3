"""What is known of a run without reading its journal."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal


@dataclass(frozen=True, kw_only=True, slots=True)
class Run:
    """One question on its way to an answer.

    `context_node_id` is the exchange that it goes on from. A run is "running" until it is "done";
    one that crashed is "running", and its lease has expired.
    """

    id: str
    session_id: str | None
    context_node_id: str | None
    question: str
    tree: str
    status: Literal["running", "done"]
    stop_reason: str | None
    usage: Mapping[str, Any]
    started_at: float
    ended_at: float | None
    lease_owner: str | None
    lease_until: float | None
