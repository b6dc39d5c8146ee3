"""A write that fails in the middle leaves what was there, and nothing else."""

import sys

import pytest

from tests.processes import PIPE, run

CRAMPED = """
import asyncio, json, pathlib, resource, sys
from oracle.services.tools.project_tools import project_tools

async def main():
    tools = project_tools(pathlib.Path(sys.argv[1]))
    resource.setrlimit(resource.RLIMIT_FSIZE, (4000, 4000))
    result = await tools.run(sys.argv[2], json.loads(sys.argv[3]))
    print(result["success"], result["content"])

asyncio.run(main())
"""
LONG = "words " * 2000


def contents(root):
    files = (path for path in root.rglob("*") if path.is_file())
    return {str(path.relative_to(root)): path.read_bytes() for path in files}


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("push_thread", f'{{"thread": "decisions", "entry": "{LONG}"}}'),
        ("write_note", f'{{"title": "New", "content": "{LONG}"}}'),
        ("write_note", f'{{"title": "Supplier", "content": "{LONG}", "overwrite": true}}'),
    ],
)
def test_where_the_disk_takes_no_more_everything_stays_as_it_was(root, tool, arguments):
    before = contents(root)
    done = run([sys.executable, "-c", CRAMPED, root, tool, arguments], stdout=PIPE, text=True)
    assert done.stdout.startswith("False nothing was written")
    assert contents(root) == before


async def test_what_a_crash_left_half_written_is_not_seen(root, tools):
    (root / "notes" / ".oracle-0123456789abcdef.tmp").write_text("half a zeppelin")
    (root / "notes" / ".oracle-fedcba9876543210.tmp.md").write_text("half a zeppelin")
    assert (await tools.run("search_vault", {"query": "zeppelin"}))["empty"]
    assert ".oracle-" not in (await tools.run("list_notes", {}))["content"]
