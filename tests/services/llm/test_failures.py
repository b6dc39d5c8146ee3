import socket

import pytest

from oracle.errors import (
    ContextTooLong,
    ModelError,
    ModelOverloaded,
    ModelRefused,
    ModelUnreachable,
)
from oracle.services.llm.failures import _duration
from oracle.services.llm.opening import open_model
from oracle.services.llm.providers import PROVIDERS
from oracle.testing.servers import Reply, ScriptedServer, anthropic, openai
from tests.services.llm.dialects import DIALECTS, Dialect, asking

REFUSALS = {
    "bad_key": (ModelRefused, "refused the key (401: ", "model.key_variable"),
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


async def test_a_404_that_does_not_name_the_model_is_about_the_address(dialect):
    _, error = await dialect.failing(Reply(status=404, body=[b'{"detail": "Not Found"}']))
    assert type(error) is ModelRefused
    assert "does not know this address (404" in str(error)
    assert "has no model" not in str(error)


@pytest.mark.parametrize(("path", "is_advised"), [("", True), ("/v1", False), ("/v1/", False)])
async def test_the_usual_end_of_an_address_is_advised_if_it_is_missing(path, is_advised):
    async with ScriptedServer(Reply(status=404, body=[b"404 page not found"])) as server:
        model = open_model("openai:m", base_url=server.url + path, context_window=8_000)
        with pytest.raises(ModelRefused, match="does not know this address") as raised:
            async for _ in model.stream(asking("hi")):
                pass
    assert ("often end in /v1" in str(raised.value)) is is_advised


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


TOO_LONG = {
    "openai": (400, "This model's maximum context length is 8192 tokens. However, your messages"),
    "openai per minute": (
        429,
        "Request too large for gpt-4o on tokens per min (TPM): Limit 30000, Requested 45000. The "
        "input or output tokens must be reduced in order to run successfully.",
    ),
    "openai string": (400, "Invalid 'messages[1].content': string too long. Expected a string"),
    "anthropic": (400, "prompt is too long: 208310 tokens > 200000 maximum"),
    "anthropic sum": (
        400,
        "input length and `max_tokens` exceed context limit: 190000 + 16384 > 200000",
    ),
    "anthropic output": (400, "max_tokens: 32000 > 8192, which is the maximum allowed number"),
    "gemini": (
        400,
        "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
    ),
    "ollama": (500, "the input length exceeds the context length"),
    "llama.cpp": (400, "the request exceeds the available context size, try increasing it"),
    "llama.cpp code": (400, "request (9000 tokens) exceed_context_size_error"),
    "llama.cpp old": (500, "the request exceeds the available context size. try increasing it"),
    "vllm": (
        400,
        "The decoder prompt (length 5000) is longer than the maximum model length of 4096.",
    ),
    "vllm output": (400, "max_tokens must be at least 1, got -904."),
    "openrouter": (
        400,
        "This endpoint's maximum context length is 32768 tokens. However, you requested 40000",
    ),
    "mistral": (
        422,
        "Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum "
        "context length",
    ),
    "groq": (413, "Request too large for model `llama-3.1-8b-instant`"),
    "groq words": (400, "Please reduce the length of the messages or completion."),
    "xai": (
        400,
        "This model's maximum prompt length is 131072 but the request contains 537812 tokens.",
    ),
    "sglang": (
        400,
        "The input (5000 tokens) is longer than the model's context length (4096 tokens).",
    ),
    "tgi": (422, "Input validation error: `inputs` must have less than 1024 tokens. Given: 4000"),
    "bedrock": (400, "Input is too long for requested model."),
    "lm studio": (
        400,
        "Trying to keep the first 5000 tokens when context the overflows. However, the model is "
        "loaded with context length of only 4096 tokens",
    ),
    "cohere": (400, "too many tokens: total number of tokens in the prompt cannot exceed 4081"),
}


@pytest.mark.parametrize(("status", "message"), TOO_LONG.values(), ids=TOO_LONG)
async def test_a_context_that_is_too_long_is_known_by_its_words(dialect, status, message):
    failure = dialect.wire.failure(status, "invalid_request_error", message)
    _, error = await dialect.failing(failure)
    assert type(error) is ContextTooLong


async def test_a_context_that_is_too_long_may_be_noticed_in_mid_stream(dialect):
    sent = dialect.wire.error_event("server_error", "Context size has been exceeded.")
    _, error = await dialect.failing(Reply(body=[*dialect.wire.beginning(), sent]))
    assert type(error) is ContextTooLong


@pytest.mark.parametrize(
    ("status", "message", "kind"),
    [
        (401, "the prompt is too long", ModelRefused),
        (404, "no model with a context window like that", ModelRefused),
        (
            429,
            "Rate limit reached for gpt-4o on tokens per min: Limit 30000, Used 29000",
            None,
        ),
        (400, "messages: roles must alternate", ModelRefused),
        (400, "the name of a tool is not valid", ModelRefused),
        (500, "internal error", None),
    ],
)
async def test_what_only_sounds_like_it_is_not_taken_for_too_long(dialect, status, message, kind):
    _, error = await dialect.failing(dialect.wire.failure(status, "some_error", message))
    assert type(error) is (kind or ModelOverloaded)


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
    assert type(caught.value) is ModelUnreachable


async def test_a_missing_key_and_a_wrong_key_have_different_errors(dialect):
    _, error = await dialect.failing(dialect.wire.bad_key())
    assert "needs a key and got none: set a variable to the key, name it with" in str(error)
    assert "`oracle config set model.key_variable NAME --user`" in str(error)


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


@pytest.mark.parametrize(
    ("seconds", "words"), [(0.2, "1 s"), (40, "40 s"), (90, "2 min"), (3600, "1 h"), (5400, "2 h")]
)
def test_a_time_to_wait_is_rounded_up_to_a_unit_that_people_read(seconds, words):
    assert _duration(seconds) == words
