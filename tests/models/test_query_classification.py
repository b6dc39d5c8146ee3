from dataclasses import FrozenInstanceError
from typing import Any

import pytest

from oracle.models.query_classification import QueryClassification, QueryType
from tests.tables import each_row


@each_row(
    ("query_type", "code", "vault", "web"),
    [
        (QueryType.CODE, True, False, False),
        (QueryType.DOCUMENTATION, False, True, False),
        (QueryType.RESEARCH, False, False, True),
        (QueryType.CONVERSATIONAL, False, False, False),
        (QueryType.ACTION, False, True, False),
    ],
)
def test_the_type_says_which_sources_are_needed(
    query_type: QueryType, code: bool, vault: bool, web: bool
) -> None:
    query = QueryClassification.of_type(query_type, confidence=0.8)
    assert (query.needs_code, query.needs_vault, query.needs_web) == (code, vault, web)
    assert query.needs_any_source == (code or vault or web)
    assert query.confidence == 0.8


@each_row(
    ("changed", "message"),
    [
        ({"confidence": 1.01}, "confidence 1.01 is outside 0 to 1"),
        ({"confidence": -0.1}, "confidence -0.1"),
        ({"confidence": float("nan")}, "confidence nan"),
        ({"breadth": 2.0}, "breadth 2.0"),
        ({"query_type": "gossip"}, "'gossip' is not one of code,"),
        ({"needs_code": False}, "a code query needs code, the vault or the web"),
    ],
)
def test_an_impossible_classification_is_refused(changed: dict[str, Any], message: str) -> None:
    valid = {"query_type": QueryType.CODE, "confidence": 0.5}
    needs = {"needs_code": True, "needs_vault": False, "needs_web": False}
    with pytest.raises(ValueError, match=message):
        QueryClassification(**(valid | needs | changed))


def test_a_classification_may_need_more_than_its_type_does() -> None:
    query = QueryClassification(
        query_type=QueryType.CODE,
        needs_code=True,
        needs_vault=True,
        needs_web=False,
        confidence=0.6,
        keywords_matched=("function", "decided"),
        runner_up=QueryType.DOCUMENTATION,
        breadth=0.4,
    )
    assert query.needs_vault
    assert query.runner_up == "documentation"


def test_a_classification_does_not_change() -> None:
    query = QueryClassification.of_type(QueryType.CODE)
    with pytest.raises(FrozenInstanceError):
        query.confidence = 0.1  # type: ignore[misc]
