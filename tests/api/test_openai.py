"""OpenAI's own client asks the project."""

from contextlib import ExitStack

import pytest

from oracle.api.openai import answering
from oracle.models.stream_chunk import ChunkType, OracleStreamChunk
from oracle.services.embedded.model import EmbeddedModel
from oracle.testing import Reply, signal
from tests.api.test_asking import GatedModel, found, look
from tests.tables import each_row

openai = pytest.importorskip("openai", reason="comes with pydantic-ai-slim[openai]")
ASKED = [{"role": "user", "content": "Where is login defined?"}]


_clients = ExitStack()


@pytest.fixture(autouse=True)
def _closed_clients():
    with _clients:
        yield


def client_of(server):
    """It would read all certificates by itself, which takes longer than a test."""
    http = _clients.enter_context(openai.DefaultHttpxClient(verify=False))
    options = {"api_key": "none", "max_retries": 0, "http_client": http}
    return openai.OpenAI(base_url=f"{server.address}/v1", **options)


@pytest.mark.extra
def test_an_answer_with_its_citations_and_without_signals(serve):
    with serve(look(), found()) as server:
        answer = client_of(server).chat.completions.create(model="oracle", messages=ASKED)
        # The client has the conversation.
        assert server.http.get("/api/sessions").json() == []
        assert len(server.http.get("/api/runs").json()) == 1
    (choice,) = answer.choices
    assert (choice.message.content, choice.finish_reason) == ("It is in `auth.py:1`.", "stop")
    citation = choice.message.annotations[0].url_citation
    assert citation.title == "auth.py:1"
    assert choice.message.content[citation.start_index : citation.end_index] == citation.title
    assert citation.url.startswith(f"{server.address}/api/source?path=auth.py&start=1&end=")
    assert answer.usage.total_tokens > 0


def test_progress_is_streamed_as_reasoning_and_the_answer_as_content(serve):
    with serve(look(), found()) as server:
        chunks = list(
            client_of(server).chat.completions.create(
                model="oracle", messages=ASKED, stream=True, stream_options={"include_usage": True}
            )
        )
    deltas = [chunk.choices[0].delta for chunk in chunks if chunk.choices]
    reasoning = "".join(getattr(delta, "reasoning_content", None) or "" for delta in deltas)
    assert "read file: auth.py" in reasoning
    assert "".join(delta.content or "" for delta in deltas) == "It is in `auth.py:1`."
    assert [c.choices[0].finish_reason for c in chunks if c.choices][-1] == "stop"
    assert chunks[-1].usage.total_tokens > 0


def test_a_draft_is_never_content(serve):
    draft = Reply(
        text="I think it is elsewhere." + signal("need_turn", reason="look"),
        calls=[("read_file", {"path": "auth.py"})],
    )
    with serve(draft, found()) as server:
        stream = client_of(server).chat.completions.create(
            model="oracle", messages=ASKED, stream=True
        )
        text = "".join(c.choices[0].delta.content or "" for c in stream if c.choices)
    assert text == "It is in `auth.py:1`."


def test_the_messages_before_the_last_are_the_history(serve):
    model = GatedModel(look(), found())
    model.gate.set()
    messages = [
        {"role": "system", "content": "You are a pirate."},
        {"role": "user", "content": [{"type": "text", "text": "What is this?"}]},
        {"role": "assistant", "content": "A login service."},
        *ASKED,
    ]
    with serve(model=model) as server:
        client_of(server).chat.completions.create(model="oracle", messages=messages)
        assert server.http.get("/api/sessions").json() == []
    said = str(model.requests[0].messages)
    assert "A login service." in said
    assert "pirate" not in said


def test_brief_is_one_turn_without_tools(serve):
    model = GatedModel("Login basics")
    model.gate.set()
    with serve(model=model) as server:
        answer = client_of(server).chat.completions.create(
            model="oracle-brief", messages=[{"role": "user", "content": "Give this chat a title."}]
        )
    assert answer.choices[0].message.content.startswith("Login basics")
    assert not model.requests[0].tools


TASK = """### Task:
Generate a concise, 3-5 word title.
JSON format: { "title": "your concise title here" }
<chat_history>
USER: Where is the login defined, and who calls it? I need it today.
ASSISTANT: In `auth.py:1`.
</chat_history>"""


@pytest.mark.parametrize(
    ("request_", "answer"),
    [
        (TASK, '{"title": "Where is the login defined, and who calls…"}'),
        (TASK.replace('"title"', '"tags"'), '{"tags": []}'),
        (TASK.replace('"title"', "a title"), "Where is the login defined, and who calls…"),
        ("Give this chat a title.", "Give this chat a title."),
    ],
)
def test_brief_without_a_language_model_is_still_a_title(serve, request_, answer):
    asked = [{"role": "user", "content": request_}]
    with serve(model=EmbeddedModel()) as server:
        got = client_of(server).chat.completions.create(model="oracle-brief", messages=asked)
    assert got.choices[0].message.content == answer


@pytest.mark.parametrize(
    ("body", "param", "code", "words"),
    [
        ({"messages": []}, "messages", "invalid_value", "messages is []: list should have"),
        ({"model": "oracle"}, "messages", "missing_required_parameter", "messages is missing"),
        ({"messages": [{"role": "x"}]}, "messages.0.role", "invalid_value", "is 'x': it should be"),
    ],
)
def test_a_request_that_does_not_fit_is_a_400_as_the_clients_expect(
    serve, body, param, code, words
):
    with serve() as server:
        response = server.http.post("/v1/chat/completions", json=body)
        strange = server.http.post("/v1/embeddings", json={})
    error = response.json()["error"]
    assert (response.status_code, error["type"]) == (400, "invalid_request_error")
    assert (error["param"], error["code"]) == (param, code)
    assert words in error["message"]
    assert strange.status_code == 404
    assert strange.json()["error"]["type"] == "invalid_request_error"
    assert strange.json()["error"]["code"] == "unknown_url"


@each_row(
    ("more", "param", "code"),
    [
        ({"n": 2}, "n", "unsupported_parameter"),
        ({"tools": [{"type": "function", "function": {"name": "f"}}]}, "tools", None),
        ({"response_format": {"type": "json_object"}}, "response_format", None),
        ({"model": "gpt-5"}, "model", "model_not_found"),
        ({"messages": [{"role": "assistant", "content": "Hi"}]}, "messages", "invalid_value"),
        (
            {"messages": [{"role": "user", "content": [{"type": "image_url", "image_url": {}}]}]},
            "messages",
            "unsupported_content",
        ),
    ],
)
def test_what_is_not_supported_is_named(server, more, param, code):
    with pytest.raises(openai.APIStatusError) as caught:
        client_of(server).chat.completions.create(**{"model": "oracle", "messages": ASKED, **more})
    assert caught.value.param == param
    assert caught.value.code == (code or "unsupported_parameter")


def test_sampling_fields_have_no_effect(serve):
    with serve(look(), found()) as server:
        answer = client_of(server).chat.completions.create(
            model="oracle", messages=ASKED, temperature=0.2, top_p=0.9, seed=1, max_tokens=5
        )
    assert answer.choices[0].message.content == "It is in `auth.py:1`."


def test_a_client_that_leaves_cancels_the_run(serve):
    model = GatedModel(look(), found())
    with serve(model=model) as server:
        stream = client_of(server).chat.completions.create(
            model="oracle", messages=ASKED, stream=True
        )
        next(iter(stream))
        assert model.is_reached.wait(20)
        stream.close()
    with serve() as server:
        (run,) = server.http.get("/api/runs").json()
    assert run["stop_reason"] == "cancelled"


@pytest.mark.extra
@pytest.mark.parametrize("stream", [False, True])
def test_the_responses_api(serve, stream):
    with serve(look(), found()) as server:
        client = client_of(server)
        if stream:
            events = list(
                client.responses.create(model="oracle", input=ASKED[0]["content"], stream=True)
            )
            response = events[-1].response
            assert events[0].type == "response.created"
        else:
            response = client.responses.create(model="oracle", input=ASKED)
    assert response.output_text == "It is in `auth.py:1`."


@each_row(
    ("more", "param", "code"),
    [
        ({"tools": [{"type": "web_search"}]}, "tools", "unsupported_parameter"),
        ({"previous_response_id": "r"}, "previous_response_id", "unsupported_parameter"),
        ({"conversation": "c"}, "conversation", "unsupported_parameter"),
        ({"prompt": {"id": "p"}}, "prompt", "unsupported_parameter"),
        ({"background": True}, "background", "unsupported_parameter"),
        ({"text": {"format": {"type": "json_object"}}}, "text.format", "unsupported_parameter"),
        ({"input": []}, "input", "invalid_value"),
        ({"input": " "}, "input", "invalid_value"),
        ({"input": 5}, "input", "invalid_value"),
        ({"input": [{"type": "item_reference"}]}, "input.0.role", "missing_required_parameter"),
        (
            {"input": [{"role": "user", "content": [{"type": "input_image"}]}]},
            "input",
            "unsupported_content",
        ),
    ],
)
def test_what_the_responses_api_does_not_do_is_refused(server, more, param, code):
    asked = {"model": "oracle", "input": "hello", **more}
    reply = server.http.post("/v1/responses", json=asked)
    error = reply.json()["error"]
    assert (reply.status_code, error["param"], error["code"]) == (400, param, code)


def test_what_changes_nothing_is_accepted_by_the_responses_api(serve):
    asked = {"background": False, "text": {"format": {"type": "text"}}, "conversation": None}
    with serve(look(), found()) as server:
        reply = server.http.post("/v1/responses", json={"input": ASKED[0]["content"], **asked})
    assert reply.json()["status"] == "completed"


def test_a_response_that_was_cut_says_so(serve):
    with serve(Reply(text="It is in", ending="filter")) as server:
        response = client_of(server).responses.create(model="oracle-brief", input="hello")
    assert response.status == "incomplete"
    assert response.incomplete_details.reason == "content_filter"


STREAMS = (
    ("chat/completions", {"messages": ASKED}),
    ("responses", {"input": ASKED}),
)


@pytest.mark.parametrize(("path", "body"), STREAMS)
def test_a_silent_stream_gives_a_sign_of_life(serve, path, body, monkeypatch):
    monkeypatch.setattr(answering, "SECONDS_BETWEEN_BEATS", 0.01)
    model = GatedModel(look(), found())
    with serve(model=model) as server:
        asked = {**body, "stream": True}
        with server.http.stream("POST", f"/v1/{path}", json=asked) as events:
            assert model.is_reached.wait(20)
            lines = events.iter_lines()
            assert any(line.startswith(":") for line in lines)
            model.gate.set()
            assert "It is in `auth.py:1`." in "".join(lines)


@pytest.mark.parametrize(("seconds", "told"), [(0, ["", "", "Hm."]), (60, ["Hm."])])
async def test_a_draft_that_is_not_shown_is_no_sign_of_life(monkeypatch, seconds, told):
    class Drafting:
        async def follow(self, beat):
            types = (ChunkType.CONTENT, ChunkType.CONTENT, ChunkType.REASONING)
            for number, type_ in enumerate(types):
                yield [(number, OracleStreamChunk(type=type_, data={"content": "Hm."}))]

    monkeypatch.setattr(answering, "SECONDS_BETWEEN_BEATS", seconds)
    assert [each async for each in answering.progress_of(Drafting())] == told


@pytest.mark.parametrize(("path", "body"), STREAMS)
def test_a_stream_that_the_server_ends_has_an_error(serve, path, body):
    model = GatedModel(look(), found())
    with serve(model=model, seconds_to_close=0) as server:
        asked = {**body, "stream": True}
        with server.http.stream("POST", f"/v1/{path}", json=asked) as events:
            assert model.is_reached.wait(20)
            server.stop()
            said = "".join(events.iter_lines())
    assert "the server stops" in said
    assert "RunHandedOver" in said


def test_two_models_are_listed(serve):
    with serve() as server:
        listed = [model.id for model in client_of(server).models.list()]
        assert client_of(server).models.retrieve("oracle").id == "oracle"
    assert listed == ["oracle", "oracle-brief"]


HOSTILE = {
    "deep": (b"[" * 100_000, "nested too deeply"),
    "number": (b'{"n": ' + b"9" * 5_000 + b"}", "digits"),
    "bytes": (b'{"question": "\xff"}', "not UTF-8"),
    "syntax": (b"{", "is not JSON"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_body_that_cannot_be_read_is_named_in_each_shape(serve, name):
    body, words = HOSTILE[name]
    headers = {"Content-Type": "application/json"}
    with serve() as server:
        ours = server.http.post("/api/oracle", content=body, headers=headers)
        theirs = server.http.post("/v1/chat/completions", content=body, headers=headers)
    assert (ours.json()["error"]["kind"], words in ours.text) == ("InvalidRequest", True)
    error = theirs.json()["error"]
    assert (theirs.status_code, error["code"], words in error["message"]) == (
        400,
        "invalid_json",
        True,
    )


def test_a_body_that_is_too_large_has_a_code(serve, root):
    (root / "oracle.toml").write_text("[server]\nmost_bytes = 1000\n")
    with serve() as server:
        said = server.http.post("/v1/responses", content=b"a" * 2_000)
    assert (said.status_code, said.json()["error"]["code"]) == (413, "request_too_large")


@pytest.mark.parametrize("stream", [0, 1, "yes"])
@pytest.mark.parametrize(
    ("path", "field"), [("chat/completions", "messages"), ("responses", "input")]
)
def test_a_flag_is_true_or_false(serve, path, field, stream):
    asked = {field: [{"role": "user", "content": "hello"}], "stream": stream}
    with serve() as server:
        error = server.http.post(f"/v1/{path}", json=asked).json()["error"]
    assert (error["param"], error["code"]) == ("stream", "invalid_value")


def test_null_is_the_same_as_nothing(serve):
    asked = {"messages": ASKED, "stream": None, "stream_options": None, "n": None, "tools": None}
    with serve(look(), found()) as server:
        reply = server.http.post("/v1/chat/completions", json=asked)
    assert reply.json()["choices"][0]["finish_reason"] == "stop"
