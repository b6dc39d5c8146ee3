"""The class of a question decides which tools are in the request (US1)."""

import pytest

from tests.asking import ask, look
from tests.tables import each_row

TOOLS = dict.fromkeys(
    (
        *("search_code", "read_file", "search_vault", "search_threads", "web_search"),
        *("write_note",),
    ),
    "x.md:1 found",
)
CODE, VAULT, WEB = {"search_code", "read_file"}, {"search_vault", "search_threads"}, {"web_search"}


@each_row(
    ("query", "offered"),
    [
        ("What's the weather in Paris?", WEB),
        ("How does the auth middleware work?", CODE),
        ("What did we decide about caching?", VAULT),
        ("Thanks, that helps!", set()),
        ("Write a note about the login flow", VAULT | {"write_note"}),
    ],
)
async def test_a_tool_that_is_not_granted_is_in_neither_request_nor_prompt(query, offered):
    heard = await ask("So it is.", query=query, tools=TOOLS)
    assert set(heard.offered[0]) == offered
    prompt = heard.model.requests[0].messages[0]["content"]
    assert {name for name in TOOLS if f"`{name}" in prompt} == offered


@pytest.mark.parametrize(
    ("query", "tool"),
    [
        ("What's the weather in Paris?", "search_code"),
        ("How does the auth middleware work?", "web_search"),
        ("What did we decide about caching?", "read_file"),
        ("Thanks, that helps!", "search_code"),
    ],
)
async def test_a_tool_of_another_class_is_not_run(query, tool):
    heard = await ask(look("x", tool=tool), "So it is.", query=query, tools=TOOLS)
    assert heard.ran == []
    assert heard.results()[0].startswith(f"Not run: {tool}")
