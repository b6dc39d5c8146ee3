import pytest

from oracle.services.llm.clients import direct_model
from oracle.services.llm.providers import find_endpoint


@pytest.mark.parametrize(("name", "is_newer"), [("openai:some", True), ("ollama:gpt-oss", False)])
def test_at_home_the_limit_has_the_name_that_the_provider_knows(name, is_newer):
    model = direct_model(find_endpoint(name, {}, api_key="sk-1"), 1)
    assert model.profile["openai_chat_supports_max_completion_tokens"] is is_newer


@pytest.mark.parametrize("name", ["anthropic:some", "openai:some", "ollama:some"])
def test_the_sdks_do_not_retry_and_have_our_timeouts(name):
    client = direct_model(find_endpoint(name, {}, api_key="sk-1"), 7).client
    assert client.max_retries == 0
    assert client.timeout.read == 7
