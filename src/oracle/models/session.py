"""What the database remembers: conversations, their exchanges, and the runs that answered."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Any, Final, Literal, cast

from oracle.lazy_dataclass import dataclass

LOCAL: Final = "local"
"""The user of the terminal, and of a server that needs no tokens."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Session:
    """A conversation. Times are seconds since 1970; `updated_at` is when it was last used."""

    id: str
    title: str
    created_at: float
    updated_at: float
    project: str | None = None
    user_id: str = LOCAL


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


def attached_words(metadata: Mapping[str, Any]) -> str:
    """What was attached to a question: names if they were stored, else how much it was.

    >>> attached_words({"attached": ["a.py", "git diff"]}), attached_words({})
    ('a.py, git diff', '')
    """
    names, size = metadata.get("attached"), metadata.get("attached_characters")
    if isinstance(names, list) and names:
        return ", ".join(map(str, cast("list[Any]", names)))
    return f"{size:,} characters" if isinstance(size, int) and size > 0 else ""


@dataclass(frozen=True, kw_only=True, slots=True)
class StoredRun:
    """A row of the `runs` table: what is known about a run without reading its journal.

    `context_node_id` is the exchange that the run continues from. The status is "running" until
    the run is "done". A run that crashed is still "running", with an expired lease. A run with
    `shadow_of` answers the question of that run again, for a comparison. `door` is "server" if a
    server takes it up again by itself. Of the waiting runs of a user, those with a higher
    `priority` begin first.
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
    project: str | None = None
    shadow_of: str | None = None
    user_id: str = LOCAL
    door: str | None = None
    priority: int = 0
