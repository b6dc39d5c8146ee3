"""The type of a question, and the sources it needs."""

from __future__ import annotations

from enum import StrEnum
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple, Self

from oracle.lazy_dataclass import dataclass

if TYPE_CHECKING:
    from collections.abc import Mapping


class QueryType(StrEnum):
    CODE = "code"
    DOCUMENTATION = "documentation"
    RESEARCH = "research"
    CONVERSATIONAL = "conversational"
    ACTION = "action"


class Needs(NamedTuple):
    code: bool = False
    vault: bool = False
    web: bool = False


NEEDS: Mapping[QueryType, Needs] = MappingProxyType(
    {
        QueryType.CODE: Needs(code=True),
        QueryType.DOCUMENTATION: Needs(vault=True),
        QueryType.RESEARCH: Needs(web=True),
        QueryType.CONVERSATIONAL: Needs(),
        QueryType.ACTION: Needs(vault=True),
    }
)


OWN_NAME = 0
"""Stands for the number of files that have a known term, if the term is the project's own name."""


@dataclass(frozen=True, kw_only=True)
class QueryClassification:
    """Valid by construction: only a conversational query may need no source at all.

    `runner_up` is the second most likely type. `breadth` is how much of the project the question
    covers, from 0 to 1.
    """

    query_type: QueryType
    needs_code: bool
    needs_vault: bool
    needs_web: bool
    confidence: float
    keywords_matched: tuple[str, ...] = ()
    runner_up: QueryType | None = None
    breadth: float = 0.0

    def __post_init__(self) -> None:
        if self.query_type not in NEEDS:
            raise ValueError(f"query_type {self.query_type!r} is not one of {', '.join(QueryType)}")
        for name, value in (("confidence", self.confidence), ("breadth", self.breadth)):
            if not 0 <= value <= 1:
                raise ValueError(f"{name} {value!r} is outside 0 to 1")
        if not self.needs_any_source and self.query_type != QueryType.CONVERSATIONAL:
            raise ValueError(f"a {self.query_type} query needs code, the vault or the web")

    @property
    def needs_any_source(self) -> bool:
        return self.needs_code or self.needs_vault or self.needs_web

    @classmethod
    def of_type(
        cls,
        query_type: QueryType,
        *,
        confidence: float = 1.0,
        keywords_matched: tuple[str, ...] = (),
        runner_up: QueryType | None = None,
        breadth: float = 0.0,
    ) -> Self:
        """A classification with the usual needs of this type."""
        needs = NEEDS[query_type]
        return cls(
            query_type=query_type,
            needs_code=needs.code,
            needs_vault=needs.vault,
            needs_web=needs.web,
            confidence=confidence,
            keywords_matched=keywords_matched,
            runner_up=runner_up,
            breadth=breadth,
        )
