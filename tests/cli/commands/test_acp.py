"""`oracle acp` as an editor starts it: a process of its own, spoken to by the package's client."""

import asyncio
import json
import os
import signal
import subprocess
import sys

import pytest

from oracle.services.installing import install_command
from oracle.testing.servers import Reply, Stall, openai
from tests.acp.editor import as_process
from tests.cli.processes import QUESTION, make_project, model_serving, says, searches
from tests.processes import DEVNULL, ORACLE, PIPE, Process, run

pytestmark = pytest.mark.extra

INITIALIZE = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {"protocolVersion": 1}}


@pytest.fixture
def project(tmp_path):
    return make_project(tmp_path)


async def test_an_editor_asks_a_model_and_sees_what_it_does(project):
    answer = says("After 1800 seconds, `session.py:1`.")
    with model_serving(searches("I will look."), answer) as (env, _):
        # An interpreter of its own; the other tests fork one.
        async with as_process(env={**env, "OPENAI_API_KEY": "test"}, is_fork=False) as editor:
            session = await editor.new(project)
            ended = await editor.ask(session, QUESTION)
            listed = (await editor.agent.list_sessions(cwd=str(project))).sessions
    assert ended.stop_reason == "end_turn"
    assert editor.text().startswith("After 1800 seconds, `session.py:1`.")
    (call,), (result,) = editor.of("tool_call"), editor.of("tool_call_update")
    assert (call.kind, result.status) == ("search", "completed")
    assert result.locations[0].path == str(project / "session.py")
    assert [each.session_id for each in listed] == [session]
    assert editor.process.returncode == 0


async def test_what_own_code_prints_never_reaches_the_protocol(project):
    tools = project / ".oracle/tools"
    tools.mkdir(parents=True)
    (tools / "loud.py").write_text(
        "import os, sys, oracle\n\n"
        "print('printed at import')\n\n\n"
        "@oracle.tool\n"
        "def search_tickets(query: str) -> str:\n"
        '    """Search tickets."""\n'
        "    print('printed by the tool')\n"
        "    sys.__stdout__.write('printed around it\\n')\n"
        "    sys.__stdout__.flush()\n"
        "    os.system('echo printed by a program')\n"
        "    return 'Ticket 7: a session expires after a pause.'\n"
    )
    run([*ORACLE, "tools", "trust"], cwd=project, capture_output=True, stdin=DEVNULL)
    calls = [("search_tickets", '{"query": "session"}')]
    look = says(type_="need_turn", reason="look", calls=calls)
    with model_serving(look, says("After a pause.")) as (env, _):
        async with as_process(env={**env, "OPENAI_API_KEY": "test"}) as editor:
            ended = await editor.ask(await editor.new(project), "Which ticket is about sessions?")
    (result,) = editor.of("tool_call_update")
    assert "Ticket 7" in result.content[0].content.text
    assert ended.stop_reason == "end_turn"
    for line in ("at import", "around it", "by a program"):
        assert f"printed {line}" in editor.errors


def test_stdout_has_nothing_but_messages(project):
    sent = json.dumps(INITIALIZE).encode() + b"\nnot json\n{}\n[]\n"
    done = run([*ORACLE, "acp"], cwd=project, input=sent, stdout=PIPE, stderr=PIPE)
    (reply,) = done.stdout.splitlines()
    assert json.loads(reply)["result"]["agentInfo"]["name"] == "oracle"
    assert done.returncode == 0


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_it_stops_when_it_is_told_to(project, how):
    process = Process([*ORACLE, "acp"], cwd=project, stdin=PIPE, stdout=PIPE, stderr=PIPE)
    process.stdin.write(json.dumps(INITIALIZE).encode() + b"\n")
    process.stdin.flush()
    assert process.stdout.readline()
    process.send_signal(how)
    assert process.wait(60) == 0


async def test_an_editor_that_leaves_ends_its_question(project):
    stalls = Reply(body=[*openai.stream(openai.text("It is. " * 50))[:-2], Stall()])
    with model_serving(stalls) as (env, _):
        async with as_process(env={**env, "OPENAI_API_KEY": "test"}) as editor:
            session = await editor.new(project)
            asking = asyncio.create_task(editor.ask(session, QUESTION))
            await editor.until("plan", times=2)
    with pytest.raises(ConnectionError):
        await asking
    assert editor.process.returncode == 0
    listed = run([*ORACLE, "runs", "--json"], cwd=project, stdout=PIPE, stdin=DEVNULL)
    assert [each["stop_reason"] for each in json.loads(listed.stdout)] == ["cancelled"]


def test_without_the_package_the_command_that_installs_it_is_named(project):
    hidden = "import sys; sys.modules['acp'] = None; from oracle.cli.main import run; run()"
    # Not a fork of a process that has imported it already.
    done = subprocess.run(
        [sys.executable, "-c", hidden, "acp"],
        cwd=project,
        stdin=DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 2
    assert install_command("acp") in done.stderr
    assert done.stdout == ""


def test_a_file_on_stdin_is_refused_in_one_line(project):
    with open(project / "oracle.toml", "rb") as file:
        done = run([*ORACLE, "acp"], cwd=project, stdin=file, stdout=PIPE, stderr=PIPE)
    assert done.returncode == 2
    assert b"started by an editor" in done.stderr
    assert b"Traceback" not in done.stderr


def test_an_empty_stdin_ends_it(project):
    with open(os.devnull, "rb") as nothing:
        done = run([*ORACLE, "acp"], cwd=project, stdin=nothing, stdout=PIPE, stderr=PIPE)
    assert (done.returncode, done.stdout) == (0, b"")
