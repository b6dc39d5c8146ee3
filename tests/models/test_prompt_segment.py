from typing import Any

import pytest

from oracle.models.prompt_segment import PromptSegment
from tests.tables import each_row


def _segment(**changed: Any) -> PromptSegment:
    valid = {"id": "house-rules", "content": "Be brief.", "token_estimate": 3, "priority": 5}
    return PromptSegment(**(valid | changed))


@each_row(
    ("changed", "message"),
    [
        ({"id": ""}, "id ''"),
        ({"id": "House Rules"}, "id 'House Rules' must be lower-case"),
        ({"id": "../base"}, "id '../base'"),
        ({"content": " \n"}, "'house-rules' has no content"),
        ({"priority": -1}, "negative priority"),
        ({"token_estimate": -1}, "negative priority or estimate"),
        ({"conditions": ("query_type=poetry",)}, "'query_type=poetry' is not one of always,"),
    ],
)
def test_an_impossible_segment_is_refused(changed: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        _segment(**changed)


@each_row(
    ("conditions", "facts", "applies"),
    [
        ("always", "always", True),
        ("query_type=code", "always query_type=code", True),
        ("query_type=code", "always query_type=action", False),
        ("query_type=code query_type=action", "always query_type=action", True),
        ("query_type=code large_context", "always query_type=code", False),
        ("query_type=code large_context", "always query_type=code large_context", True),
        (
            "large_context query_type=code query_type=action",
            "large_context query_type=action",
            True,
        ),
        ("large_context previous_errors", "large_context", False),
        ("", "always", True),
    ],
)
def test_conditions_of_one_kind_are_alternatives_and_kinds_must_all_hold(
    conditions: str, facts: str, applies: bool
) -> None:
    segment = _segment(conditions=tuple(conditions.split()))
    assert segment.applies(set(facts.split())) is applies
