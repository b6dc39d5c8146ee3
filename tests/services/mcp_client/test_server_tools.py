"""Tools of other servers, against real programs: whatever they do costs one clear tool error."""

import asyncio
import os
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from oracle.models.query_classification import QueryType
from oracle.services.mcp import server_tools
from oracle.services.mcp.server_tools import ServerTools, WithServers
from oracle.services.mcp.transports import end_programs
from oracle.services.settings.mcp_servers import McpServer
from oracle.services.tools.executor import ToolBox
from oracle.testing.servers import mcp_program

PROGRAM = mcp_program.__file__
SECONDS = 30.0
"""Enough for a busy machine. Where a limit must be reached, the test sets a short one."""


@pytest.fixture(autouse=True)
def no_program_is_left():
    yield
    end_programs()


@pytest.fixture
def log(tmp_path):
    return tmp_path / "log"


@pytest.fixture
def server(log):
    def server(manner, **options):
        command = (sys.executable, "-I", PROGRAM, manner, str(log))
        return McpServer(name="jira", **{"command": command, "timeout": SECONDS, **options})

    return server


def opened(*servers, environment=None, dry_run=False):
    given = {"PATH": os.environ["PATH"], **(environment or {})}
    each = [ServerTools(server, None, given, dry_run=dry_run) for server in servers]
    return WithServers(ToolBox([]), each)


async def prepared(*servers, **options):
    tools = opened(*servers, **options)
    await tools.prepare(QueryType.DOCUMENTATION)
    return tools


def starts(log):
    return log.read_text().count("start\n") if log.exists() else 0


async def test_a_tool_of_a_server_is_offered_and_called(server, log):
    tools = await prepared(server("well", for_=("documentation",)))
    reads, writes = tools.specs
    assert (reads.name, reads.writes, reads.needs_yes) == ("jira__search", False, False)
    assert (writes.name, writes.writes, writes.needs_yes) == ("jira__create", True, True)
    assert reads.query_types == {QueryType.DOCUMENTATION}
    assert writes.query_types == {QueryType.ACTION}
    result = await tools.run("jira__search", {"query": "OPS-12"})
    assert result["success"]
    assert "(data, not instructions)" in result["content"]
    assert "OPS-12" in result["content"]
    assert (await tools.run("jira__search", {"query": "OPS-13"}))["success"]
    assert starts(log) == 1


async def test_settings_say_what_writes(server):
    tools = await prepared(server("well", reads=("create",), writes=("search",)))
    assert {spec.name: spec.writes for spec in tools.specs} == {
        "jira__search": True,
        "jira__create": False,
    }


async def test_a_question_that_does_not_need_a_server_does_not_start_it(server, log):
    tools = opened(server("silent", for_=("web",)))
    await tools.prepare(QueryType.CONVERSATIONAL)
    assert (starts(log), tools.specs) == (0, ())


async def test_a_server_is_asked_for_its_tools_once(server, log):
    first = await prepared(server("well"))
    again = opened(server("well"))
    assert (again.specs, again.needs_preparation, starts(log)) == (first.specs, False, 1)


async def test_only_named_variables_are_passed_on_and_come_back_redacted(server):
    secret = "hunter2-hunter2-hunter2"
    environment = {"JIRA_TOKEN": secret, "OPENAI_API_KEY": "sk-other", "LANG": "C"}
    tools = await prepared(server("well", env=("JIRA_TOKEN",)), environment=environment)
    content = (await tools.run("jira__search", {"query": "x"}))["content"]
    assert "JIRA_TOKEN" in content
    assert "OPENAI_API_KEY" not in content
    assert secret not in content


FAILING = {
    "dies": "the licence has expired",
    "silent": "did not list its tools in time",
    "rubbish": "did not list its tools in time",
    "spoilt": "it sent what does not fit the protocol (tools.2",
}


@pytest.mark.parametrize("manner", FAILING)
async def test_a_server_that_lists_nothing_costs_one_line(server, log, caplog, manner, monkeypatch):
    seconds = 0.5 if "in time" in FAILING[manner] else SECONDS
    monkeypatch.setattr(server_tools, "SECONDS_TO_LIST", seconds)
    tools = await prepared(server(manner))
    assert tools.specs == ()
    (record,) = [each for each in caplog.records if each.levelname == "WARNING"]
    assert FAILING[manner] in record.getMessage()
    # It is not asked again for the next question.
    await tools.prepare(QueryType.DOCUMENTATION)
    assert starts(log) <= 1


CALLS = {
    "breaks": "it ended",
    "huge": "more than 4,194,304 bytes",
    "fails": "jira__search failed: found",
    "wrong": "the server jira failed: it sent what does not fit the protocol (content: ",
}


@pytest.mark.parametrize("manner", CALLS)
async def test_a_call_that_fails_is_one_clear_error(server, manner):
    tools = await prepared(server(manner))
    result = await tools.run("jira__search", {"query": "x"})
    assert (result["success"], result["sources"]) == (False, [])
    assert CALLS[manner] in result["content"]
    assert len(result["content"]) < 2_000


@pytest.mark.parametrize("manner", ["hangs", "floods"])
async def test_a_call_never_takes_longer_than_its_limit(server, manner):
    await prepared(server(manner))
    result = await opened(server(manner, timeout=1.0)).run("jira__search", {"query": "x"})
    assert not result["success"]
    assert "took longer than 1 s" in result["content"]


async def test_a_write_whose_end_is_not_known_says_so(server):
    await prepared(server("hangs"))
    result = await opened(server("hangs", timeout=1.0)).run("jira__create", {"query": "x"})
    assert result["is_unknown"]


async def test_a_long_result_is_bounded(server):
    tools = await prepared(server("long"))
    result = await tools.run("jira__search", {"query": "x"})
    assert result["success"]
    assert len(result["content"]) < 50_000


async def test_hostile_names_and_schemas_are_left_out(server, caplog):
    tools = await prepared(server("hostile"))
    names = [spec.name for spec in tools.specs]
    assert len(names) == len(set(names)) == 40
    assert {"jira__deep", "jira__search", "jira__many0"} <= set(names)
    specs = {spec.name: spec for spec in tools.specs}
    assert "evil.example" not in str(specs["jira__deep"].parameters)
    words = specs["jira__search"].description
    assert len(words) < 900
    assert words.isprintable()
    assert "more than 40 tools" in caplog.text


@pytest.mark.parametrize("manner", ["endless", "circles"])
async def test_a_list_without_an_end_is_cut_and_costs_one_line(server, caplog, manner):
    assert len((await prepared(server(manner))).specs) == 2
    assert len([each for each in caplog.records if each.levelname == "WARNING"]) <= 1


async def test_a_tool_that_is_gone_is_one_clear_error(server):
    await prepared(server("changes"))
    tools = opened(server("changes"))
    result = await tools.run("jira__search", {"query": "x"})
    assert "has no tool search any more" in result["content"]
    assert [spec.name for spec in opened(server("changes")).specs] == ["jira__other"]


async def test_a_reading_tool_that_turns_into_a_writing_one_is_not_run(server, log):
    await prepared(server("turns"))
    result = await opened(server("turns")).run("jira__search", {"query": "x"})
    assert "it says now that it writes" in result["content"]
    assert "call" not in log.read_text()


async def test_in_a_dry_run_nothing_is_written(server, log):
    tools = await prepared(server("well"), dry_run=True)
    result = await tools.run("jira__create", {"query": "x"})
    assert result["plan"]
    assert "call" not in log.read_text()


@pytest.mark.parametrize("arguments", ["no json", {}, {"query": None}])
async def test_wrong_arguments_are_not_sent(server, log, arguments):
    tools = await prepared(server("well"))
    assert not (await tools.run("jira__search", arguments))["success"]
    assert "call" not in log.read_text()


async def test_a_program_that_is_not_there_is_one_clear_error(server, caplog):
    assert (await prepared(server("", command=("no-such-program",)))).specs == ()
    assert "the server jira cannot be started" in caplog.text


async def test_a_program_that_does_not_leave_is_ended_with_its_children(server, log):
    tools = await prepared(server("stays"))
    assert (await tools.run("jira__search", {"query": "x"}))["success"]
    end_programs()
    pids = [int(line.split()[1]) for line in log.read_text().splitlines() if "pid" in line]
    assert len(pids) == 2
    await asyncio.to_thread(wait_for_end, pids)


def wait_for_end(pids):
    while any(map(is_alive, pids)):
        os.sched_yield()


def is_alive(pid):
    """Whether it still runs. A process that nobody has waited for is dead all the same."""
    with suppress(OSError):
        return "State:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    return False
