"""A question over HTTP: whole, streamed, from any place on, cancelled, approved, resumed."""

import asyncio
import json
import threading
from contextlib import contextmanager

import pytest

from oracle.bt.wrappers.retelling import chunks_of
from oracle.testing import Reply, ScriptedModel, signal

QUESTION = {"question": "Where is login defined?"}


def look():
    return Reply(
        text=signal("need_turn", reason="look"), calls=[("read_file", {"path": "auth.py"})]
    )


def found(text="It is in `auth.py:1`."):
    return text + signal("context_sufficient", sources_found=1)


def events_in(lines):
    """The events of a stream, as (id, type, data)."""
    event = {}
    for line in lines:
        if line.startswith(":"):
            continue
        if not line and event:
            yield event.get("id"), event["event"], json.loads(event["data"])
            event = {}
        elif line:
            name, _, value = line.partition(": ")
            event[name] = value


def streamed(server, path="/api/oracle/stream", **options):
    with server.http.stream("POST", path, json=QUESTION, **options) as response:
        assert response.status_code == 200, response.read()
        return list(events_in(response.iter_lines()))


@contextmanager
def asked(server):
    """Ask, and leave at the end of the block."""
    with server.http.stream("POST", "/api/oracle/stream", json=QUESTION) as response:
        yield events_in(response.iter_lines())


class Gate:
    """An event for another thread's event loop."""

    def __init__(self):
        self._is_open = False
        self._waiting = []

    def set(self):
        self._is_open = True
        for loop, event in self._waiting:
            loop.call_soon_threadsafe(event.set)

    async def wait(self):
        event = asyncio.Event()
        self._waiting.append((asyncio.get_running_loop(), event))
        if not self._is_open:
            await event.wait()


class GatedModel(ScriptedModel):
    """Waits before its last reply until the gate is opened."""

    def __init__(self, *replies):
        super().__init__(*replies)
        self.gate = Gate()
        self.is_reached = threading.Event()

    async def stream(self, request):
        if len(self.requests) == len(self._replies) - 1:
            self.is_reached.set()
            await self.gate.wait()
        async for part in super().stream(request):
            yield part


def test_the_whole_answer_comes_with_its_sources(serve):
    with serve(look(), found()) as server:
        answer = server.ask().json()
    assert (answer["text"], answer["stop_reason"]) == ("It is in `auth.py:1`.", "answered")
    assert [source["path"] for source in answer["sources"] if source["cited"]] == ["auth.py"]


def test_a_stream_numbers_its_chunks_and_ends_with_done(serve):
    with serve(look(), found()) as server:
        events = streamed(server)
    run_id = events[-1][2]["run_id"]
    assert [id_ for id_, _, _ in events] == [f"{run_id}:{n}" for n in range(len(events))]
    assert "question" in [kind for _, kind, _ in events][:2]
    assert (events[-1][1], events[-1][2]["answer"]) == ("done", "It is in `auth.py:1`.")


def test_a_stream_goes_on_after_any_event_also_when_the_run_has_ended(serve):
    with serve(look(), found()) as server:
        events = streamed(server)
        for at in (0, len(events) // 2, len(events) - 2):
            rest = streamed(server, headers={"Last-Event-ID": events[at][0]})
            assert rest == events[at + 1 :]
        assert streamed(server, headers={"Last-Event-ID": events[-1][0]}) == []


def test_what_a_client_has_heard_is_in_the_record_at_once(serve):
    """So a server that is killed takes nothing back."""
    model = ScriptedModel(look(), Reply(text="It is in `auth.py:1`, ", hold=asyncio.Event()))
    with serve(model=model, seconds_to_close=0) as server, asked(server) as events:
        heard = []
        for id_, kind, data in events:
            heard.append((id_, kind, data.get("content")))
            if kind == "content":
                break
        run_id = heard[0][0].partition(":")[0]
        chunks = server.run(chunks_of(server.door.store, run_id, has_end=False))
    told = [(f"{run_id}:{n}", c.type.value, c.data.get("content")) for n, c in enumerate(chunks)]
    assert told[: len(heard)] == heard


def test_a_run_goes_on_when_its_client_leaves_and_nothing_is_lost(serve):
    model = GatedModel(look(), found())
    with serve(model=model) as server:
        with asked(server) as events:
            first = next(events)
        assert model.is_reached.wait(20)
        model.gate.set()
        rest = streamed(server, headers={"Last-Event-ID": first[0]})
    assert [int(id_.rpartition(":")[2]) for id_, _, _ in rest] == list(range(1, len(rest) + 1))
    assert rest[-1][2]["stop_reason"] == "answered"


def test_a_cancelled_run_still_has_an_answer(serve):
    model = GatedModel(look(), found())
    with serve(model=model) as server, asked(server) as events:
        run_id = next(events)[0].partition(":")[0]
        assert model.is_reached.wait(20)
        assert server.http.post(f"/api/runs/{run_id}/cancel").status_code == 202
        *_, (_, kind, done) = events
        model.gate.set()
    assert (kind, done["stop_reason"]) == ("done", "cancelled")
    assert "auth.py" in done["answer"]


@pytest.mark.parametrize("is_yes", [True, False])
def test_a_person_is_asked_over_http(serve, root, is_yes):
    ask = signal("need_capability", capability="write_note", reason="to keep it")
    write = Reply(calls=[("write_note", {"title": "Login", "content": "It is in auth.py."})])
    after = write if is_yes else found()
    with serve(look(), "Hm." + ask, after, found()) as server:
        with asked(server) as events:
            for _, kind, chunk in events:
                if kind == "approval":
                    run_id = chunk["id"].partition("-")[0]
                    (waiting,) = server.http.get(f"/api/runs/{run_id}/approvals").json()
                    assert waiting["id"] == chunk["id"]
                    reply = server.http.post(
                        f"/api/runs/{run_id}/approvals/{chunk['id']}", json={"approve": is_yes}
                    )
                    assert reply.status_code == 200
        again = server.http.post(
            f"/api/runs/{run_id}/approvals/{chunk.get('id', 'x')}", json={"approve": True}
        )
    assert list(root.rglob("*ogin*.md")) != [] if is_yes else list(root.rglob("*ogin*.md")) == []
    assert again.status_code == 404


def test_a_server_that_stops_hands_its_runs_over_to_the_next(serve):
    model = GatedModel(look(), found())
    with serve(model=model, seconds_to_close=0) as server:
        with asked(server) as events:
            seen = [next(events)]
            assert model.is_reached.wait(20)
            while seen[-1][2]["turn"] < 2:
                seen.append(next(events))
            # The last event is not part of the run, and has no number.
            server.run(server.door.runs.close(0))
            *more, (id_, kind, _) = events
            assert (id_, kind) == (None, "interrupted")
            seen += more
        server.stop()
    with serve(found()) as server:
        rest = streamed(server, headers={"Last-Event-ID": seen[-1][0]})
        assert rest[-1][2]["stop_reason"] == "answered"
        run = server.http.get("/api/runs").json()[0]
        assert run["status"] == "done"
        # Nothing is lost and nothing comes twice: the record says what the client has heard.
        with server.http.stream("GET", f"/api/runs/{run['id']}/stream") as response:
            told = list(events_in(response.iter_lines()))
        # All but the clock: what a resumed run has used is counted anew.
        heard = [(id_, kind, data.get("content")) for id_, kind, data in seen + rest]
        assert [(id_, kind, data.get("content")) for id_, kind, data in told] == heard


def test_who_waits_for_the_whole_answer_is_told_that_the_server_stops(serve):
    model = GatedModel(look(), found())
    replies = []
    with serve(model=model, seconds_to_close=0) as server:
        waiting = threading.Thread(target=lambda: replies.append(server.ask()))
        waiting.start()
        assert model.is_reached.wait(20)
        (live,) = server.door.runs.all()
        server.run(live.hand_over())
        waiting.join(20)
    (reply,) = replies
    assert (reply.status_code, reply.json()["error"]["kind"]) == (503, "RunHandedOver")


def test_one_run_too_many_is_told_to_come_back(serve):
    model = GatedModel(look(), found())
    with serve(model=model, most_runs=1) as server, asked(server) as events:
        next(events)
        refused = server.ask()
        model.gate.set()
        assert [*events][-1][1] == "done"
    assert (refused.status_code, refused.headers["Retry-After"]) == (429, "2")
    assert refused.json()["error"]["kind"] == "TooManyRuns"


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({}, 422),
        ({"question": ""}, 422),
        ({"question": "x", "colour": "red"}, 422),
        ({"question": "x", "context_id": "nothing"}, 404),
        ({"question": "x", "session_id": "nothing"}, 404),
        ({"question": "\u200b"}, 400),
        ({"question": "x", "attachments": ["/etc/passwd"]}, 400),
        ({"question": "x", "attachments": ["/etc/hostname:1-5"]}, 400),
        ({"question": "x", "attachments": ["/etc/no-such-file"]}, 400),
        ({"question": "x", "attachments": ["../other.py"]}, 400),
        ({"question": "x", "attachments": ["~/.bashrc"]}, 400),
        ({"question": "x", "attachments": ["missing.py"]}, 404),
    ],
)
def test_a_bad_question_gets_a_clear_error(serve, body, status):
    with serve(model=ScriptedModel("Hm.", repeats_last=True)) as server:
        response = server.http.post("/api/oracle", json=body)
    assert response.status_code == status, response.text
    assert response.json()["error"]["message"]


def test_an_unknown_run_is_not_found(serve):
    with serve() as server:
        for path in ("/api/runs/none", "/api/runs/none/stream", "/api/runs/none/export"):
            assert server.http.get(path).status_code == 404, path
        assert server.http.post("/api/runs/none/cancel").status_code == 404
        bad = server.http.get("/api/runs/x/stream", headers={"Last-Event-ID": "last"})
    assert bad.status_code == 400


@pytest.mark.parametrize(
    ("request_", "words"),
    [
        ({"json": {"question": "x", "sesion_id": "y"}}, "did you mean 'session_id'?"),
        ({"json": {}}, "question is missing; send it"),
        ({"content": "x", "headers": {"Content-Type": "application/json"}}, "is not JSON"),
        ({"content": '{"question": "x"}'}, "the header Content-Type: application/json"),
        ({"json": {"question": 7}}, "question is 7: it should be a valid string"),
    ],
)
def test_a_mistake_is_named_with_the_next_step(serve, request_, words):
    with serve() as server:
        response = server.http.post("/api/oracle", **request_)
    assert response.status_code == 422
    assert words in response.json()["error"]["message"]


def test_a_path_that_does_not_exist_says_where_to_look(serve):
    with serve() as server:
        start = server.http.get("/nothing").json()["error"]
        near = server.http.get("/api/session").json()["error"]["message"]
        wrong = server.http.get("/api/oracle").json()["error"]
        unknown = server.http.get("/api/runs/zzzz").json()["error"]["message"]
    assert start == {
        "kind": "NotFound",
        "message": "there is no '/nothing'; `GET /docs` lists what there is",
    }
    assert "did you mean '/api/sessions'?" in near
    assert wrong == {
        "kind": "MethodNotAllowed",
        "message": "'/api/oracle' does not take GET; use POST",
    }
    assert "`GET /api/runs`" in unknown


@pytest.mark.extra
def test_the_last_run_has_a_name(serve):
    with serve(look(), found()) as server:
        server.ask()
        told = server.http.get("/api/runs/last")
    assert told.status_code == 200


def test_a_cited_file_can_be_read_and_nothing_else(serve, root):
    (root / ".env").write_text("KEY=1")
    with serve() as server:
        lines = server.http.get("/api/source", params={"path": "auth.py", "start": 1, "end": 1})
        secret = server.http.get("/api/source", params={"path": ".env"})
        outside = server.http.get("/api/source", params={"path": "/etc/hostname"})
    assert lines.text == "def login():"
    assert lines.headers["content-type"] == "text/plain; charset=utf-8"
    assert (secret.status_code, outside.status_code) == (404, 404)


def test_a_warning_at_the_beginning_has_its_number_in_the_record_too(serve, root):
    (root / ".oracle" / "prompts").mkdir(parents=True, exist_ok=True)
    prompt = root / ".oracle" / "prompts" / "house.md"
    prompt.write_text("---\nid: house\n---\nSpeak of tea.\n")
    with serve(look(), found()) as server:
        prompt.write_text("---\nid: \n")
        heard = streamed(server)
        assert heard[0][1] == "system"
        assert "house.md" in heard[0][2]["content"]
        run_id = heard[-1][2]["run_id"]
        again = events_in(server.http.get(f"/api/runs/{run_id}/stream").text.split("\n"))
        assert [event[:2] for event in again] == [event[:2] for event in heard]
