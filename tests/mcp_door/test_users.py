"""Behind tokens, /mcp shows each user their own runs, and writes only with the scope for it."""

import asyncio
import time
from contextlib import asynccontextmanager

import httpx
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp_types import ElicitResult

from oracle.services.storage.leases import PARKED
from oracle.testing import ScriptedModel
from tests.mcp_door.conftest import (
    WITHOUT_TLS,
    found,
    look,
    notes_about_login,
    saying,
    wants_to_write,
    writes,
)
from tests.mcp_door.test_asking import GatedModel, ended, posting

QUESTION = {"question": "Hello!"}
OWNERS = [("ann", "ask"), ("ann", "write"), ("bob", "ask")]


def make(server, user, scope):
    options = {"name": f"{user}-{scope}", "user": user, "scope": scope}
    work = server.door.tokens.create(**options, at=time.time(), expires_at=None)
    return server.run(work)[1]


@asynccontextmanager
async def client_with(server, token, **options):
    headers = {"Authorization": f"Bearer {token}"}
    async with httpx.AsyncClient(headers=headers, **WITHOUT_TLS) as http:
        transport = streamable_http_client(f"{server.address}/mcp", http_client=http)
        async with Client(transport, **options) as client:
            yield client


async def test_a_user_sees_nothing_of_another(serve):
    with serve(model=ScriptedModel("Hello.", repeats_last=True)) as server:
        ann, bob = make(server, "ann", "ask"), make(server, "bob", "ask")
        async with client_with(server, ann) as client:
            said = await client.call_tool("ask", QUESTION)
            run_id = said.structured_content["run_id"]
            assert not (await client.call_tool("audit", {"run": run_id})).is_error
        async with client_with(server, bob) as client:
            found = await client.call_tool("audit", {"run": run_id})
            assert found.is_error
            last = await client.call_tool("audit", {})
            assert run_id not in last.content[0].text
            again = await client.call_tool(
                "ask", {**QUESTION, "context_id": said.structured_content["context_id"]}
            )
            assert again.is_error


OPENING = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "a client", "version": "1"},
    },
}


def test_a_session_belongs_to_the_user_who_opened_it(serve):
    with serve(model=ScriptedModel("Hello.", repeats_last=True)) as server:
        accepted = {"Accept": "application/json, text/event-stream"}
        tokens = [make(server, user, scope) for user, scope in OWNERS]
        ann, again, bob = ({**accepted, "Authorization": f"Bearer {each}"} for each in tokens)
        opened = server.http.post("/mcp", json=OPENING, headers=ann)
        session = {"Mcp-Session-Id": opened.headers["mcp-session-id"]}
        listing = {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}
        for theirs, status in [(bob, 404), (again, 200)]:
            reply = server.http.post("/mcp", json=listing, headers={**theirs, **session})
            assert reply.status_code == status, reply.text
        assert server.http.delete("/mcp", headers={**bob, **session}).status_code == 404


async def test_without_a_token_nothing_is_served(serve):
    with serve(model=ScriptedModel("Hello.", repeats_last=True)) as server:
        make(server, "ann", "ask")
        for method in ("GET", "POST", "DELETE"):
            assert server.http.request(method, "/mcp").status_code == 401


@pytest.mark.parametrize(("scope", "is_asked"), [("ask", False), ("write", True)])
async def test_only_a_token_that_may_write_is_asked_for_a_yes(serve, root, scope, is_asked):
    model = ScriptedModel(look(), wants_to_write(), writes(), found(), repeats_last=True)
    asked = []
    with serve(model=model) as server:
        token = make(server, "ann", scope)
        async with client_with(server, token, elicitation_callback=saying(True, asked)) as client:
            await client.call_tool("ask", {"question": "Where is login defined?"})
    assert bool(asked) is is_asked
    assert bool(notes_about_login(root)) is is_asked


@pytest.mark.parametrize("mode", ["auto", "legacy"])
@pytest.mark.parametrize(("scope", "is_written"), [("ask", False), ("write", True)])
async def test_only_an_order_of_a_token_that_may_write_is_a_yes(
    serve, root, scope, is_written, mode
):
    order = {"question": "Write a note with the title Login that says it is in auth.py."}
    with serve(model=ScriptedModel(writes(), found(), repeats_last=True)) as server:
        token = make(server, "ann", scope)
        options = {"mode": mode, "elicitation_callback": saying(True, [])}
        async with client_with(server, token, **options) as client:
            said = await client.call_tool("ask", order)
    assert bool(notes_about_login(root)) is is_written
    assert ("nothing was written" in said.content[0].text) is not is_written


async def test_a_call_that_is_silent_ends_with_its_token_and_its_run_too(serve, era, monkeypatch):
    monkeypatch.setattr("oracle.api.access.SECONDS_BETWEEN_LOOKS", 0.01)
    model = GatedModel(look(), found())
    with serve(model=model) as server:
        token, other = make(server, "ann", "ask"), make(server, "ann", "write")
        async with posting(server, era, token=token) as reply:
            assert await asyncio.to_thread(model.is_reached.wait, 20)
            server.run(server.door.tokens.revoke("ann-ask", time.time()))
            # The model says nothing until the stream has ended.
            rest = (await reply.aread()).decode()
        assert '"result"' not in rest
        server.http.headers["Authorization"] = f"Bearer {other}"
        assert await asyncio.to_thread(ended, server) == "cancelled"
        model.gate.set()


async def test_a_run_that_waits_for_a_yes_goes_on_only_for_a_token_that_may_write(serve, root):
    question = {"question": "Where is login defined?"}

    async def called(token, request=None):
        given = {"elicitation_callback": saying(True), "mode": "2026-07-28"}
        again = {} if request is None else {
            "request_state": request.request_state,
            "input_responses": {
                id_: ElicitResult(action="accept", content={"approve": True})
                for id_ in request.input_requests
            },
        }  # fmt: skip
        async with client_with(server, token, **given) as client:
            return await client.session.call_tool(
                "ask", question, allow_input_required=True, **again
            )

    with serve(look(), wants_to_write(), writes(), found()) as server:
        reads, may_write = make(server, "ann", "ask"), make(server, "ann", "write")
        request = await called(may_write)
        refused = await called(reads, request)
        assert refused.is_error
        assert "scope write" in refused.content[0].text
        run = server.run(server.door.store.seen_by("ann").runs.get(request.request_state))
        assert (run.status, run.lease_owner) == ("running", PARKED)
        assert notes_about_login(root) == []
        done = await called(may_write, request)
    assert "auth.py:1" in done.content[0].text
    assert len(notes_about_login(root)) == 1
