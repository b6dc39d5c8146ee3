"""A client of the SDK against our server: over HTTP on a real port, and over stdio."""

import sys
from contextlib import asynccontextmanager

import httpx2
import pytest
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp_types import ElicitResult

from oracle.testing import Reply, ScriptedModel, signal
from tests.api.conftest import serving
from tests.processes import ORACLE, relayed

ERAS = ("2026-07-28", "legacy")
"""`legacy` is the handshake of 2025-11-25 and before."""
WITHOUT_TLS = {"trust_env": False, "verify": False, "timeout": 300}
"""For clients: otherwise each reads all certificates, which takes longer than a test."""


@pytest.fixture(params=ERAS)
def era(request):
    return request.param


@pytest.fixture
def root(tmp_path):
    (tmp_path / "oracle.toml").write_text("")
    (tmp_path / "auth.py").write_text("def login():\n    return True\n")
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "why.md").write_text("# Why SQLite\n\nOne file.\n")
    return tmp_path


@pytest.fixture
def serve(root):
    def serve(*replies, model=None, **options):
        return serving(root, model or ScriptedModel(*replies), **options)

    return serve


@asynccontextmanager
async def client_of(server, era, **options):
    async with httpx2.AsyncClient(**WITHOUT_TLS) as http:
        transport = streamable_http_client(f"{server.address}/mcp", http_client=http)
        async with Client(transport, mode=era, **options) as client:
            yield client


@asynccontextmanager
async def over_stdio(root, era, *arguments, environment=None, is_fork=True, **options):
    command = [*ORACLE, "mcp", *arguments]
    program, *words = relayed(command) if is_fork else command
    home = {"HOME": str(root / "home"), **(environment or {})}
    parameters = StdioServerParameters(command=program, args=words, cwd=root, env=home)
    # By itself the SDK takes what was stderr when it was imported, which may be closed by now.
    transport = stdio_client(parameters, errlog=sys.__stderr__)
    async with Client(transport, mode=era, **options) as client:
        yield client


def saying(reply, asked=None):
    """Answers each question of the server in this way, and notes it."""

    async def callback(context, params):
        if asked is not None:
            asked.append(params)
        content = {"approve": reply} if isinstance(reply, bool) else None
        return ElicitResult(action="accept" if content else reply, content=content)

    return callback


def look():
    reason = signal("need_turn", reason="look")
    return Reply(text=reason, calls=[("search_code", {"query": "login"})])


def found():
    return "It is in auth.py:1." + signal("context_sufficient", sources_found=1)


def wants_to_write():
    asks = signal("need_capability", capability="write_note", reason="to keep it")
    return "Hm." + asks


def writes():
    return Reply(calls=[("write_note", {"title": "Login", "content": "It is in auth.py."})])


def notes_about_login(root):
    return [path.name for path in root.rglob("*ogin*.md")]
