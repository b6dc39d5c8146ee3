"""The outline of a Python file, read from its tokens alone.

Python is the most common language here, and a full parse would be half of the cost of an index.
Strings and comments are recognised as such, blocks by their indentation. A test compares the result
with that of the grammar on installed packages.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import Final

from oracle.patterns import lazy_pattern
from oracle.services.search.symbols import Outline, Symbol, nested

_QUOTED: Final = lazy_pattern(
    r'"""[^"\\]*(?:(?:\\.|"(?!""))[^"\\]*)*"""'
    r"|'''[^'\\]*(?:(?:\\.|'(?!''))[^'\\]*)*'''"
    r'|"[^"\\\n]*(?:\\.[^"\\\n]*)*"'
    r"|'[^'\\\n]*(?:\\.[^'\\\n]*)*'"
    r"|#[^\n]*",
    re.DOTALL,
)
_BEGINS: Final = lazy_pattern(r"\n([ \t]*)(?:(@)|(?:async[ \t]+)?(def|class)[ \t]+(\w+))")
_ASSIGNED: Final = lazy_pattern(
    r"\n(?:type[ \t]+(\w+)[ \t]*(?:\[[^\n]*?\])?|(\w+)[ \t]*(?::[^=\n]*)?)[ \t]*=(?!=)"
)


def python_outline(text: str) -> Outline:
    code, remarks = _without_strings(text)
    code = "\n" + code
    symbols = [*_blocks(code), *_constants(code)]
    return Outline(symbols=nested(symbols), remarks=remarks)


def _without_strings(text: str) -> tuple[str, list[tuple[int, int]]]:
    """The code line for line, without strings and comments; the lines of comments and docstrings.

    After a string of several lines there is a closing bracket, so that `_next_outside` does not
    take the string's last line for the end of a block.
    """
    kept: list[str] = []
    remarks: list[tuple[int, int]] = []
    last, line = 0, 1
    for match in _QUOTED.finditer(text):
        start, end = match.span()
        between = text[last:start]
        kept.append(between)
        line += between.count("\n")
        quoted = match[0]
        inside = quoted.count("\n")
        if quoted[0] == "#":
            remarks.append((line, line))
        else:
            if quoted[:3] in ('"""', "'''") and not between.rpartition("\n")[2].strip(" \trRuU"):
                remarks.append((line, line + inside))
            kept.append('""' + "\n" * inside + ")" * bool(inside))
        line += inside
        last = end
    kept.append(text[last:])
    return "".join(kept), remarks


def _blocks(code: str) -> Iterator[Symbol]:
    last, line = 0, 0
    decorated: int | None = None
    for match in _BEGINS.finditer(code):
        line += code.count("\n", last, match.start()) + 1
        last = match.start() + 1
        indent, decorator, keyword, name = match.groups()
        if decorator:
            decorated = decorated or line
            continue
        yield Symbol(
            name=name,
            kind="class" if keyword == "class" else "function",
            start=decorated or line,
            end=line + _height(code, match.end(), len(indent)),
        )
        decorated = None


def _height(code: str, start: int, indent: int) -> int:
    """How many lines follow in a block: up to the next line that is not indented further."""
    following = _next_outside(indent).search(code, start)
    body = code[start : following.start() if following else len(code)].rstrip()
    return body.count("\n")


@cache
def _next_outside(indent: int) -> re.Pattern[str]:
    return re.compile(rf"\n[ \t]{{0,{indent}}}[^\s)\]}}]")


def _constants(code: str) -> Iterator[Symbol]:
    last, line = 0, 0
    for match in _ASSIGNED.finditer(code):
        line += code.count("\n", last, match.start()) + 1
        last = match.start() + 1
        alias, name = match.groups()
        kind = "type" if alias else "constant"
        yield Symbol(name=alias or name, kind=kind, start=line, end=line)
