"""What the folders promise: imports point one way, and the engine stays small."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

import oracle

SOURCE = Path(oracle.__file__).parent
ENGINE = ("bt/state", "bt/core", "bt/nodes", "bt/lua")
DOORS = ("oracle.cli", "oracle.api", "oracle.acp", "oracle.mcp")
FORBIDDEN = {
    "models": ("oracle.bt", "oracle.services", *DOORS),
    "services": ("oracle.bt", *DOORS),
    "bt": DOORS,
    "api": ("oracle.cli", "oracle.acp", "oracle.evaluation"),
    "acp": ("oracle.cli", "oracle.api", "oracle.mcp", "oracle.evaluation"),
    "mcp": ("oracle.cli", "oracle.evaluation", "oracle.api.routes", "oracle.api.door"),
    "services/questions": (
        "oracle.services.llm",
        "oracle.services.quoting",
        "oracle.services.coverage",
        "oracle.services.embedded",
        "oracle.services.search",
    ),
    "services/quoting": (
        "oracle.services.llm",
        "oracle.services.coverage",
        "oracle.services.embedded",
        "oracle.services.search",
    ),
    "services/coverage": ("oracle.services.embedded", "oracle.services.search"),
    "services/embedded": ("oracle.services.coverage", "oracle.services.search"),
    "services/search": ("oracle.services.tools", "oracle.services.llm", "oracle.services.quoting"),
    "services/tools": (
        "oracle.services.llm",
        "oracle.services.questions",
        "oracle.services.quoting",
        "oracle.services.coverage",
    ),
    "bt/conditions": ("oracle.bt.actions", "oracle.bt.wrappers", "oracle.cli"),
    "bt/actions": (
        "oracle.bt.conditions",
        "oracle.bt.wrappers",
        "oracle.cli",
        *(f"oracle.bt.actions.{leaves}" for leaves in ("calls", "coverage", "finish", "turn")),
    ),
    "bt/state": (
        "oracle.models",
        "oracle.services",
        "oracle.bt.core",
        "oracle.bt.nodes",
        "oracle.bt.lua",
    ),
    "bt/core": (
        "oracle.models",
        "oracle.services",
        "oracle.bt.nodes",
        "oracle.bt.lua",
        "oracle.cli",
    ),
    "bt/nodes": ("oracle.models", "oracle.services", "oracle.bt.lua", "oracle.cli"),
    "bt/lua": ("oracle.models", "oracle.services", "oracle.cli"),
    "bt/render": ("oracle.models", "oracle.services", "oracle.bt.lua", "oracle.cli"),
}


@cache
def imports_of(file):
    """Of a file that is in several rooms too, it is read once."""
    return tuple(names_imported(file))


def names_imported(file):
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module


@pytest.mark.parametrize("room", FORBIDDEN)
def test_a_room_uses_only_what_it_may(room):
    for file in (SOURCE / room).rglob("*.py"):
        for module in imports_of(file):
            assert not module.startswith(FORBIDDEN[room]), f"{file} imports {module}"


def lines_of_code(file):
    """Count lines that do something: no blanks, comments, documentation or imports."""
    source = file.read_text(encoding="utf-8")
    idle: set[int] = set()
    for node in ast.walk(ast.parse(source)):
        is_documentation = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        if is_documentation or isinstance(node, ast.Import | ast.ImportFrom):
            idle.update(range(node.lineno, node.end_lineno + 1))
    return sum(
        1
        for number, line in enumerate(source.splitlines(), start=1)
        if number not in idle and line.strip() and not line.lstrip().startswith("#")
    )


def test_the_engine_stays_near_two_thousand_lines():
    files = [file for room in ENGINE for file in (SOURCE / room).rglob("*.py")]
    assert sum(map(lines_of_code, files)) < 2_200


def test_no_file_outgrows_the_rest():
    for file in SOURCE.rglob("*.py"):
        lines = len(file.read_text(encoding="utf-8").splitlines())
        assert lines <= 400, f"{file} has {lines} lines; it asks for a second look"


def test_every_yes_or_no_question_is_asked_in_one_module():
    asking = r"\[y/N|typer\.confirm"
    found = [
        file.relative_to(SOURCE).as_posix()
        for file in SOURCE.rglob("*.py")
        if re.search(asking, file.read_text(encoding="utf-8"))
    ]
    assert found == ["cli/terminal/approval.py"]
