"""`oracle mcp` as an editor starts it: a process of its own, on stdin and stdout."""

import subprocess
import sys

import pytest

from oracle.services.installing import install_command
from tests.mcp_door.conftest import over_stdio
from tests.mcp_door.test_reading import TOOLS

pytestmark = pytest.mark.extra


async def test_a_program_asks_over_stdio(root, era):
    progress = []

    async def hear(number, total, message):
        progress.append((number, message))

    # One of the two has an interpreter of its own.
    model = ("--model", "embedded")
    async with over_stdio(root, era, *model, is_fork=era == "legacy") as client:
        spoken, offered = client.protocol_version, (await client.list_tools()).tools
        question = {"question": "Where is login defined?"}
        result = await client.call_tool("ask", question, progress_callback=hear)
    assert spoken == ("2025-11-25" if era == "legacy" else era)
    assert [tool.name for tool in offered] == TOOLS
    assert "auth.py:1-2" in result.content[0].text
    assert result.structured_content["context_id"]
    numbers = [number for number, _ in progress]
    assert numbers == sorted(set(numbers))
    assert "turn 1" in [message for _, message in progress]


async def test_what_own_code_prints_does_not_reach_the_protocol(root, era):
    tools = root / ".oracle" / "tools"
    tools.mkdir(parents=True)
    own = "import os, oracle\nprint('loud')\nos.write(1, b'louder')\nos.system('echo loudest')\n"
    (tools / "own.py").write_text(own + "@oracle.tool(for_='code')\ndef x() -> str:\n  'X.'\n")
    trusted = {"ORACLE_TRUST": str(root)}
    async with over_stdio(root, era, "--model", "embedded", environment=trusted) as client:
        assert len((await client.list_tools()).tools) == len(TOOLS)


def test_without_the_package_the_command_that_installs_it_is_named(root):
    hidden = "import sys; sys.modules['mcp'] = None; from oracle.cli.main import run; run()"
    ended = subprocess.run(
        [sys.executable, "-c", hidden, "mcp"], cwd=root, capture_output=True, text=True
    )
    assert (ended.returncode, ended.stdout) == (2, "")
    assert install_command("mcp") in ended.stderr
