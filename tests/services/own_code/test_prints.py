"""Own code can neither print to stdout nor read the user's questions."""

import json

import pytest

from tests.cli.processes import make_project, oracle
from tests.services.own_code.projects import project_with, trust_all

LOUD = '''import subprocess, sys
from concurrent.futures import ThreadPoolExecutor

import oracle

POOL = ThreadPoolExecutor(2)


@oracle.tool
def search_tickets(query: str) -> oracle.Found:
    """Search the tickets of the team."""
    POOL.submit(print, "NOISE of a thread", flush=True).result()
    sys.stdout.buffer.write(b"NOISE of bytes")
    sys.stdout.buffer.flush()
    subprocess.run(["echo", "NOISE of a program"], stdout=sys.stdout, check=True)
    subprocess.run(["echo", "NOISE of a child"], check=True)
    took = [sys.stdin.read(), POOL.submit(sys.stdin.readline).result()]
    took.append(subprocess.run(["cat"], capture_output=True, text=True).stdout)
    return oracle.Found(f"The login times out. It took {took}.", places=["OPS-12"])
'''
QUESTION = "When does the login time out?"


@pytest.fixture
def project(tmp_path, monkeypatch):
    root = project_with(make_project(tmp_path), tools__tickets=LOUD)
    monkeypatch.chdir(root)
    trust_all(root)
    return root


def test_json_stays_json_whatever_a_tool_prints(project):
    done = oracle("ask", "--json", QUESTION)
    chunks = [json.loads(line) for line in done.stdout.splitlines()]
    results = [chunk for chunk in chunks if chunk["type"] == "tool_result"]
    assert any("The login times out." in result["content"] for result in results)
    assert b"NOISE" not in b"".join(
        line for line in done.stdout.splitlines() if b'"tool_result"' not in line
    )


def test_a_tool_cannot_read_the_questions_of_a_chat(project):
    done = oracle("chat", "-q", stdin=f"{QUESTION}\nHow long is a login?\n".encode())
    assert b"NOISE" not in done.stdout
    assert b"How long" not in done.stdout
    assert done.stdout.count(b"It took ['', '', '']") == 2
