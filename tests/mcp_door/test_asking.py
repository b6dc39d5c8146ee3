"""The tool `ask` over HTTP: a person's yes, cancellation, and a client that leaves."""

import asyncio
import contextlib
import json

import httpx
import pytest
from mcp_types import ElicitResult

from oracle.testing import ScriptedModel
from tests.api.test_asking import GatedModel
from tests.mcp_door.conftest import (
    WITHOUT_TLS,
    client_of,
    found,
    look,
    notes_about_login,
    saying,
    wants_to_write,
    writes,
)

QUESTION = {"question": "Where is login defined?"}


@pytest.mark.parametrize("reply", [True, False, "decline", "cancel"])
async def test_a_person_at_the_client_is_asked(serve, root, era, reply):
    asked = []
    after = writes() if reply is True else found()
    with serve(look(), wants_to_write(), after, found()) as server:
        async with client_of(server, era, elicitation_callback=saying(reply, asked)) as client:
            result = await client.call_tool("ask", QUESTION)
        runs = server.http.get("/api/runs").json()
    assert [run["status"] for run in runs] == ["done"]
    assert ("write_note" in asked[0].message, len(asked)) == (True, 1)
    assert bool(notes_about_login(root)) == (reply is True)
    shown = "auth.py:1" if reply is True else "write_note was not allowed"
    assert shown in result.content[0].text


async def test_without_a_person_nothing_is_written_and_the_answer_says_so(serve, root, era):
    with serve(look(), wants_to_write(), found()) as server:
        async with client_of(server, era) as client:
            result = await client.call_tool("ask", QUESTION)
            events = await client.call_tool("audit", {"types": ["grant.*"]})
    assert notes_about_login(root) == []
    assert "nobody could be asked" in events.content[0].text
    assert result.structured_content["stop_reason"] in ("answered", "partial_answer")


async def input_request(server):
    """What a client gets that answers by itself."""
    callback = saying(True)
    async with client_of(server, "2026-07-28", elicitation_callback=callback) as client:
        return await client.session.call_tool("ask", QUESTION, allow_input_required=True)


async def retried(server, request, responses, question=QUESTION):
    callback = saying(True)
    async with client_of(server, "2026-07-28", elicitation_callback=callback) as client:
        return await client.session.call_tool(
            "ask",
            question,
            input_responses=responses,
            request_state=request.request_state,
            allow_input_required=True,
        )


def yes_to(request):
    return {
        id_: ElicitResult(action="accept", content={"approve": True})
        for id_ in request.input_requests
    }


async def test_a_parked_run_is_resumed_by_the_next_server(serve, root):
    with serve(look(), wants_to_write()) as server:
        request = await input_request(server)
        (run,) = server.http.get("/api/runs").json()
        # It is not taken up by itself: there is nobody to ask.
        server.run(server.door.runs._take_up())
        assert len(server.door.runs) == 0
    assert (run["id"], run["status"]) == (request.request_state, "running")
    with serve(writes(), found()) as server:
        assert len(server.door.runs) == 0
        result = await retried(server, request, yes_to(request))
        # Sent again, it has the same result, and nothing is done twice.
        again = await retried(server, request, yes_to(request))
    assert "auth.py:1" in result.content[0].text
    assert again.content == result.content
    assert len(notes_about_login(root)) == 1


async def test_a_retry_without_an_answer_asks_again(serve):
    with serve(look(), wants_to_write()) as server:
        request = await input_request(server)
        again = await retried(server, request, None)
    assert again.input_requests == request.input_requests


@pytest.mark.parametrize("change", ["question", "state", "prefix"])
async def test_a_state_that_does_not_belong_to_the_question_is_refused(serve, root, change):
    with serve(look(), wants_to_write()) as server:
        request = await input_request(server)
        question = {"question": "Where is logout?"} if change == "question" else QUESTION
        state = {"state": "0" * 32, "prefix": request.request_state[:12]}
        forged = request.model_copy(
            update={"request_state": state.get(change, request.request_state)}
        )
        result = await retried(server, forged, yes_to(request), question)
    assert result.is_error
    assert notes_about_login(root) == []


async def test_a_call_that_is_cancelled_ends_its_run(serve, era):
    model = GatedModel(look(), found())
    with serve(model=model) as server:
        async with client_of(server, era) as client:
            call = asyncio.create_task(client.call_tool("ask", QUESTION))
            assert await asyncio.to_thread(model.is_reached.wait, 20)
            call.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await call
            assert await asyncio.to_thread(ended, server) == "cancelled"
        model.gate.set()


async def test_a_client_that_vanishes_ends_its_run(serve, era):
    model = GatedModel(look(), found())
    with serve(model=model) as server:
        async with posting(server, era):
            assert await asyncio.to_thread(model.is_reached.wait, 20)
        assert await asyncio.to_thread(ended, server) == "cancelled"
        model.gate.set()


def ended(server):
    """How the only run ended. Its end is waited for."""
    run_id = server.http.get("/api/runs").json()[0]["id"]
    with server.http.stream("GET", f"/api/runs/{run_id}/stream") as events:
        *_, last = (line for line in events.iter_lines() if line.startswith("data:"))
    return json.loads(last.removeprefix("data:"))["stop_reason"]


@contextlib.asynccontextmanager
async def posting(server, era, *, token=None):
    """A request that is broken off at the end of the block, without a word."""
    headers = {"Accept": "application/json, text/event-stream"}
    if token is not None:
        headers["Authorization"] = f"Bearer {token}"
    call = {"name": "ask", "arguments": QUESTION, "_meta": {"progressToken": 1}}
    async with httpx.AsyncClient(base_url=server.address, **WITHOUT_TLS) as http:
        if era == "legacy":
            about = {
                "protocolVersion": "2025-11-25",
                "capabilities": {},
                "clientInfo": {"name": "t", "version": "1"},
            }
            reply = await http.post("/mcp", headers=headers, json=rpc("initialize", about))
            headers |= {"Mcp-Session-Id": reply.headers["mcp-session-id"]}
            headers |= {"MCP-Protocol-Version": "2025-11-25"}
        else:
            headers |= {"MCP-Protocol-Version": era, "Mcp-Method": "tools/call", "Mcp-Name": "ask"}
            prefix = "io.modelcontextprotocol"
            call["_meta"] |= {
                f"{prefix}/protocolVersion": era,
                f"{prefix}/clientCapabilities": {},
            }
        body = rpc("tools/call", call)
        async with http.stream("POST", "/mcp", headers=headers, json=body) as reply:
            assert reply.status_code == 200
            yield reply


def rpc(method, params):
    return {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}


async def test_a_server_that_stops_says_where_the_answer_will_be(serve, era):
    model = GatedModel(look(), found())
    with serve(model=model, seconds_to_close=0) as server:
        async with client_of(server, era) as client:
            call = asyncio.create_task(client.call_tool("ask", QUESTION))
            assert await asyncio.to_thread(model.is_reached.wait, 20)
            server.run(server.door.runs.close(0))
            result = await call
            model.gate.set()
    assert result.is_error
    assert "the next one goes on with run" in result.content[0].text


async def test_runs_beyond_the_limit_are_refused(serve, era):
    with serve(model=ScriptedModel(), most_runs=0) as server:
        async with client_of(server, era) as client:
            result = await client.call_tool("ask", QUESTION)
    assert result.is_error
    assert "try again in a moment" in result.content[0].text
