"""Tests with a real language model, if `make test-extra` has installed one."""

import pytest

from oracle.errors import ContextTooLong
from oracle.services.llm.opening import open_model
from oracle.services.llm.protocol import ModelRequest
from tests.services.llm.dialects import asking

pytestmark = pytest.mark.extra


async def test_a_small_model_answers_in_pieces(small_model_url):
    model = open_model("openai:smollm2", base_url=small_model_url)
    conversation = [
        {"role": "system", "content": "You are brief."},
        {"role": "user", "content": "What is the capital of France?"},
        {"role": "system", "content": "Answer in one sentence."},
    ]
    request = ModelRequest(messages=conversation, longest_output=40)
    parts = [part async for part in model.stream(request)]
    assert len(parts) > 3
    assert "Paris" in "".join(part.get("text", "") for part in parts)
    assert 0 < parts[-1]["usage"]["output_tokens"] <= 40


async def test_a_small_model_says_that_its_window_is_small(small_model_url):
    model = open_model("openai:smollm2", base_url=small_model_url)
    with pytest.raises(ContextTooLong, match="8192 tokens"):
        await anext(model.stream(asking("word " * 20_000)))
