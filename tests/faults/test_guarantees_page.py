"""The page of guarantees names tests that exist, and leaves no file of attacks out."""

import re
from pathlib import Path

from tests.tables import each_row

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "guarantees.md").read_text(encoding="utf-8")
ROWS = [line.strip("|").split("|") for line in PAGE.splitlines() if line.startswith("| ")]
PROMISES = [row for row in ROWS if row[0].strip() not in ("promise", "---")]
NAMED = sorted(set(re.findall(r"tests/[\w/]+(?:\.py)?", PAGE)))


@each_row("path", NAMED)
def test_what_is_named_exists(path):
    assert (ROOT / path).exists()


@each_row("row", PROMISES, ids=lambda row: row[0].strip()[:40])
def test_each_promise_says_what_it_rests_on_and_what_tries_to_break_it(row):
    promise, rests_on, tried_by, _ = (cell.strip() for cell in row)
    assert promise.endswith(".")
    assert rests_on
    assert "tests/" in tried_by


def test_each_file_of_attacks_is_named():
    files = {f"tests/faults/{file.name}" for file in Path(__file__).parent.glob("test_*.py")}
    assert files - set(NAMED) == {f"tests/faults/{Path(__file__).name}"}
