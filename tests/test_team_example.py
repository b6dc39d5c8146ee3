"""The files of `examples/team`: their commands work together, started as plain processes."""

import asyncio
import json
import re
import shlex
import time
from pathlib import Path

import pytest
import yaml

from oracle.services.storage.database import Database
from oracle.services.storage.tokens import Tokens
from tests.faults.chaos import Model, approve, team_of
from tests.faults.test_killed_server import client_of
from tests.processes import ORACLE, run

TEAM = Path(__file__).parents[1] / "examples" / "team"


def services():
    return yaml.safe_load((TEAM / "compose.yaml").read_text())["services"]


def arguments_of(command):
    """As a process of this machine: any free port, and no other machine can reach it."""
    program, *arguments = shlex.split(command)
    assert Path(program).name == "oracle"
    text = shlex.join(arguments).replace("0.0.0.0", "127.0.0.1")
    return shlex.split(re.sub(r"--port \S+", "--port 0", text))


def test_the_compose_file_has_what_the_documents_promise():
    found = services()
    commands = [each["command"].split()[1] for each in found.values() if "command" in each]
    assert sorted(commands) == ["serve"] * 2 + ["worker"] * 3
    assert "healthcheck" in found["postgres"]


@pytest.mark.parametrize("kind", ["worker", "front"])
def test_the_units_run_the_same_commands(kind):
    unit = (TEAM / f"oracle-{kind}@.service").read_text()
    [command] = re.findall(r"^ExecStart=(.*)$", unit, re.MULTILINE)
    [other] = {e["command"] for name, e in services().items() if name.startswith(kind)}
    assert arguments_of(command) == arguments_of(other)
    [seconds] = re.findall(r"^TimeoutStopSec=(\d+)$", unit, re.MULTILINE)
    drain = re.search(r"--drain (\d+)", command)
    # Shorter, and the processes would be killed before they have handed over their runs.
    assert drain is None or int(seconds) > int(drain[1])


@pytest.mark.extra
async def test_the_commands_of_the_compose_file_answer_together(tmp_path, postgresql_url):
    model = Model()
    model.stalls = False
    async with await Database.open(postgresql_url) as database:
        given = {"name": "team", "user": "local", "scope": "write", "at": time.time()}
        _, token = await Tokens(database).create(**given, expires_at=None)
    async with team_of(tmp_path, postgresql_url, model) as team:
        started = await asyncio.gather(
            *(team.start(*arguments_of(each["command"])) for each in services().values()
              if "command" in each)
        )  # fmt: skip
        addresses = [re.search(r"http://\S+", line) for _, line in started]
        first, second = (found.group() for found in addresses if found)
        headers = {"Authorization": f"Bearer {token}"}
        async with client_of(first) as one, client_of(second) as two:
            one.headers.update(headers)
            two.headers.update(headers)
            body = {"question": "Where is login defined? (1)"}
            async with one.stream("POST", "/api/oracle/stream", json=body) as response:
                run_id = response.headers["Oracle-Run"]
            # The other front end streams the same run.
            last = {}
            async with two.stream("GET", f"/api/runs/{run_id}/stream") as response:
                async for line in response.aiter_lines():
                    if line.startswith("data: "):
                        last = json.loads(line.removeprefix("data: "))
                        if last["type"] == "approval":
                            await approve(two, run_id)
            assert (last["type"], last["stop_reason"]) == ("done", "answered")
            metrics = (await two.get("/metrics")).text
        assert 'oracle_workers{state="working"} 3' in metrics
        assert 'oracle_queue_runs{state="waiting"} 0' in metrics
        listed = await asyncio.to_thread(
            run,
            [*ORACLE, "workers", "--json"],
            cwd=tmp_path,
            env=team.environment,
            capture_output=True,
            text=True,
        )
        assert [each["state"] for each in json.loads(listed.stdout)] == ["working"] * 3
