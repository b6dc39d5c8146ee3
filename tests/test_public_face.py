"""`import oracle` costs nothing, and what it offers is a list that one can remember."""

import subprocess
import sys

import pytest

import oracle
from tests.tables import each_row

FACE = [
    "Oracle",
    "Answer",
    "tool",
    "Found",
    "Limits",
    "Model",
    "Tools",
    "ToolSpec",
    "ToolResult",
    "OracleStreamChunk",
    "ChunkType",
    "OracleError",
]


def test_the_public_names_are_these():
    assert oracle.__all__ == FACE
    assert dir(oracle) == sorted(FACE)


@each_row("name", FACE)
def test_each_public_name_is_there(name):
    assert getattr(oracle, name).__name__ == name


def test_another_name_is_not_there():
    with pytest.raises(AttributeError, match="no attribute 'Orakel'"):
        _ = oracle.Orakel


def test_importing_oracle_imports_nothing_else():
    heavy = "[m for m in sys.modules if m.startswith(('oracle.', 'sqlite3', 'lupa', 'asyncio'))]"
    code = f"import sys, oracle; print({heavy})"
    assert subprocess.check_output([sys.executable, "-c", code], text=True) == "[]\n"
