"""`oracle audit`, as a user calls it: in a process of its own."""

import asyncio
import json
import os
import signal
import time
from contextlib import suppress

import pytest

from oracle.services.ans.event import Event, Severity
from oracle.services.ans.table import open_events
from oracle.services.storage.database import Database
from tests.cli.processes import Terminal
from tests.processes import ORACLE, PIPE, Process, TimeoutExpired, run

NOON = 1767873600.5


@pytest.fixture
def project(tmp_path):
    """A project with four events, and its table."""
    (tmp_path / "oracle.toml").touch()
    (tmp_path / ".oracle").mkdir()
    path = tmp_path / ".oracle" / "oracle.db"

    async def prepare():
        await (await Database.open(path)).close()

    asyncio.run(prepare())
    table = open_events(path)
    table.append(
        [
            event("run.started", run_id="r1", payload={"question": "why?\x1b[2J\x9b ‮", "n": 1}),
            event("fallback.triggered", run_id="r1", turn=3, severity=Severity.WARNING),
            event("run.ended", run_id="r2", at=NOON + 60),
            event("node.failed", at=time.time(), payload={"error": "größe.lua"}),
        ]
    )
    yield tmp_path, table
    table.close()


def event(type_, **fields):
    return Event(**{"type": type_, "source": "test", "at": NOON, **fields})


def environment(**more):
    return {**os.environ, "NO_COLOR": "1", "TZ": "UTC", **more}


def audit(folder, *arguments, **more):
    command = [*ORACLE, "audit", *arguments]
    return run(
        command, capture_output=True, text=True, cwd=folder, env=environment(**more), timeout=300
    )


def types_in(result):
    assert (result.returncode, result.stderr) == (0, "")
    return [json.loads(line)["type"] for line in result.stdout.splitlines()]


def test_a_line_has_time_run_turn_type_and_words_and_moves_no_cursor(project):
    result = audit(project[0], "--run", "r1")
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout == (
        "2026-01-08 12:00:00.500  r1  "
        r'run.started: question "why?\u001b[2J ", n 1'
        "\n"
        "2026-01-08 12:00:00.500  r1  turn 3  warning: fallback.triggered\n"
    )


def test_json_is_one_object_a_line(project):
    result = audit(project[0], "--json", "--run", "r2")
    assert json.loads(result.stdout) == {
        "id": 3,
        "at": NOON + 60,
        "run_id": "r2",
        "turn": None,
        "type": "run.ended",
        "source": "test",
        "severity": "info",
        "payload": {},
    }


@pytest.mark.parametrize(
    ("arguments", "types"),
    [
        ([], ["run.started", "fallback.triggered", "run.ended", "node.failed"]),
        (["--type", "fallback.*"], ["fallback.triggered"]),
        (
            ["--type", "run.*", "--type", "node.*"],
            ["run.started", "run.ended", "node.failed"],
        ),
        (["--type", "run.*", "--run", "r1"], ["run.started"]),
        (["--since", "10m"], ["node.failed"]),
        (["--since", "2026-01-08T12:01:00"], ["run.ended", "node.failed"]),
        (["r1"], ["run.started", "fallback.triggered"]),
        (["r1", "--run", "r1"], ["run.started", "fallback.triggered"]),
        (["-n", "1"], ["node.failed"]),
        (["-n", "1", "--type", "run.*"], ["run.ended"]),
    ],
)
def test_options_select(project, arguments, types):
    assert types_in(audit(project[0], "--json", *arguments)) == types


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--type", "falback.*"], "no event type 'falback.*'; did you mean 'fallback.*'?"),
        (["--type", "run.begun"], "no event type 'run.begun'"),
        (["--run", "nobody"], "no run 'nobody'; `oracle runs` shows which there are"),
        (["nobody"], "no run 'nobody'; `oracle runs` shows which there are"),
        (["r1", "--run", "r2"], "two runs are named: 'r1' and 'r2'; name one"),
        (["--run", "last"], "there are no runs yet; ask something first"),
        (["--since", "noon"], "'noon' is not a time; write an age like 10m"),
    ],
)
def test_a_mistake_is_told_with_the_way_out(project, arguments, message):
    result = audit(project[0], *arguments)
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr.startswith(f"oracle: {message}")


def test_alone_on_a_terminal_it_shows_the_newest_and_says_how_to_see_more(project):
    folder, table = project
    table.append([event("turn.started", run_id="r3", turn=number) for number in range(30)])
    terminal = Terminal("audit", cwd=folder, env={"TZ": "UTC"})
    assert terminal.end() == 0
    assert [f" · turn {number} · " in terminal.shown for number in (9, 10, 29)] == [
        False,
        True,
        True,
    ]
    more = "newest 20; `oracle audit last` shows the last run, -n 100 more"
    assert terminal.shown.replace("\n", " ").rstrip().endswith(more)
    # A pipe gets all, and whoever names a run or a time has chosen.
    assert len(audit(folder).stdout.splitlines()) == 34
    terminal = Terminal("audit", "r3", cwd=folder)
    assert terminal.end() == 0
    assert "turn 0 " in terminal.shown
    assert "newest" not in terminal.shown


def test_a_project_without_events_yet_has_nothing_to_tell(tmp_path):
    (tmp_path / "oracle.toml").touch()
    assert types_in(audit(tmp_path, "--json")) == []


def test_a_terminal_that_knows_only_ascii_sees_escapes(project):
    result = audit(project[0], "--type", "node.*", PYTHONIOENCODING="ascii")
    assert (result.returncode, result.stderr) == (0, "")
    assert r"a node failed: gr\xf6\xdfe.lua" in result.stdout


@pytest.fixture
def following(project):
    folder, table = project
    process = Process(
        [*ORACLE, "audit", "--follow", "--json"],
        stdout=PIPE,
        stderr=PIPE,
        text=True,
        cwd=folder,
        env=environment(),
    )
    with process:
        assert process.stderr.readline() == "oracle: waiting for events; press Ctrl-C to stop\n"
        yield process, table
        process.kill()


def interrupted(process):
    """Press Ctrl-C as a person would: again if nothing happens, for a finalizer may eat one."""
    for _ in range(5):
        process.send_signal(signal.SIGINT)
        with suppress(TimeoutExpired):
            return process.wait(6)
    return None


def test_follow_prints_new_events_as_they_come_until_ctrl_c(following):
    process, table = following
    for type_ in ("turn.started", "turn.ended"):
        table.append([event(type_)])
        assert json.loads(process.stdout.readline())["type"] == type_
    assert interrupted(process) == 130
    assert (process.stdout.read(), process.stderr.read()) == ("", "")


def test_follow_ends_when_its_reader_is_gone_though_nothing_happens(following):
    process, _ = following
    process.stdout.close()
    process.wait(30)
    assert process.stderr.read() == ""
