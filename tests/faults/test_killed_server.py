"""A server that is killed while clients listen: what they have heard stays true."""

import asyncio
import json
import os
import re
import signal
from contextlib import asynccontextmanager

import httpx
import pytest

from oracle.testing import signal as signal_of_model
from oracle.testing.servers import openai
from oracle.testing.servers.scripted import Reply, ScriptedServer, Stall
from tests.processes import ORACLE, PIPE, Process

CLIENTS = 4
WORDS = [f"word{number} " for number in range(40)]
END = "It is in `auth.py:1`." + signal_of_model("context_sufficient")


@asynccontextmanager
async def killable(root, url):
    """A server in a process of its own, with the address it listens on. It ends without notice."""
    environment = {**os.environ, "ORACLE_MODEL_NAME": "openai:m", "ORACLE_MODEL_BASE_URL": url}
    environment["OPENAI_API_KEY"] = "k"
    command = [*ORACLE, "serve", "--port", "0"]
    process = Process(command, cwd=root, env=environment, stderr=PIPE, text=True)
    try:
        line = await asyncio.to_thread(process.stderr.readline)
        yield re.search(r"http://\S+", line).group()
    finally:
        process.send_signal(signal.SIGKILL)
        await asyncio.to_thread(process.wait, 60)


class Model:
    """Searches, and then answers. While it `stalls` it stops in the middle of its answer."""

    stalls = True

    def __call__(self, request):
        if not any(message["role"] == "tool" for message in request.body["messages"]):
            call = openai.tool_call("c1", "search_code", '{"query": "login"}')
            return Reply(body=openai.stream(call))
        whole = openai.stream(openai.text(*WORDS, END))
        return Reply(body=[*whole[: len(WORDS) // 2], Stall()] if self.stalls else whole)


async def heard(client, number, last=None, until=None):
    """The events of a question up to one that says `until`, or all, by their ids."""
    headers = {"Last-Event-ID": last} if last else {}
    body = {"question": f"Where is login defined? ({number})"}
    found, event = {}, {}
    async with client.stream("POST", "/api/oracle/stream", json=body, headers=headers) as response:
        assert response.status_code == 200
        async for line in response.aiter_lines():
            name, _, value = line.partition(": ")
            if name:
                event[name] = value
            elif "id" in event:
                data = json.loads(event["data"])
                found[event["id"]] = (data["type"], data.get("content"))
                event = {}
                if until is not None and until in str(data.get("content")):
                    return found
    return found


@pytest.mark.extra
async def test_clients_of_a_killed_server_lose_nothing_and_hear_nothing_twice(tmp_path):
    (tmp_path / "oracle.toml").touch()
    (tmp_path / "auth.py").write_text("def login():\n    return True\n")
    model = Model()
    async with ScriptedServer(model, endless=True) as server:
        url = f"{server.url}/v1"
        async with killable(tmp_path, url) as address, client_of(address) as client:
            before = await asyncio.gather(
                *(heard(client, number, until=WORDS[5 * number]) for number in range(CLIENTS))
            )
        model.stalls = False
        async with killable(tmp_path, url) as address, client_of(address) as client:
            for number, events in enumerate(before):
                rest = await until_done(client, number, [*events][-1])
                assert not events.keys() & rest.keys()
                run_id = next(iter(events)).partition(":")[0]
                assert await recorded(client, run_id) == {**events, **rest}


def client_of(address):
    return httpx.AsyncClient(base_url=address, trust_env=False, timeout=120)


async def until_done(client, number, last):
    """A run whose lease has not run out yet ends its stream, and is asked for again."""
    rest = {}
    while not rest or [*rest.values()][-1][0] != "done":
        # As a browser does, which waits before it connects again.
        await asyncio.sleep(0.5)
        rest |= await heard(client, number, last=[*rest][-1] if rest else last)
    return rest


async def recorded(client, run_id):
    reply = await client.get(f"/api/runs/{run_id}/stream")
    events = [dict(line.partition(": ")[::2] for line in part.split("\n")) for part in
              reply.text.strip().split("\n\n")]  # fmt: skip
    data = {event["id"]: json.loads(event["data"]) for event in events if "id" in event}
    return {id_: (each["type"], each.get("content")) for id_, each in data.items()}


@pytest.mark.extra
async def test_questions_that_waited_in_a_killed_server_are_answered_by_the_next(tmp_path):
    (tmp_path / "oracle.toml").touch()
    (tmp_path / "auth.py").write_text("def login():\n    return True\n")
    model = Model()
    async with ScriptedServer(model, endless=True) as server:
        url = f"{server.url}/v1"
        async with killable(tmp_path, url) as address, client_of(address) as client:
            first = await asyncio.gather(*(first_id(client, number) for number in range(20)))
        model.stalls = False
        waited = [number for number, id_ in enumerate(first) if id_.endswith(":-1")]
        assert waited
        async with killable(tmp_path, url) as address, client_of(address) as client:
            for number in waited:
                rest = await until_done(client, number, first[number])
                run_id = first[number].partition(":")[0]
                assert [*rest] == [f"{run_id}:{n}" for n in range(len(rest))]
                assert await recorded(client, run_id) == rest
                run = (await client.get(f"/api/runs/{run_id}")).json()["run"]
                assert f"({number})" in run["question"]
                assert run["stop_reason"] == "answered"


async def first_id(client, number):
    """The id of the first event of a question. Its client leaves then."""
    body = {"question": f"Where is login defined? ({number})"}
    async with client.stream("POST", "/api/oracle/stream", json=body) as response:
        assert response.status_code == 200
        async for line in response.aiter_lines():
            if line.startswith("id: "):
                return line.removeprefix("id: ")
    raise AssertionError("no event has an id")
