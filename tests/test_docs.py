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
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from textwrap import indent

import pytest

import oracle.bt.nodes  # noqa: F401 - registers the kinds
from oracle.bt.core.node import Node
from tests import processes
from tests.processes import ORACLE, relayed
from tests.tables import each_row

ROOT = Path(__file__).parents[1]
PAGES = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md")),
    *sorted((ROOT / "docs").glob("*.md")),
]
BLOCK = re.compile(r"^```(\w+)([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\((?!https?://|#)([^)#]+)")


PROGRAMS = {"oracle": ORACLE, "python": [sys.executable]}
COMMAND = re.compile(
    r"(?:cd (?P<folder>\S+) && |(?P<before>\w[^|&;$]*) && |(?P<input>printf [^|&;$]*) \| )?"
    r"(?P<variables>(?:[A-Z_]+=(?:[^\s$]+|\$PWD) )*)"
    r"(?P<program>oracle|python(?! -))(?P<arguments>[^|&;<>$`]*?)(?: </dev/null)?"
    r"(?: ?> ?(?P<file>[^\s&|]+))?"
    r"(?P<errors> 2>/dev/null| 2>&1)?(?: \| (?P<filter>.*))?(?P<code>; echo \$\?)?"
)
"""What can run without a shell, and so as a fork. An interpreter takes a second to start."""


@cache
def programs() -> TemporaryDirectory:
    """An `oracle` for shells, and for examples that start one: it forks as well."""
    folder = TemporaryDirectory()
    program = Path(folder.name, "oracle")
    program.write_text(f'#!/bin/sh\nexec {shlex.join(relayed(ORACLE))} "$@"\n')
    program.chmod(0o700)
    return folder


def shell(command: str, folder: Path) -> str:
    """What a command prints. Only one that needs a shell gets one."""
    places = (programs().name, str(Path(sys.executable).parent), os.environ["PATH"])
    env = {**os.environ, "PATH": os.pathsep.join(places), "NO_COLOR": "1", "TZ": "UTC"}
    # The page with a test of its own needs pytest only; what else is installed takes seconds.
    env["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    if known := COMMAND.fullmatch(command):
        return forked(known, folder, env)
    output = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    return subprocess.run(command, shell=True, timeout=300, cwd=folder, env=env, **output).stdout


def forked(known: re.Match, folder: Path, env: dict) -> str:
    errors = {None: subprocess.PIPE, " 2>&1": subprocess.STDOUT, " 2>/dev/null": subprocess.DEVNULL}
    if known["before"]:
        subprocess.run(["sh", "-c", known["before"]], cwd=folder, env=env, check=True)
    given = known["input"] and subprocess.check_output(["sh", "-c", known["input"]], text=True)
    place = folder / (known["folder"] or "")
    is_apart = known["filter"] or known["file"]
    variables = known["variables"].replace("$PWD", shlex.quote(str(place)))
    done = processes.run(
        [*PROGRAMS[known["program"]], *shlex.split(known["arguments"])],
        cwd=place,
        env=env | dict(each.split("=", 1) for each in shlex.split(variables)),
        **({"input": given} if given else {"stdin": subprocess.DEVNULL}),
        stdout=subprocess.PIPE,
        # A filter or a file gets them only after `2>&1`.
        stderr=errors[known["errors"] if is_apart else known["errors"] or " 2>&1"],
        text=True,
    )
    output = done.stdout
    if known["file"]:
        (place / known["file"]).write_text(output, encoding="utf-8")
        output = done.stderr or ""
    if known["filter"]:
        command = ["sh", "-c", known["filter"]]
        filtered = subprocess.run(command, input=output, capture_output=True, text=True)
        output = (done.stderr or "") + filtered.stdout
    return f"{output}{done.returncode}\n" if known["code"] else output


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


@each_row("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page):
    for target in LINK.findall(page.read_text(encoding="utf-8")):
        assert (page.parent / target).exists(), target


def test_every_kind_of_node_is_in_the_table_of_the_page_about_trees():
    page = (ROOT / "docs" / "trees.md").read_text(encoding="utf-8")
    listed = set(re.findall(r"`(\w+)`", "".join(re.findall(r"^\| (`.*?) \|", page, re.MULTILINE))))
    assert set(Node.kinds) <= listed


@each_row("kind", Node.kinds.values(), ids=Node.kinds)
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
