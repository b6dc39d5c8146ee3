from typing import Any

import pytest

from oracle.models.tool_spec import ToolSpec
from tests.tables import each_row


@each_row(
    ("changed", "message"),
    [
        ({"name": "search code"}, "tool name 'search code'"),
        ({"name": ""}, "tool name ''"),
        ({"name": "x" * 65}, "must be 1 to 64"),
        ({"description": " "}, "'find' has no description"),
        ({"parameters": {}}, "must be a schema of type 'object'"),
        ({"parameters": {"type": "string"}}, "must be a schema of type 'object'"),
    ],
)
def test_a_tool_that_no_provider_would_take_is_refused(
    changed: dict[str, Any], message: str
) -> None:
    valid = {"name": "find", "description": "Find.", "parameters": {"type": "object"}}
    with pytest.raises(ValueError, match=message):
        ToolSpec(**(valid | changed))


def test_a_tool_reads_and_is_offered_to_nobody_unless_it_says_otherwise() -> None:
    tool = ToolSpec(name="find", description="Find.", parameters={"type": "object"})
    assert not tool.writes
    assert tool.query_types == frozenset()


@each_row(
    ("name", "role"),
    [
        ("search_tickets", "search"),
        ("web_search", "search"),
        ("read_ticket", "read"),
        ("web_fetch", "read"),
        ("find_definition", "uses"),
        ("get_repo_map", "map"),
        ("list-issues", "list"),
        ("push_thread", "write"),
        ("deploy", "other"),
        ("research", "other"),
    ],
)
def test_a_tool_that_declares_no_role_has_the_one_that_its_name_suggests(name, role):
    assert ToolSpec(name=name, description="x", parameters={"type": "object"}).role == role


def test_a_declared_role_counts_and_what_writes_has_the_role_of_writing():
    known = {"description": "x", "parameters": {"type": "object"}}
    assert ToolSpec(name="look_up", role="search", **known).role == "search"
    assert ToolSpec(name="search_and_replace", writes=True, **known).role == "write"
