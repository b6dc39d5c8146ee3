"""The documents tell the truth: their blocks are executed, and nothing is left out.

A block tagged `file=NAME` is written to a folder of the page's own. If it is Python, it is run: at
once, or where the page says `$ python NAME`. A `console` block is played: what follows a `$ ` is
executed there, and its output must be what the page shows.
"""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from textwrap import indent

import pytest

import oracle.bt.nodes  # noqa: F401 - registers the kinds
from oracle.bt.core.node import Node
from tests import processes
from tests.processes import ORACLE

ROOT = Path(__file__).parents[1]
PAGES = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md")),
    *sorted((ROOT / "docs").glob("*.md")),
]
BLOCK = re.compile(r"^```(\w+)([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\((?!https?://|#)([^)#]+)")


PROGRAMS = {"oracle": ORACLE, "python": [sys.executable]}


def shell(command: str, folder: Path) -> str:
    """What a command prints. Only one that needs a shell gets one."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    options = {
        "cwd": folder,
        "env": {**os.environ, "PATH": path, "NO_COLOR": "1", "TZ": "UTC"},
        "stdout": subprocess.PIPE,
        "stderr": subprocess.STDOUT,
        "text": True,
    }
    name, *arguments = shlex.split(command)
    if name in PROGRAMS and not set(command) & set("|&;<>$`"):
        return processes.run([*PROGRAMS[name], *arguments], **options).stdout
    return subprocess.run(command, shell=True, timeout=60, **options).stdout


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_blocks_of_a_page_do_what_it_says(page, tmp_path):
    text = page.read_text(encoding="utf-8")
    for language, tags, body in BLOCK.findall(text):
        if match := re.search(r"file=(\S+)", tags):
            (tmp_path / match[1]).write_text(body, encoding="utf-8")
            if language == "python" and f"$ python {match[1]}\n" not in text:
                assert shell(f"python {match[1]}", tmp_path).count("Traceback") == 0
        elif language == "console":
            for step in re.split(r"^\$ ", body, flags=re.MULTILINE)[1:]:
                command, _, expected = step.partition("\n")
                assert shell(command, tmp_path) == expected, command


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page):
    for target in LINK.findall(page.read_text(encoding="utf-8")):
        assert (page.parent / target).exists(), target


def test_every_kind_of_node_is_in_the_table_of_the_page_about_trees():
    page = (ROOT / "docs" / "trees.md").read_text(encoding="utf-8")
    listed = set(re.findall(r"`(\w+)`", "".join(re.findall(r"^\| (`.*?) \|", page, re.MULTILINE))))
    assert set(Node.kinds) <= listed


@pytest.mark.parametrize("kind", Node.kinds.values(), ids=Node.kinds)
def test_the_docstring_of_a_node_is_its_truth_table(kind):
    assert re.search(r"^    \| -+ \| -+ \|$", kind.__doc__, re.MULTILINE), kind


def test_every_dependency_is_justified():
    declared = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    page = (ROOT / "docs" / "dependencies.md").read_text(encoding="utf-8")
    for name in re.findall(r'^    "([A-Za-z0-9_-]+)[>=\[]', declared, re.MULTILINE):
        assert name in page, name


def test_the_picture_in_the_readme_is_the_tree_of_the_demo():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    (command,) = re.findall(r"^`(oracle tree show [^`]*mermaid)`", readme, re.MULTILINE)
    assert f"```mermaid\n{shell(command, ROOT)}```" in readme


def test_the_tree_in_the_readme_is_the_tree_of_the_demo():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    (shown,) = re.findall(r"^```lua\n(.*?)^```", readme, re.MULTILINE | re.DOTALL)
    tree = (ROOT / "examples" / "reader" / "reader.lua").read_text(encoding="utf-8")
    assert indent(shown, "  ") in tree
