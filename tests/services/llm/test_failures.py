import socket

import pytest

from oracle.errors import ContextTooLong, ModelError, ModelOverloaded, ModelRefused
from oracle.services.llm.opening import open_model
from oracle.services.llm.providers import PROVIDERS
from oracle.testing.servers import Reply, ScriptedServer, anthropic, openai
from tests.services.llm.dialects import DIALECTS, Dialect, asking

REFUSALS = {
    "bad_key": (ModelRefused, "refused the key (401: ", "[model] key_variable"),
    "no_credit": (ModelRefused, "has no credit left", "choose another model"),
    "context_too_long": (ContextTooLong, "is too long", "send less"),
    "rate_limited": (ModelOverloaded, "cannot answer at the moment", "try again later"),
    "overloaded": (ModelOverloaded, "cannot answer at the moment", "try again later"),
}


@pytest.mark.parametrize("what", REFUSALS)
async def test_a_refusal_says_what_it_is_and_what_to_do(dialect, what):
    kind, said, advice = REFUSALS[what]
    heard, error = await dialect.failing(getattr(dialect.wire, what)(), api_key="sk-1")
    assert heard == []
    assert type(error) is kind
    assert said in str(error)
    assert advice in str(error)


async def test_an_unknown_model_is_refused_by_its_name(dialect):
    model = dialect.model_name.partition(":")[2]
    _, error = await dialect.failing(dialect.wire.unknown_model(model))
    assert type(error) is ModelRefused
    assert f"has no model '{model}'" in str(error)


async def test_a_name_that_is_nearly_known_gets_a_suggestion():
    dialect = Dialect(anthropic, "anthropic:claude-sonet-5")
    _, error = await dialect.failing(anthropic.unknown_model("claude-sonet-5"))
    assert "did you mean 'anthropic:claude-sonnet-5'?" in str(error)


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (400, ModelRefused),
        (403, ModelRefused),
        (404, ModelRefused),
        (408, ModelOverloaded),
        (409, ModelOverloaded),
        (413, ContextTooLong),
        (418, ModelRefused),
        (422, ModelRefused),
        (500, ModelOverloaded),
        (502, ModelOverloaded),
        (504, ModelOverloaded),
        (301, ModelError),
    ],
)
async def test_each_status_has_its_error(dialect, status, kind):
    _, error = await dialect.failing(dialect.wire.failure(status, "some_error", "It is so."))
    assert type(error) is kind


@pytest.mark.parametrize("body", [b"", b"<html>Bad gateway</html>", b"[1]", b'{"error": "no"}'])
async def test_an_error_may_have_any_body(dialect, body):
    _, error = await dialect.failing(Reply(status=502, body=[body] if body else []))
    assert type(error) is ModelOverloaded
    assert "502" in str(error)


@pytest.mark.parametrize(
    "message",
    [
        "input length and `max_tokens` exceed context limit: 190000 + 16384 > 200000",
        "the request exceeds the available context size, try increasing it",
        "prompt is too long: 1 > 0",
    ],
)
async def test_a_context_that_is_too_long_is_known_by_its_words(dialect, message):
    failure = dialect.wire.failure(400, "invalid_request_error", message)
    _, error = await dialect.failing(failure)
    assert type(error) is ContextTooLong


@pytest.mark.parametrize(("sent", "seconds"), [("7", 7.0), ("soon", None), ("-3", None)])
async def test_an_overload_carries_how_long_to_wait(dialect, sent, seconds):
    _, error = await dialect.failing(dialect.wire.rate_limited(sent))
    assert error.retry_after == seconds


@pytest.mark.parametrize("name", PROVIDERS)
async def test_a_server_that_is_not_there_is_named(name):
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{unused.getsockname()[1]}/v1"
        model = open_model(f"{name}:some", base_url=address)
        with pytest.raises(ModelError, match="cannot reach") as caught:
            await anext(model.stream(asking("hi")))
    assert address in str(caught.value)
    assert type(caught.value) is ModelError


async def test_a_missing_key_and_a_wrong_key_have_different_errors(dialect):
    _, error = await dialect.failing(dialect.wire.bad_key())
    assert "needs a key and got none: set the variable that [model] key_variable names" in str(
        error
    )


async def test_the_variable_that_held_a_bad_key_is_named():
    async with ScriptedServer(openai.bad_key()) as server:
        variables = {"OPENAI_API_KEY": "sk-old", "OPENAI_BASE_URL": f"{server.url}/v1"}
        model = open_model("openai:gpt-5", environment=variables)
        with pytest.raises(ModelRefused, match="check OPENAI_API_KEY"):
            await anext(model.stream(asking("hi")))
        assert server.requests[0].headers["authorization"] == "Bearer sk-old"


async def test_what_a_provider_says_is_quoted_without_the_key_and_cut(dialect):
    said = "key sk-secret \x1b[31mis wrong " + "x" * 10_000
    failure = dialect.wire.failure(400, "invalid_request_error", said)
    _, error = await dialect.failing(failure, api_key="sk-secret")
    assert "sk-secret" not in str(error)
    assert "\x1b" not in str(error)
    assert len(str(error)) < 500


async def test_a_redirect_is_not_followed(dialect):
    elsewhere = Reply(status=307, headers={"location": "http://127.0.0.1:9/"})
    _, error = await dialect.failing(elsewhere)
    assert type(error) is ModelError


async def test_a_refusal_to_answer_is_what_the_model_says():
    body = [*openai.beginning(), openai.chunk({"refusal": "I will not."}), *openai.ending()]
    parts = await DIALECTS["openai"].answer(*body)
    assert parts[0] == {"ending": {"kind": "refusal", "said": "I will not."}}
