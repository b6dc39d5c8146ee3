"""Two users of one server: over every route, what is Ann's does not exist for Bob."""

import threading

import pytest

from oracle.api.rules import RULES
from oracle.bt.wrappers.retelling import chunks_of
from oracle.services.comparison.comparing import Comparison
from oracle.services.comparison.facts import facts_of
from oracle.testing import Reply, ScriptedModel, signal
from tests.api.conftest import serving
from tests.api.test_access import PAGE, bearer, make
from tests.api.test_asking import GatedModel, events_in, found, look
from tests.tables import each_row

WANTED = signal("need_capability", capability="write_note", reason="to keep it")
WRITE = Reply(calls=[("write_note", {"title": "Login", "content": "It is in auth.py."})])
QUESTION = {"question": "Where is login defined?"}


class World:
    """Ann has a conversation, and a run that waits for her yes. Bob has nothing."""

    def __init__(self, server):
        self.server = server
        self.ann, self.bob = (bearer(make(server, user)) for user in ("ann", "bob"))
        answer = self.send(self.ann, "POST", "/api/oracle", json=QUESTION).json()
        (session,) = self.send(self.ann, "GET", "/api/sessions").json()
        self.ids = {
            "run_id": answer["run_id"],
            "session_id": session["id"],
            "context_id": answer["context_id"],
        }
        self._compare(answer["run_id"])
        self._listening = threading.Thread(target=self._ask_for_a_yes)
        self._asked = threading.Event()
        self._listening.start()
        assert self._asked.wait(30)

    def send(self, who, method, path, **more):
        headers = {**who, **more.pop("headers", {})}
        return self.server.http.request(method, path, headers=headers, **more)

    def close(self):
        path = f"/api/runs/{self.ids['waiting']}/approvals/{self.ids['approval_id']}"
        assert self.send(self.ann, "POST", path, json={"approve": False}).status_code == 200
        self._listening.join(30)

    def _ask_for_a_yes(self):
        stream = self.server.http.stream(
            "POST", "/api/oracle/stream", json=QUESTION, headers=self.ann
        )
        with stream as response:
            for id_, kind, chunk in events_in(response.iter_lines()):
                if kind == "approval":
                    self.ids |= {"waiting": id_.partition(":")[0], "approval_id": chunk["id"]}
                    self._asked.set()

    def _compare(self, run_id):
        store = self.server.door.store.seen_by("ann")
        facts = facts_of(self.server.run(chunks_of(store, run_id)))
        comparison = Comparison(
            run_id=run_id,
            shadow_run_id="s",
            question="q",
            model="m",
            served="tree",
            tree=facts,
            baseline=facts,
        )
        self.server.run(store.shadow_reports.add(comparison, 1.0))


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    root = tmp_path_factory.mktemp("users")
    (root / "oracle.toml").write_text("")
    (root / "auth.py").write_text("def login():\n    return True\n")
    replies = [look(), found(), look(), "Hm." + WANTED, found()]
    with serving(root, ScriptedModel(*replies)) as server:
        world = World(server)
        yield world
        world.close()


SAME_FOR_ALL = "what it shows belongs to no user"
RUNS_ARE_MINE = "what it shows belongs to no user, but for a list of the caller's own runs"
ALL_ARE_MINE = "a list, and only of what is the caller's own"
NO_IDS = "the request names nothing that is stored"
ONE_BY_ID = [{}]
"""The id is in the path. Each entry is a request: its body and headers."""

EACH = {
    "GET /healthz": SAME_FOR_ALL,
    "GET /readyz": SAME_FOR_ALL,
    "GET /metrics": SAME_FOR_ALL,
    "GET /docs": SAME_FOR_ALL,
    "GET /docs/oauth2-redirect": SAME_FOR_ALL,
    "GET /openapi.json": SAME_FOR_ALL,
    **dict.fromkeys(PAGE, SAME_FOR_ALL),
    "GET /api/lines": SAME_FOR_ALL,
    "GET /api/page": RUNS_ARE_MINE,
    "GET /api/shadow": RUNS_ARE_MINE,
    "GET /api/trees": SAME_FOR_ALL,
    "GET /api/trees/{name}": SAME_FOR_ALL,
    "GET /api/prompts": SAME_FOR_ALL,
    "GET /api/classify": SAME_FOR_ALL,
    "GET /api/settings": SAME_FOR_ALL,
    "GET /api/source": SAME_FOR_ALL,
    "GET /v1/models": SAME_FOR_ALL,
    "GET /v1/models/{name}": SAME_FOR_ALL,
    "POST /v1/chat/completions": NO_IDS,
    "POST /v1/responses": NO_IDS,
    "GET /api/runs": ALL_ARE_MINE,
    "GET /api/events": ALL_ARE_MINE,
    "GET /api/shadow-reports": ALL_ARE_MINE,
    "GET /api/sessions": ALL_ARE_MINE,
    "GET /api/spend": RUNS_ARE_MINE,
    "GET /api/runs/{run_id}": ONE_BY_ID,
    "GET /api/runs/{run_id}/export": ONE_BY_ID,
    "GET /api/runs/{run_id}/mind": ONE_BY_ID,
    "GET /api/runs/{run_id}/trees": ONE_BY_ID,
    "GET /api/runs/{run_id}/breaks": ONE_BY_ID,
    "POST /api/runs/{run_id}/breaks": [{"json": {"path": "question"}}],
    "DELETE /api/runs/{run_id}/breaks": ONE_BY_ID,
    "POST /api/runs/{run_id}/continue": [{"json": {"step": True}}],
    "POST /api/runs/{run_id}/replay": [{"json": {"set": ["limits.turns=5"]}}],
    "GET /api/compare/{first}/{second}": ONE_BY_ID,
    "GET /api/runs/{run_id}/stream": ONE_BY_ID,
    "POST /api/runs/{run_id}/cancel": ONE_BY_ID,
    "POST /api/runs/{run_id}/limits": [{"json": {"turns": 40}}],
    "GET /api/runs/{run_id}/approvals": ONE_BY_ID,
    "POST /api/runs/{run_id}/approvals/{approval_id}": [
        {"json": {"approve": True}},
        {"json": {"approve": False}},
    ],
    "GET /api/sessions/{session_id}": ONE_BY_ID,
    "GET /api/sessions/{session_id}/export": ONE_BY_ID,
    "PATCH /api/sessions/{session_id}": [{"json": {"title": "Mine"}}],
    "DELETE /api/sessions/{session_id}": ONE_BY_ID,
    "POST /api/oracle": [
        {"json": {**QUESTION, "session_id": "{session_id}"}},
        {"json": {**QUESTION, "context_id": "{context_id}"}},
    ],
    "POST /api/oracle/stream": [
        {"json": {**QUESTION, "session_id": "{session_id}"}},
        {"json": {**QUESTION, "context_id": "{context_id}"}},
        {"json": QUESTION, "headers": {"Last-Event-ID": "{run_id}:3"}},
    ],
}


def test_it_is_known_of_each_route_how_users_are_kept_apart():
    # What is behind /mcp is tried by a client of it, in tests/mcp_door.
    assert EACH.keys() == {rule for rule in RULES if not rule.endswith(" /mcp")}


def filled(value, ids):
    if isinstance(value, dict):
        return {name: filled(item, ids) for name, item in value.items()}
    return value.format(**ids) if isinstance(value, str) else value


def unknown(id_):
    """An id that nobody has, and that no other one looks like."""
    own, dash, rest = id_.partition("-")
    return "".join("0" if character == "f" else "f" for character in own) + dash + rest


@pytest.mark.extra
@each_row("which", ["run_id", "waiting"], ids=["ended", "under way"])
@each_row("rule", [rule for rule, how in EACH.items() if isinstance(how, list)])
def test_the_id_of_another_user_is_answered_like_an_unknown_one(world, rule, which):
    method, _, path = rule.partition(" ")
    theirs = {**world.ids, "run_id": world.ids[which]}
    theirs |= {"first": theirs["run_id"], "second": theirs["run_id"]}
    nobodys = {name: unknown(id_) for name, id_ in theirs.items()}
    for more in EACH[rule]:
        refused, missing = (
            world.send(world.bob, method, path.format(**ids), **filled(more, ids))
            for ids in (theirs, nobodys)
        )
        assert (refused.status_code, missing.status_code) == (404, 404), refused.text
        told = refused.text
        for name, id_ in theirs.items():
            told = told.replace(id_, nobodys[name])
        assert told == missing.text


@pytest.mark.parametrize("rule", [rule for rule, how in EACH.items() if how is ALL_ARE_MINE])
def test_a_list_has_only_what_is_the_callers_own(world, rule):
    method, _, path = rule.partition(" ")
    assert world.send(world.ann, method, path).json() != []
    for params in ({}, {"limit": 1000}, {"run_id": world.ids["run_id"]}):
        assert world.send(world.bob, method, path, params=params).json() == []
    session = {"session_id": world.ids["session_id"]}
    assert world.send(world.bob, method, path, params=session).json() == []


def test_the_first_page_lists_only_the_callers_own_runs(world):
    seen = {
        user: world.send(who, "GET", "/api/page").json()["runs"]
        for user, who in (("ann", world.ann), ("bob", world.bob))
    }
    assert (len(seen["ann"]), seen["bob"]) == (2, [])


def test_what_was_compared_is_the_callers_own(world):
    ann, bob = (world.send(who, "GET", "/api/shadow").json() for who in (world.ann, world.bob))
    assert (ann["compared"], len(ann["pairs"]), ann["passed"]) == (1, 1, True)
    assert [row["is_kept"] for row in ann["rows"]] == [True] * len(ann["rows"])
    assert (bob["compared"], bob["pairs"], bob["rows"], bob["passed"]) == (0, [], [], None)


def test_what_bob_tried_changed_nothing(world):
    path = f"/api/sessions/{world.ids['session_id']}"
    session = world.send(world.ann, "GET", path).json()
    assert (session["title"], len(session["exchanges"])) == (QUESTION["question"], 1)
    (waiting,) = world.send(world.ann, "GET", f"/api/runs/{world.ids['waiting']}/approvals").json()
    assert waiting["id"] == world.ids["approval_id"]


async def test_the_terminal_does_not_see_what_users_of_the_server_asked(world):
    from oracle.services.storage.database import Database
    from oracle.services.storage.runs import Runs

    async with await Database.open(world.server.door.store.database.url) as database:
        assert await Runs(database).newest() == []


def test_to_allow_a_tool_that_writes_needs_the_scope(serve, root):
    with serve(look(), "Hm." + WANTED, WRITE, found()) as server:
        may_ask, may_write = (
            bearer(make(server, scope, scope, user="ann")) for scope in ("ask", "write")
        )
        statuses = []
        with server.http.stream(
            "POST", "/api/oracle/stream", json=QUESTION, headers=may_ask
        ) as response:
            for id_, kind, chunk in events_in(response.iter_lines()):
                if kind == "approval":
                    path = f"/api/runs/{id_.partition(':')[0]}/approvals/{chunk['id']}"
                    for who in (may_ask, may_write):
                        reply = server.http.post(path, json={"approve": True}, headers=who)
                        statuses.append((reply.status_code, "scope 'write'" in reply.text))
    assert statuses == [(403, True), (200, False)]
    assert list(root.rglob("*ogin*.md")) != []


ORDER = "Write a note with the title Login that says it is in auth.py."
CHAT = {"model": "oracle", "messages": [{"role": "user", "content": ORDER}]}
RESPONSE = {"model": "oracle", "input": ORDER}


@pytest.mark.parametrize(
    ("path", "body"), [("/v1/chat/completions", CHAT), ("/v1/responses", RESPONSE)]
)
@pytest.mark.parametrize(("scope", "is_written"), [("ask", False), ("write", True)])
def test_an_order_to_write_needs_the_scope_too(serve, root, path, body, scope, is_written):
    with serve(WRITE, found()) as server:
        reply = server.http.post(path, json=body, headers=bearer(make(server, "ann", scope)))
    assert reply.status_code == 200
    assert bool([*root.rglob("*ogin*.md")]) is is_written
    assert ("nothing was written" in reply.text) is not is_written


@pytest.mark.parametrize("is_yes", [True, False])
def test_an_order_of_one_who_may_not_write_waits_for_one_who_may(serve, root, is_yes):
    with serve(model=ScriptedModel(WRITE, found(), repeats_last=True)) as server:
        may_ask, may_write = (
            bearer(make(server, scope, scope, user="ann")) for scope in ("ask", "write")
        )
        stream = server.http.stream(
            "POST", "/api/oracle/stream", json={"question": ORDER}, headers=may_ask
        )
        with stream as response:
            for id_, kind, chunk in events_in(response.iter_lines()):
                if kind == "approval":
                    path = f"/api/runs/{id_.partition(':')[0]}/approvals/{chunk['id']}"
                    said = server.http.post(path, json={"approve": True}, headers=may_ask)
                    assert (said.status_code, chunk["tools"]) == (403, ["write_note"])
                    server.http.post(path, json={"approve": is_yes}, headers=may_write)
    assert chunk["stop_reason"] == ("answered" if is_yes else "partial_answer")
    assert bool([*root.rglob("*ogin*.md")]) is is_yes


def test_a_run_that_is_resumed_still_belongs_to_its_user(serve):
    model = GatedModel(look(), found())
    with serve(model=model, seconds_to_close=0) as server:
        ann, bob = (bearer(make(server, user)) for user in ("ann", "bob"))
        with server.http.stream(
            "POST", "/api/oracle/stream", json=QUESTION, headers=ann
        ) as response:
            run_id = next(events_in(response.iter_lines()))[0].partition(":")[0]
            assert model.is_reached.wait(20)
        server.stop()
    with serve(found()) as server:
        path = f"/api/runs/{run_id}/stream"
        assert server.http.get(path, headers=bob).status_code == 404
        with server.http.stream("GET", path, headers=ann) as response:
            assert [*events_in(response.iter_lines())][-1][1] == "done"
        assert [run["id"] for run in server.http.get("/api/runs", headers=ann).json()] == [run_id]


@pytest.mark.extra
def test_one_user_can_have_only_so_many_runs(serve, root):
    (root / "oracle.toml").write_text("[server]\nmost_runs_of_user = 1\n")
    model = GatedModel(look(), found())
    with serve(model=model) as server:
        ann, bob = (bearer(make(server, user)) for user in ("ann", "bob"))
        with server.http.stream(
            "POST", "/api/oracle/stream", json=QUESTION, headers=ann
        ) as response:
            events = events_in(response.iter_lines())
            next(events)
            assert model.is_reached.wait(20)
            refused = server.http.post("/api/oracle", json=QUESTION, headers=ann)
            model.gate.set()
            other = server.http.post("/api/oracle", json={"question": "?"}, headers=bob)
            assert [*events][-1][1] == "done"
    assert (refused.status_code, refused.headers["Retry-After"]) == (429, "2")
    assert "of your questions" in refused.json()["error"]["message"]
    assert other.status_code != 429


def test_a_token_that_asks_too_often_has_to_wait_and_others_have_not(serve, root):
    (root / "oracle.toml").write_text("[server]\nrequests_per_minute = 3\n")
    with serve() as server:
        ann, bob = (bearer(make(server, user)) for user in ("ann", "bob"))
        seen = [server.http.get("/api/runs", headers=ann) for _ in range(4)]
        assert [each.status_code for each in seen] == [200, 200, 200, 429]
        assert 1 <= int(seen[-1].headers["Retry-After"]) <= 60
        assert server.http.get("/api/runs", headers=bob).status_code == 200
        limited = server.http.get("/v1/models", headers=ann)
        assert limited.json()["error"]["code"] == "rate_limit_exceeded"
        # Without a token an address is counted, and the signs of life are not.
        strangers = [server.http.get("/api/runs").status_code for _ in range(4)]
        assert strangers == [401, 401, 401, 429]
        assert {server.http.get("/healthz").status_code for _ in range(5)} == {200}


def test_a_body_that_is_larger_than_allowed_is_refused(serve, root):
    (root / "oracle.toml").write_text("[server]\nmost_bytes = 1000\n")
    with serve() as server:
        response = server.http.post("/api/oracle", json={"question": "x" * 1000})
    assert (response.status_code, "1,000 bytes" in response.text) == (413, True)


def test_a_token_can_be_made_for_the_user_of_the_terminal(serve):
    with serve(look(), found()) as server:
        answer = server.ask().json()
        local = bearer(make(server, "phone", user="local"))
        (run,) = server.http.get("/api/runs", headers=local).json()
    assert (run["id"], run["user_id"]) == (answer["run_id"], "local")
