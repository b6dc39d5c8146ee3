"""Who gets in with which token: scopes, hostile headers, revocation, and no token in any log."""

import asyncio
import logging
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import pytest

from oracle.api.access import Access
from oracle.api.app import create_app, routes_of
from oracle.api.caller import Caller
from oracle.api.rates import Rates
from oracle.api.rules import RULES
from oracle.services.storage import tokens as tokens_module
from oracle.services.storage.tokens import SCOPES, Tokens, allows
from oracle.testing import ScriptedModel
from tests.api.conftest import serving
from tests.api.test_asking import GatedModel, events_in, found, look
from tests.tables import each_row

PAGE = {
    *("GET /", "GET /s/{session_id}", "GET /runs", "GET /runs/{run_id}"),
    *("GET /trees", "GET /trees/{name}", "GET /compare", "GET /compare/{first}/{second}"),
    "GET /page/{path:path}",
}
OPEN = {"GET /healthz", "GET /readyz", *PAGE}


def bearer(text):
    return {"Authorization": f"Bearer {text}"}


def make(server, name="ann", scope="write", *, user=None, expires_at=None):
    """A token, as another process would make it."""
    options = {"name": name, "user": user or name, "scope": scope}
    # Made long ago, so that it may have expired.
    work = server.door.tokens.create(**options, at=1.0, expires_at=expires_at)
    return server.run(work)[1]


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """With one token of each scope, all of the same user."""
    root = tmp_path_factory.mktemp("tokens")
    (root / "oracle.toml").write_text("")
    (root / "auth.py").write_text("def login():\n    return True\n")
    with serving(root, ScriptedModel("Hm.", repeats_last=True)) as server:
        server.tokens = {scope: make(server, scope, scope, user="ann") for scope in SCOPES}
        yield server


def send(server, rule, headers, **ids):
    """A request that fits the rule, with a body that its route cannot use."""
    method, _, path = rule.partition(" ")
    names = {"run_id": "none", "session_id": "none", "approval_id": "none-1", "name": "none"}
    names |= {"first": "none", "second": "none", "path": "none"}
    path = path.replace(":path}", "}").format(**names | ids)
    return server.http.request(method, path, headers=headers)


def routes(server):
    described = routes_of(server.door).openapi()["paths"]
    listed = {
        f"{method.upper()} {path}" for path, methods in described.items() for method in methods
    }
    # Those that are not part of the description.
    pages = {"GET /docs", "GET /docs/oauth2-redirect", "GET /openapi.json"}
    return listed | pages | PAGE | {"GET /mcp", "POST /mcp", "DELETE /mcp"}


@pytest.mark.extra
def test_each_route_has_a_rule_and_each_rule_a_route(server):
    assert routes(server) == RULES.keys()


def test_only_the_signs_of_life_and_the_files_of_the_page_are_open():
    assert {rule for rule, needs in RULES.items() if needs == "nothing"} == OPEN


async def test_a_route_without_a_rule_is_refused(server):
    app = routes_of(server.door)
    reached = []

    @app.get("/api/forgotten")
    async def forgotten() -> None:
        reached.append(True)

    sent = []
    scope = {
        "type": "http",
        "method": "GET",
        "path": "/api/forgotten",
        "headers": [],
        "query_string": b"",
    }

    async def receive():
        return {"type": "http.request", "body": b"", "more_body": False}

    async def keep(message):
        sent.append(message)

    await app(scope, receive, keep)
    assert (sent[0]["status"], reached) == (500, [])


@each_row("rule", RULES)
def test_without_a_token_nothing_is_served_but_signs_of_life(server, rule):
    response = send(server, rule, {})
    if rule in OPEN:
        assert response.status_code not in (401, 403)
        return
    assert response.status_code == 401
    assert response.headers["WWW-Authenticate"] == 'Bearer realm="oracle"'
    assert "Authorization: Bearer" in response.json()["error"]["message"]


@pytest.mark.extra
@each_row("rule", RULES)
@each_row("scope", SCOPES)
def test_a_token_opens_the_routes_of_its_scope_and_no_other(server, scope, rule):
    needs = RULES[rule]
    response = send(server, rule, bearer(server.tokens[scope]))
    if needs == "nothing" or allows(scope, needs):
        assert response.status_code not in (401, 403)
        return
    assert response.status_code == 403
    error = response.json()["error"]
    assert f"needs a token with the scope '{needs}', and this one has '{scope}'" in error["message"]
    assert f'error="insufficient_scope", scope="{needs}"' in response.headers["WWW-Authenticate"]


@pytest.mark.parametrize(("held", "needed"), [("root", "read"), ("", "read"), ("read ask", "ask")])
def test_a_scope_that_is_not_known_allows_nothing(held, needed):
    assert not allows(held, needed)


def hostile(good):
    id_, secret = good.split("_", 2)[1:]
    yield from (
        "Bearer",
        f"Basic {good}",
        good,
        f"Bearer {good}x",
        f"Bearer {good[:-1]}",
        f"Bearer {good} {good}",
        f"Bearer {good}, Bearer {good}",
        f"Bearer oracle_{id_}_{'A' * 43}",
        f"Bearer oracle_{'0' * 10}_{secret}",
        f"Bearer oracle_{id_.upper()}_{secret}" if id_.upper() != id_ else "Bearer x",
        "Bearer oracle_%_" + "A" * 43,
        "Bearer ' OR 1=1 --",
        "Bearer " + "A" * 60_000,
        "Bearer \xff\xfe",
        "Bearer \u00b2" * 3,
    )


def test_hostile_headers_are_refused(server):
    good = server.tokens["write"]
    for header in hostile(good):
        response = server.http.get(
            "/api/runs", headers=[("Authorization", header.encode("latin-1"))]
        )
        assert response.status_code in (400, 401, 431), header
        assert good not in response.text
    twice = [("Authorization", f"Bearer {good}"), ("Authorization", f"Bearer {good}")]
    assert server.http.get("/api/runs", headers=twice).status_code == 401
    for name in ("X-Api-Key", "Cookie", "Proxy-Authorization", "X-Forwarded-Authorization"):
        assert server.http.get("/api/runs", headers={name: f"Bearer {good}"}).status_code == 401
    assert server.http.get("/api/runs", params={"access_token": good}).status_code == 401
    for spelled in ("bearer", "BEARER"):
        headers = {"Authorization": f"{spelled}  {good}"}
        assert server.http.get("/api/runs", headers=headers).status_code == 200


def test_forwarded_addresses_are_not_believed(server):
    headers = {"X-Forwarded-For": "127.0.0.1", "Forwarded": "for=127.0.0.1", "X-Real-IP": "::1"}
    assert server.http.get("/api/runs", headers=headers).status_code == 401


def test_errors_for_openai_clients_have_their_shape(server):
    lacking = "missing_required_parameter"
    for headers, status, code, param in (
        ({}, 401, "invalid_api_key", None),
        (bearer(server.tokens["read"]), 403, "insufficient_permissions", None),
        (bearer(server.tokens["ask"]), 400, lacking, "messages"),
    ):
        response = server.http.post("/v1/chat/completions", json={}, headers=headers)
        error = response.json()["error"]
        assert (response.status_code, error["code"], error["param"]) == (status, code, param)
        assert {"message", "type"} < error.keys()


def test_openai_clients_send_the_token_as_their_key(server):
    openai = pytest.importorskip("openai")
    address = f"{server.address}/v1"
    with openai.OpenAI(base_url=address, api_key=server.tokens["read"]) as client:
        assert next(iter(client.models.list())).id == "oracle"
    with (
        openai.OpenAI(base_url=address, api_key="none", max_retries=0) as client,
        pytest.raises(openai.AuthenticationError),
    ):
        client.models.list()


def test_the_description_names_the_scheme_and_what_each_route_needs(server):
    described = server.http.get("/openapi.json", headers=bearer(server.tokens["read"])).json()
    assert described["components"]["securitySchemes"]["token"]["scheme"] == "bearer"
    assert described["paths"]["/api/oracle"]["post"]["security"] == [{"token": ["ask"]}]
    assert described["paths"]["/healthz"]["get"]["security"] == []


@pytest.mark.parametrize("path", sorted({rule.partition(" ")[2] for rule in RULES}))
def test_a_wrong_method_is_answered_with_all_that_are_allowed(server, path):
    response = send(server, f"PUT {path}", bearer(server.tokens["read"]))
    allowed = sorted(rule.partition(" ")[0] for rule in RULES if rule.endswith(f" {path}"))
    assert (response.status_code, response.headers["Allow"]) == (405, ", ".join(allowed))


def test_no_log_and_no_error_has_a_token(server, caplog):
    good = server.tokens["write"]
    wrong = good[:-1] + ("A" if good[-1] != "A" else "B")
    caplog.set_level(logging.DEBUG)
    for text in (good, wrong):
        secret = text.split("_", 2)[2]
        headers = bearer(text)
        for response in (
            server.http.get("/api/runs/none", headers=headers),
            server.http.get(f"/api/runs/{text}", headers=headers),
            server.http.get(f"/api/{text}", headers=headers),
            server.http.get("/api/trees/none", headers=headers),
            server.http.post("/api/oracle", json={"question": 1, text: 1}, headers=headers),
            server.http.get("/api/runs/x/stream", headers={**headers, "Last-Event-ID": text}),
        ):
            assert secret not in response.text, response.request.url
            assert secret not in str(response.headers)
        ours = [
            record.getMessage() for record in caplog.records if record.name.startswith("oracle")
        ]
        assert not any(secret in message for message in ours)


@pytest.mark.extra
def test_a_question_with_a_token_in_it_is_stored_without_it(server):
    good = server.tokens["write"]
    answer = server.http.post(
        "/api/oracle", json={"question": f"Why is {good} refused?"}, headers=bearer(good)
    )
    run = server.http.get(f"/api/runs/{answer.json()['run_id']}", headers=bearer(good)).text
    assert good.split("_", 2)[2] not in run
    assert "[redacted: oracle token]" in run


async def test_the_secret_is_stored_nowhere_and_compared_in_constant_time(database, monkeypatch):
    token, text = await Tokens(database).create(
        name="a", user="a", scope="read", at=1.0, expires_at=None
    )
    rows = await database.read(lambda c: c.rows("SELECT * FROM api_tokens"))
    assert text.split("_", 2)[2] not in str(rows)
    compared = []

    def compare(one, other):
        compared.append((one, other))
        return one == other

    monkeypatch.setattr(tokens_module.hmac, "compare_digest", compare)
    assert await Tokens(database).valid(text, 2.0) == token
    assert await Tokens(database).valid(text[:-1] + "!", 2.0) is None
    # A token whose id is not known is compared too, with a digest of the same length.
    unknown = f"oracle_{'f' * 10}_{text.split('_', 2)[2]}"
    assert await Tokens(database).valid(unknown, 2.0) is None
    assert [len(side) for pair in compared for side in pair] == [64] * 4


async def test_a_token_ends_with_its_time_or_when_it_is_revoked(database):
    tokens = Tokens(database)
    one, text = await tokens.create(name="one", user="u", scope="read", at=1.0, expires_at=10.0)
    assert await tokens.valid(text, 9.9) == one
    assert await tokens.valid(text, 10.0) is None
    two, text = await tokens.create(name="two", user="u", scope="read", at=1.0, expires_at=None)
    await tokens.revoke(two.id[:6], 5.0)
    assert await tokens.valid(text, 6.0) is None
    states = {token.name: token.state(6.0) for token in await tokens.all()}
    assert states == {"one": "active", "two": "revoked"}
    await tokens.delete("two")
    assert [token.name for token in await tokens.all()] == ["one"]


def test_a_server_needs_tokens_from_the_first_one_on_also_when_it_is_revoked(serve):
    with serve() as server:
        assert server.http.get("/api/runs").status_code == 200
        token = make(server)
        assert server.http.get("/api/runs").status_code == 401
        assert server.http.get("/api/runs", headers=bearer(token)).status_code == 200
        server.run(server.door.tokens.revoke("ann", time.time()))
        assert server.http.get("/api/runs", headers=bearer(token)).status_code == 401
        # To revoke the last token does not open the server to all.
        assert server.http.get("/api/runs").status_code == 401
        server.run(server.door.tokens.delete("ann"))
        assert server.http.get("/api/runs").status_code == 200


def test_a_token_that_expires_stops_at_once(serve):
    with serve() as server:
        token = make(server, expires_at=time.time() - 1)
        response = server.http.get("/api/runs", headers=bearer(token))
    assert response.status_code == 401
    assert 'error="invalid_token"' in response.headers["WWW-Authenticate"]


@pytest.mark.extra
def test_a_stream_ends_when_its_token_is_revoked_and_the_run_goes_on(serve, monkeypatch):
    monkeypatch.setattr("oracle.api.access.SECONDS_BETWEEN_LOOKS", 0.0)
    model = GatedModel(look(), found())
    with serve(model=model) as server:
        token, other = make(server), make(server, "phone", user="ann")
        question = {"question": "Where is login defined?"}
        with server.http.stream(
            "POST", "/api/oracle/stream", json=question, headers=bearer(token)
        ) as response:
            lines = response.iter_lines()
            run_id = next(events_in(lines))[0].partition(":")[0]
            assert model.is_reached.wait(20)
            server.run(server.door.tokens.revoke("ann", time.time()))
            model.gate.set()
            rest = list(lines)
        assert not any(line.startswith("event: done") for line in rest)
        with server.http.stream(
            "GET", f"/api/runs/{run_id}/stream", headers=bearer(other)
        ) as response:
            assert [*events_in(response.iter_lines())][-1][1] == "done"


CHAT = {"model": "oracle", "messages": [{"role": "user", "content": "Where is login defined?"}]}


@pytest.mark.parametrize("end", ["revoked", "expired"])
@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/api/oracle/stream", {"question": "Where is login defined?"}),
        ("/v1/chat/completions", {**CHAT, "stream": True}),
        ("/v1/responses", {"model": "oracle", "input": "Where is login?", "stream": True}),
    ],
)
def test_a_stream_that_is_silent_ends_with_its_token(serve, monkeypatch, path, body, end):
    monkeypatch.setattr("oracle.api.access.SECONDS_BETWEEN_LOOKS", 0.01)
    now = 1.0
    monkeypatch.setattr("oracle.api.app.Access", partial(Access, clock=lambda: now))
    model = GatedModel(look(), found())
    with serve(model=model) as server:
        token = make(server, expires_at=100.0)
        make(server, "phone", user="ann")
        with server.http.stream("POST", path, json=body, headers=bearer(token)) as response:
            assert response.status_code == 200
            assert model.is_reached.wait(20)
            if end == "revoked":
                server.run(server.door.tokens.revoke("ann", 2.0))
            else:
                now = 101.0
            # The model says nothing until the stream has ended.
            rest = response.read().decode()
        model.gate.set()
    assert "done" not in rest
    assert "DONE" not in rest


def test_an_answer_that_is_waited_for_is_not_worked_on_for_a_token_that_has_ended(
    serve, monkeypatch
):
    monkeypatch.setattr("oracle.api.access.SECONDS_BETWEEN_LOOKS", 0.01)
    model = GatedModel(look(), found())
    with serve(model=model) as server, ThreadPoolExecutor(1) as thread:
        headers = bearer(make(server))
        asking = thread.submit(server.http.post, "/v1/chat/completions", json=CHAT, headers=headers)
        assert model.is_reached.wait(20)
        server.run(server.door.tokens.revoke("ann", time.time()))
        assert asking.result(20).status_code == 401
        model.gate.set()


async def test_many_streams_of_a_token_share_one_look(database, monkeypatch):
    tokens = Tokens(database)
    _, secret = await tokens.create(name="ann", user="ann", scope="ask", at=1.0, expires_at=None)
    looks = 0

    async def valid(presented, at):
        nonlocal looks
        looks += 1
        return await Tokens.valid(tokens, presented, at)

    monkeypatch.setattr(tokens, "valid", valid, raising=False)
    access = Access(None, tokens=tokens, rates=Rates(None))
    scope = {"headers": [(b"authorization", f"Bearer {secret}".encode())]}
    ann = Caller(user="ann", scope="ask", id=(await Tokens.valid(tokens, secret, 2.0)).id)
    assert await asyncio.gather(*(access.is_still(ann, scope) for _ in range(20))) == [True] * 20
    assert looks == 1


def test_an_answer_is_not_given_to_a_token_that_was_revoked_meanwhile(serve, monkeypatch):
    monkeypatch.setattr("oracle.api.access.SECONDS_BETWEEN_LOOKS", 0.0)

    class Revoking(ScriptedModel):
        async def stream(self, request):
            await server.door.tokens.revoke("ann", time.time())
            async for part in super().stream(request):
                yield part

    with serve(model=Revoking(look(), found())) as server:
        response = server.http.post(
            "/api/oracle", json={"question": "Where is login?"}, headers=bearer(make(server))
        )
    assert response.status_code == 401
    assert "auth.py" not in response.text


async def test_a_server_that_can_be_reached_always_needs_a_token(server):
    app = create_app(server.door, is_reachable=True)
    for host, origin, status in (
        ("oracle.example", None, 401),
        ("oracle.example", "https://oracle.example", 401),
        ("oracle.example", "https://evil.example", 403),
        ("oracle.example", "null", 403),
        ("", "null", 403),
    ):
        headers = [(b"host", host.encode())] + ([(b"origin", origin.encode())] if origin else [])
        assert await status_of(app, headers) == status, (host, origin)


async def status_of(app, headers, path="/api/runs"):
    sent = []
    scope = {"type": "http", "method": "GET", "path": path, "headers": headers, "query_string": b""}

    async def receive():
        await asyncio.Event().wait()

    async def keep(message):
        sent.append(message)

    await app(scope, receive, keep)
    return sent[0]["status"]


async def test_sockets_of_the_web_are_closed(server):
    sent = []

    async def keep(message):
        sent.append(message)

    await create_app(server.door)({"type": "websocket", "path": "/", "headers": []}, None, keep)
    assert sent == [{"type": "websocket.close", "code": 1008}]
