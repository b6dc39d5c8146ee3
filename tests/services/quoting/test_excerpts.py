"""How much of a definition or a paragraph is quoted, and whether it goes on."""

import pytest

from oracle.services.quoting.excerpts import MOST_QUOTED, enclosing_name, whole_excerpt
from oracle.services.quoting.quotation import Quotation


def source(text, path="a.py"):
    return Quotation.of(
        {"kind": "code", "where": path, "path": path, "start": 1, "end": 99, "text": text}
    )


def function(lines):
    return "\n".join(["def f():", *(f"    x = {n}" for n in range(lines - 1)), "", "y = 1"])


@pytest.mark.parametrize("lines", [2, 11, MOST_QUOTED])
def test_a_short_definition_is_quoted_whole(lines):
    end, goes_on = whole_excerpt(source(function(lines)), 0, min(9, lines - 1))
    assert (end, goes_on) == (lines - 1, False)


def test_a_long_definition_is_cut_and_goes_on():
    assert whole_excerpt(source(function(MOST_QUOTED + 1)), 0, 9) == (9, True)


def test_a_definition_that_the_source_cuts_goes_on():
    assert whole_excerpt(source("def f():\n    raise ValueError("), 0, 1) == (1, True)


def test_a_long_paragraph_is_quoted_whole_too():
    text = "\n".join([*(f"line {n}" for n in range(12)), "", "other"])
    assert whole_excerpt(source(text, "a.md"), 0, 7) == (11, False)


@pytest.mark.parametrize(
    ("line", "name"), [(2, "sell"), (1, "Till"), (0, ""), (5, ""), (8, "outer")]
)
def test_the_definition_around_a_line_is_named(line, name):
    lines = [
        "class Till:",
        "    def sell(self):",
        "        return 1",
        "",
        "",
        "RATE = 2",
        "function outer () {",
        "  const inner = {",
        "    a: 1",
    ]
    assert enclosing_name(lines, line) == name
