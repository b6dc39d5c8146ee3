"""What is remembered of conversations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, kw_only=True, slots=True)
class Session:
    """A conversation. Times are seconds since 1970; `updated_at` is when it was last used."""

    id: str
    title: str
    created_at: float
    updated_at: float


@dataclass(frozen=True, kw_only=True, slots=True)
class Exchange:
    """A question and its answer. Exchanges with the same parent are branches."""

    id: str
    session_id: str
    parent_id: str | None = None
    run_id: str | None = None
    question: str
    answer: str
    metadata: Mapping[str, Any] = field(default_factory=dict[str, Any])
    created_at: float
