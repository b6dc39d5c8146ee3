"""Servers at an address: our own over HTTP, and some that misbehave."""

import json

import pytest

from oracle.services.mcp import server_tools
from oracle.services.mcp.server_tools import ServerTools, WithServers
from oracle.services.settings.mcp_servers import McpServer
from oracle.services.tools.executor import ToolBox
from oracle.testing import LoopbackServer, ScriptedModel
from oracle.testing.web import Reply
from tests.api.conftest import serving
from tests.services.mcp_client.test_server_tools import QueryType


def opened(url, **options):
    server = McpServer(name="other", url=url, timeout=30.0, **options)
    tools = ServerTools(server, None, {"TEAM_TOKEN": "t-1234567890-abcdef"}, dry_run=False)
    return WithServers(ToolBox([]), [tools])


async def test_our_own_server_is_used_over_http(tmp_path):
    (tmp_path / "oracle.toml").write_text("")
    (tmp_path / "auth.py").write_text("def login(): ...\n")
    with serving(tmp_path, ScriptedModel()) as server:
        tools = opened(f"{server.address}/mcp")
        await tools.prepare(QueryType.CODE)
        writes = {spec.name: spec.writes for spec in tools.specs}
        result = await tools.run("other__read_file", {"path": "auth.py"})
    assert writes["other__ask"]
    assert not writes["other__read_file"]
    assert "def login" in result["content"]


REPLIES = {
    "rubbish": Reply(body=b"<html>Welcome</html>", headers={"Content-Type": "text/html"}),
    "huge": Reply(body=b'{"x": "' + b"x" * 5_000_000, headers={"Content-Type": "application/json"}),
    "elsewhere": Reply(status=307, headers={"Location": "http://127.0.0.2:1/mcp"}),
    "refusing": Reply(status=401),
    "wrong": Reply(body=b"[1, 2]", headers={"Content-Type": "application/json"}),
}


@pytest.mark.parametrize("manner", REPLIES)
async def test_an_address_that_misbehaves_costs_one_line(manner, caplog, monkeypatch):
    # A reply that is not understood is waited for: here, not for long.
    monkeypatch.setattr(server_tools, "SECONDS_TO_LIST", 1.0)
    async with LoopbackServer(lambda request: REPLIES[manner]) as server:
        tools = opened(f"{server.url}/mcp")
        await tools.prepare(QueryType.CODE)
    assert tools.specs == ()
    records = [each for each in caplog.records if each.name.startswith("oracle")]
    (warning,) = [each.getMessage() for each in records if each.levelname == "WARNING"]
    assert "the server other" in warning
    assert len(warning) < 600


async def test_a_token_is_sent_to_the_address_only():
    async with LoopbackServer(lambda request: Reply(status=401)) as server:
        tools = opened(f"{server.url}/mcp", token_variable="TEAM_TOKEN")
        await tools.prepare(QueryType.CODE)
    sent = {request.headers.get("authorization") for request in server.requests}
    assert sent == {"Bearer t-1234567890-abcdef"}
    assert json.dumps([request.target for request in server.requests]).count("1234567890") == 0
