"""Tools that look things up, and resources: the same in both eras of the protocol."""

import json
import sys

import pytest
from mcp.shared.exceptions import MCPError

from tests.mcp_door.conftest import client_of, found, look

TOOLS = ["ask", "search_code", "search_vault", "find_definition", "read_file", "repo_map", "audit"]


LOOK_UPS = [
    ("search_code", {"query": "login"}, "def login"),
    ("search_vault", {"query": "SQLite"}, "notes/why.md"),
    ("find_definition", {"name": "login"}, "auth.py:1"),
    ("read_file", {"path": "auth.py"}, "return True"),
    ("repo_map", {"question": "login"}, "auth.py"),
]
MISTAKES = [
    ("ask", {}, "'question' is a required property"),
    ("ask", {"question": "x", "context_id": "nothing"}, "no exchange"),
    ("ask", {"question": "x", "files": ["/etc/passwd"]}, "/etc/passwd"),
    ("read_file", {"path": "../../etc/passwd"}, "etc/passwd"),
    ("read_file", {"file": "auth.py"}, "It takes path"),
    ("audit", {"run": "nothing"}, "no run"),
    ("audit", {}, "ask something first"),
]
NO_RESOURCES = [
    "oracle://notes/.env",
    "oracle://notes/..%2F..%2Fetc%2Fpasswd.md",
    "oracle://notes/auth.py",
    "oracle://runs/0000",
    "oracle://trees/nothing",
    "oracle://nothing",
    "file:///etc/passwd",
]


async def test_a_look_up_needs_no_run(serve, era):
    with serve() as server:
        async with client_of(server, era) as client:
            for name, arguments, shown in LOOK_UPS:
                result = await client.call_tool(name, arguments)
                assert (result.is_error, shown in result.content[0].text) == (False, True), name
        assert server.http.get("/api/runs").json() == []


async def test_a_mistake_in_a_call_is_a_result_that_says_what_is_wrong(serve, era):
    with serve() as server:
        async with client_of(server, era) as client:
            for name, arguments, shown in MISTAKES:
                result = await client.call_tool(name, arguments)
                text = result.content[0].text
                assert (result.is_error, shown in text) == (True, True), text
            with pytest.raises(MCPError, match="did you mean 'ask'"):
                await client.call_tool("aks", {})


async def test_resources_are_trees_runs_and_notes(serve, era):
    with serve(look(), found()) as server:
        async with client_of(server, era) as client:
            asked = await client.call_tool("ask", {"question": "Where is login defined?"})
            run_id = asked.structured_content["run_id"]
            listed = {each.uri: each for each in (await client.list_resources()).resources}
            assert {"oracle://trees/oracle-agent", "oracle://notes/notes/why.md"} <= set(listed)
            run = await client.read_resource(f"oracle://runs/{run_id}")
            note = await client.read_resource("oracle://notes/notes/why.md")
            tree = await client.read_resource("oracle://trees/oracle-agent")
            events = await client.call_tool("audit", {"run": run_id})
    assert json.loads(run.contents[0].text)["run"]["question"] == "Where is login defined?"
    assert note.contents[0].text == "# Why SQLite\n\nOne file."
    assert "BT." in tree.contents[0].text
    assert "run.ended" in events.content[0].text


async def test_what_is_not_a_resource_cannot_be_read(serve, root, era):
    (root / ".env").write_text("TOKEN=secret")
    with serve() as server:
        async with client_of(server, era) as client:
            for uri in NO_RESOURCES:
                with pytest.raises(MCPError) as problem:
                    await client.read_resource(uri)
                assert "secret" not in str(problem.value)


@pytest.mark.extra
async def test_many_notes_come_on_pages(serve, root, era):
    for number in range(250):
        (root / "notes" / f"n{number:03}.md").write_text(f"# Note {number}\n")
    with serve() as server:
        async with client_of(server, era) as client:
            page = await client.list_resources()
            uris = [each.uri for each in page.resources]
            while page.next_cursor:
                page = await client.list_resources(cursor=page.next_cursor)
                uris += [each.uri for each in page.resources]
            with pytest.raises(MCPError):
                await client.list_resources(cursor="x")
    assert len(uris) == len(set(uris))
    assert sum(uri.endswith(f"{number:03}.md") for uri in uris for number in range(250)) == 250


async def test_another_host_is_refused(serve):
    with serve() as server:
        reply = server.http.post("/mcp", headers={"Host": "evil.example"}, json={})
        page = server.http.post("/mcp", headers={"Origin": "https://evil.example"}, json={})
    assert (reply.status_code, page.status_code) == (403, 403)


def test_a_server_without_the_package_has_no_mcp_and_says_why(serve, monkeypatch):
    for name in [each for each in sys.modules if each.startswith("oracle.mcp")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "mcp", None)
    monkeypatch.setitem(sys.modules, "mcp.server", None)
    monkeypatch.setitem(sys.modules, "mcp.shared.exceptions", None)
    with serve() as server:
        refused = server.http.post("/mcp", json={})
        assert refused.status_code == 501
        assert "/mcp needs a package; run `" in refused.text
        assert server.http.get("/healthz").status_code == 200
