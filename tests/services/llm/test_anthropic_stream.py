"""Servers that speak Anthropic's protocol in their own way. Nothing that they send gets lost."""

from oracle.testing.servers import anthropic
from tests.services.llm.dialects import DIALECTS

ANTHROPIC = DIALECTS["anthropic"]


async def test_blocks_with_the_same_index_are_not_mixed():
    blocks = [
        *anthropic.events(anthropic.text("Look: ")),
        *anthropic.events(anthropic.tool_call("a", "search", '{"q":"a"}')),
        *anthropic.events(anthropic.tool_call("b", "search", '{"q":"b"}')),
    ]
    ending = anthropic.ending(9, "tool_use")
    parts = await ANTHROPIC.answer(*anthropic.beginning(), *blocks, *ending)
    calls = [part["tool_call"] for part in parts if "tool_call" in part]
    assert [(call["id"], call["arguments"]) for call in calls] == [
        ("a", {"q": "a"}),
        ("b", {"q": "b"}),
    ]
    assert {"text": "Look: "} in parts


async def test_the_worst_stop_reason_counts():
    text = anthropic.events(anthropic.text("The cache evicts"))
    first, *_ = anthropic.ending(9, "max_tokens")
    ending = anthropic.ending(9, "end_turn")
    parts = await ANTHROPIC.answer(*anthropic.beginning(), *text, first, *ending)
    assert {"ending": {"kind": "length", "said": "max_tokens"}} in parts
