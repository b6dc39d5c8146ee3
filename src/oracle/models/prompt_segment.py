"""One part of the system prompt, and the conditions under which it is used."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from oracle.lazy_dataclass import dataclass
from oracle.models.query_classification import QueryType
from oracle.patterns import lazy_pattern

if TYPE_CHECKING:
    from collections.abc import Set as AbstractSet

ALWAYS = "always"
LARGE_CONTEXT = "large_context"
PREVIOUS_ERRORS = "previous_errors"
FULL_CONTRACT = "full_contract"
SHORT_CONTRACT = "short_contract"
"""The signals are explained in short: in a small context window, and in a conversation. One of the
two is always true.
"""
ONE_PART = "one_part"
"""True for a request about one part of a broad question. It is then the only true condition."""
PLAIN_LOOP = "plain_loop"
"""True in the plain loop that the tree is compared with. It is then the only true condition."""


def query_type_is(query_type: QueryType) -> str:
    return f"query_type={query_type}"


CONDITIONS = (
    ALWAYS,
    FULL_CONTRACT,
    SHORT_CONTRACT,
    LARGE_CONTEXT,
    PREVIOUS_ERRORS,
    ONE_PART,
    PLAIN_LOOP,
    *map(query_type_is, QueryType),
)

_ID = lazy_pattern(r"[a-z][a-z0-9_-]{0,63}")


@dataclass(frozen=True, kw_only=True)
class PromptSegment:
    """Valid by construction; a `ValueError` says what is wrong.

    Conditions of the same kind are joined by "or", different kinds by "and":
    `query_type=code, query_type=action, large_context` means a large context in either type.
    """

    id: str
    content: str
    token_estimate: int
    priority: int
    conditions: tuple[str, ...] = (ALWAYS,)
    from_project: bool = False

    def __post_init__(self) -> None:
        if not _ID.fullmatch(self.id):
            raise ValueError(f"id {self.id!r} must be lower-case letters, digits, '-' and '_'")
        if not self.content.strip():
            raise ValueError(f"segment {self.id!r} has no content")
        if self.priority < 0 or self.token_estimate < 0:
            raise ValueError(f"segment {self.id!r} has a negative priority or estimate")
        for condition in self.conditions:
            if condition not in CONDITIONS:
                raise ValueError(f"condition {condition!r} is not one of {', '.join(CONDITIONS)}")

    def applies(self, facts: AbstractSet[str]) -> bool:
        # Sorted, because `groupby` joins only neighbours.
        kinds = groupby(sorted(self.conditions), key=lambda condition: condition.split("=")[0])
        return all(not facts.isdisjoint(alternatives) for _, alternatives in kinds)
