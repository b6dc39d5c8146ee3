"""Two users of one server over MCP: what is Ann's does not exist for Bob."""

from contextlib import asynccontextmanager

import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError

from tests.api.test_access import bearer, make
from tests.mcp_door.conftest import found, look


@asynccontextmanager
async def client_as(server, token, era):
    async with httpx2.AsyncClient(headers=token, timeout=30, trust_env=False) as http:
        transport = streamable_http_client(f"{server.address}/mcp", http_client=http)
        async with Client(transport, mode=era) as client:
            yield client


async def test_a_user_reads_only_what_is_theirs(serve, era):
    with serve(look(), found()) as server:
        ann, bob = (bearer(make(server, user)) for user in ("ann", "bob"))
        async with client_as(server, ann, era) as client:
            asked = await client.call_tool("ask", {"question": "Where is login defined?"})
            run_id = asked.structured_content["run_id"]
            uri = f"oracle://runs/{run_id}"
            assert uri in [each.uri for each in (await client.list_resources()).resources]
            events = await client.call_tool("audit", {"run": run_id})
            assert "run.ended" in events.content[0].text
        async with client_as(server, bob, era) as client:
            assert uri not in [each.uri for each in (await client.list_resources()).resources]
            with pytest.raises(MCPError):
                await client.read_resource(uri)
            events = await client.call_tool("audit", {"run": run_id})
            assert "run.ended" not in events.content[0].text


@pytest.mark.parametrize(("scope", "status"), [(None, 401), ("read", 403)])
def test_a_client_needs_a_token_that_may_ask(serve, scope, status):
    with serve() as server:
        token = make(server, scope=scope or "write")
        headers = {} if scope is None else bearer(token)
        for method in ("GET", "POST", "DELETE"):
            response = server.http.request(method, "/mcp", headers=headers)
            assert response.status_code == status
