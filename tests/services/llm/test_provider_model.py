import asyncio
from contextlib import aclosing, contextmanager
from threading import Thread

import pytest

from oracle.errors import ModelBrokeOff, ModelError, ModelOverloaded
from oracle.models.tool_spec import ToolSpec
from oracle.services.llm import provider_model
from oracle.services.llm.protocol import ModelRequest
from oracle.testing.servers import Drop, Reply, ScriptedServer, Stall, in_pieces, openai
from tests.services.llm.dialects import Dialect, asking
from tests.tables import each_row

SEARCH = ToolSpec(
    name="search",
    description="Find something.",
    parameters={
        "type": "object",
        "properties": {"q": {"type": "string", "minLength": 1}},
        "required": ["q"],
        "additionalProperties": False,
    },
)


def texts(parts, kind="text"):
    return [part[kind] for part in parts if kind in part]


async def test_an_answer_comes_in_parts_and_usage_comes_last(dialect):
    wire = dialect.wire
    body = wire.stream(wire.reasoning("let ", "me"), wire.text("Hel", "lo"), usage=(30, 5))
    assert await dialect.answer(*body) == [
        {"reasoning": "let "},
        {"reasoning": "me"},
        {"text": "Hel"},
        {"text": "lo"},
        {"usage": {"input_tokens": 30, "output_tokens": 5}},
    ]


@pytest.mark.parametrize("size", [1, 2, 3, 7, 64])
async def test_packets_may_be_cut_anywhere(dialect, size):
    wire = dialect.wire
    body = wire.stream(wire.text("Grüße ", "an 東京 🎉", '\n"quoted"\\'))
    parts = await dialect.answer(*in_pieces(body, size))
    assert "".join(texts(parts)) == 'Grüße an 東京 🎉\n"quoted"\\'


async def test_many_events_may_come_in_one_packet(dialect):
    wire = dialect.wire
    body = wire.stream(wire.text(*"abcdef"))
    assert texts(await dialect.answer(b"".join(body))) == [*"abcdef"]


async def test_halves_of_characters_do_no_harm(dialect):
    wire = dialect.wire
    call = wire.tool_call("c1", "search", '{"q": "\\ud83c\\udf89 \\ud83c"}')
    body = [_escaped(event) for event in wire.stream(wire.text("a\ud83cb", "ok"), call)]
    parts = await dialect.answer(*body)
    assert texts(parts) == ["a\ufffdb", "ok"]
    assert texts(parts, "tool_call")[0]["arguments"] == {"q": "🎉 \ufffd"}


def _escaped(event):
    return event.replace("\ud83c".encode("utf-8", "surrogatepass"), rb"\ud83c")


async def test_text_that_cannot_be_encoded_is_sent_with_a_mark(dialect):
    assert "odd \ufffd name" in str((await dialect.sent(asking("odd \udcff name"))).body)


async def test_pings_and_comments_are_passed_over(dialect):
    wire = dialect.wire
    body = wire.stream(wire.text("a", "b"))
    busy = [sent for event in body for sent in (wire.PING, wire.KEEP_ALIVE, event)]
    assert texts(await dialect.answer(*busy)) == ["a", "b"]


async def test_calls_come_whole_however_they_were_sent(dialect):
    wire = dialect.wire
    first = wire.tool_call("c1", "search", '{"q', '": "x', '"}')
    second = wire.tool_call("c2", "list", "{}")
    parts = await dialect.answer(*wire.stream(wire.text("I look."), first, second))
    assert texts(parts, "tool_call") == [
        {"id": "c1", "name": "search", "arguments": {"q": "x"}},
        {"id": "c2", "name": "list", "arguments": {}},
    ]
    assert "usage" in parts[-1]


@pytest.mark.parametrize("written", ['{"q": ', "[1, 2]", '"text"', "null", "[" * 5000])
async def test_arguments_that_are_no_object_are_handed_on_as_text(dialect, written):
    wire = dialect.wire
    parts = await dialect.answer(*wire.stream(wire.tool_call("c1", "search", written)))
    assert texts(parts, "tool_call")[0]["arguments"] == written


async def test_a_call_without_arguments_has_an_empty_object(dialect):
    parts = await dialect.answer(*dialect.wire.stream(dialect.wire.tool_call("c1", "list")))
    assert texts(parts, "tool_call") == [{"id": "c1", "name": "list", "arguments": {}}]


async def test_input_from_the_cache_counts_as_input(dialect):
    body = dialect.wire.stream(dialect.wire.text("x"), usage=(1000, 5), cached=900)
    parts = await dialect.answer(*body)
    assert parts[-1] == {"usage": {"input_tokens": 1000, "output_tokens": 5}}


async def test_usage_that_is_not_reported_is_not_made_up(dialect):
    body = dialect.wire.stream(dialect.wire.text("five words are in here"), usage=(0, 0))
    assert not texts(await dialect.answer(*body), "usage")


async def test_an_empty_answer_is_just_its_usage(dialect):
    assert [*map(list, await dialect.answer(*dialect.wire.stream()))] == [["usage"]]


async def test_the_tools_reach_the_provider_as_they_are(dialect):
    (tool,) = (await dialect.sent(asking("hi", tools=[SEARCH]))).body["tools"]
    told = tool.get("function", tool)
    assert (told["name"], told["description"]) == ("search", "Find something.")
    assert told.get("parameters", told.get("input_schema")) == SEARCH.parameters


async def test_without_tools_none_are_sent(dialect):
    assert not (await dialect.sent(asking("hi"))).body.get("tools")


@pytest.mark.parametrize(("asked", "sent"), [(None, 300), (100, 100)])
async def test_the_longest_output_is_the_request_s_or_the_model_s(dialect, asked, sent):
    request = asking("hi", longest_output=asked)
    body = (await dialect.sent(request, longest_output=300)).body
    assert body.get("max_tokens", body.get("max_completion_tokens")) == sent


@each_row(
    ("name", "field"),
    [
        ("openai:gpt-5", "max_completion_tokens"),
        ("openai:o3", "max_completion_tokens"),
        ("openai:gpt-oss-20b", "max_tokens"),
        ("openai:openchat", "max_tokens"),
        ("ollama:llama3.2", "max_tokens"),
    ],
)
async def test_the_limit_has_the_name_that_the_model_knows(name, field):
    body = (await Dialect(openai, name).sent(asking("hi"))).body
    assert [key for key in body if key.startswith("max_")] == [field]


async def test_the_key_that_is_given_is_sent(dialect):
    request = await dialect.sent(asking("hi"), api_key="sk-mine")
    assert request.headers["authorization"] == "Bearer sk-mine"


async def test_a_key_from_the_environment_does_not_follow_a_base_url(dialect):
    environment = {"ANTHROPIC_API_KEY": "sk-secret", "OPENAI_API_KEY": "sk-secret"}
    request = await dialect.sent(asking("hi"), environment=environment)
    assert "sk-secret" not in str(request)


async def test_nor_do_headers_and_names_from_the_environment(dialect, monkeypatch):
    for name in ("ANTHROPIC_CUSTOM_HEADERS", "OPENAI_CUSTOM_HEADERS"):
        monkeypatch.setenv(name, "X-Secret: hidden\nAuthorization: hidden")
    for name in ("OPENAI_ORG_ID", "OPENAI_PROJECT_ID", "ANTHROPIC_AUTH_TOKEN"):
        monkeypatch.setenv(name, "hidden")
    request = await dialect.sent(asking("hi"), api_key="sk-mine")
    assert "hidden" not in str(request)
    assert request.headers["authorization"] == "Bearer sk-mine"


@pytest.mark.parametrize(
    "end", [(), (Drop(),)], ids=["the answer ends too early", "the connection is cut"]
)
async def test_a_stream_that_breaks_off_is_an_error_after_what_had_come(dialect, end):
    wire = dialect.wire
    body = [*wire.beginning(), *wire.events(wire.text("half", " an"))[:3], *end]
    heard, error = await dialect.failing(Reply(body=body))
    assert "".join(texts(heard)).startswith("half")
    assert type(error) is ModelBrokeOff
    assert "broke off" in str(error)


async def test_calls_of_a_broken_answer_are_not_handed_out(dialect):
    wire = dialect.wire
    body = [*wire.beginning(), *wire.events(wire.tool_call("c1", "delete", "{}")), Drop()]
    heard, _ = await dialect.failing(Reply(body=body))
    assert heard == []


@pytest.mark.parametrize("when", ["before the first byte", "in the middle"])
async def test_a_stream_that_sends_nothing_for_too_long_is_an_error(dialect, when):
    begun = dialect.wire.beginning() if when == "in the middle" else []
    async with ScriptedServer(Reply(body=[*begun, Stall()])) as server:
        model = dialect.open(server, stall_seconds=0.05)
        with pytest.raises(ModelError, match=r"sent nothing for 0\.05 seconds"):
            async for _ in model.stream(asking("hi")):
                pass
        await asyncio.wait_for(server.left.wait(), 5)


async def test_an_error_in_the_middle_of_a_stream_is_raised(dialect):
    wire = dialect.wire
    body = [*wire.beginning(), *wire.events(wire.text("so far")), wire.overload_event()]
    with pytest.raises(ModelOverloaded, match="cannot answer at the moment"):
        await dialect.answer(*body)


@pytest.mark.parametrize("noise", [b"data: {broken\n\n", b"\xff\xfe", b"data: 5\n\n", b"<html>"])
async def test_noise_in_place_of_a_stream_is_an_error(dialect, noise):
    with pytest.raises(ModelError) as problem:
        await dialect.answer(noise)
    assert "check that a server with the protocol of" in str(problem.value)
    assert "http://127.0.0.1" in str(problem.value)


async def test_closing_the_iterator_closes_the_connection(dialect):
    wire = dialect.wire
    body = [*wire.beginning(), *wire.events(wire.text("on and on")), Stall()]
    async with ScriptedServer(Reply(body=body)) as server:
        async with aclosing(dialect.open(server, attempts=3).stream(asking("hi"))) as parts:
            assert await anext(parts) == {"text": "on and on"}
            assert not server.left.is_set()
        await asyncio.wait_for(server.left.wait(), 5)


async def test_cancelling_who_waits_closes_the_connection(dialect):
    async with ScriptedServer(Reply(body=[*dialect.wire.beginning(), Stall()])) as server:
        parts = dialect.open(server, attempts=3).stream(asking("hi"))
        waiting = asyncio.ensure_future(anext(parts))
        await asyncio.wait_for(server.stalled.wait(), 5)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        await asyncio.wait_for(server.left.wait(), 5)


async def test_requests_may_run_at_the_same_time(dialect):
    wire = dialect.wire
    replies = [Reply(body=wire.stream(wire.text(f"answer {n}"))) for n in range(5)]
    async with ScriptedServer(*replies) as server:
        model = dialect.open(server)

        async def ask():
            return [part async for part in model.stream(asking("hi"))]

        answers = await asyncio.gather(*(ask() for _ in range(5)))
    assert sorted(texts(parts)[0] for parts in answers) == [f"answer {n}" for n in range(5)]


async def test_a_request_without_a_prompt_has_no_system_message(dialect):
    body = (await dialect.sent(asking("hi"))).body
    assert "system" not in body
    assert [message["role"] for message in body["messages"]] == ["user"]


async def test_the_prompt_is_the_system_prompt(dialect):
    conversation = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "hi"}]
    body = (await dialect.sent(ModelRequest(messages=conversation))).body
    system = body["system"][0]["text"] if "system" in body else body["messages"][0]["content"]
    assert system == "Be brief."


def test_a_model_may_be_used_in_one_event_loop_after_another(dialect):
    """It keeps no connection open, which would belong to the first loop."""
    reply = Reply(body=dialect.wire.stream(dialect.wire.text("here")))
    with served_from_a_thread(ScriptedServer(reply, reply)) as server:
        model = dialect.open(server)

        async def ask():
            return [part async for part in model.stream(asking("hi"))]

        assert asyncio.run(ask()) == asyncio.run(ask())


@contextmanager
def served_from_a_thread(server):
    loop = asyncio.new_event_loop()
    thread = Thread(target=loop.run_forever)
    thread.start()
    asyncio.run_coroutine_threadsafe(server.__aenter__(), loop).result()
    yield server
    asyncio.run_coroutine_threadsafe(server.__aexit__(None, None, None), loop).result()
    loop.call_soon_threadsafe(loop.stop)
    thread.join()
    loop.close()


async def test_a_server_that_keeps_the_stream_open_after_the_finish_reason_holds_nothing_up(
    dialect, monkeypatch
):
    monkeypatch.setattr(provider_model, "SECONDS_AFTER_FINISH", 0.01)
    monkeypatch.setattr(provider_model, "SECONDS_BETWEEN_LOOKS", 0.01)
    wire = dialect.wire
    *body, last = wire.stream(wire.text("It is so."))
    assert b"DONE" in last or b"message_stop" in last
    keep_alive = [b": keep-alive\n\n"] * 3
    async with ScriptedServer(Reply(body=[*body, *keep_alive, Stall()])) as server:
        parts = await asyncio.wait_for(_all(dialect.open(server)), 20)
        await asyncio.wait_for(server.left.wait(), 20)
    assert "".join(part.get("text", "") for part in parts) == "It is so."
    assert parts[-1] == {"usage": {"input_tokens": 11, "output_tokens": 7}}


async def _all(model):
    return [part async for part in model.stream(asking("hi"))]
