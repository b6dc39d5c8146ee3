"""Runs a tree file in a sandbox, and turns what it declares into plain data.

No Python object is handed to Lua: a filter on attributes would not keep a file from calling it.
Memory and instructions are bounded, and so is what is read back, since a table may contain itself.
"""

from __future__ import annotations

import re
from dataclasses import field
from math import isfinite
from pathlib import Path
from typing import Any, Final, TypeAlias

from lupa import lua54

from oracle.errors import TreeFileError
from oracle.lazy_dataclass import dataclass
from oracle.patterns import lazy_pattern

MOST_MEMORY: Final = 16 * 1024 * 1024
MOST_INSTRUCTIONS: Final = 1_000_000
MOST_SECONDS: Final = 0.5
MOST_VALUES: Final = 50_000
MOST_CHARACTERS: Final = 1_000_000
DEEPEST: Final = 100

_new_runtime: Any = lua54.LuaRuntime  # the stubs lack options that the wheel has
_PRELUDE: Final = Path(__file__).with_name("prelude.lua").read_text(encoding="utf-8")
_LOCATED: Final = lazy_pattern(r"tree:(?P<line>\d+): (?P<message>.*)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Call:
    """`BT.kind(arguments…)` at a line of the file."""

    kind: str
    line: int
    arguments: tuple[LuaValue, ...]


@dataclass(frozen=True, slots=True)
class Table:
    """A table literal: its list part, and its named part."""

    items: tuple[LuaValue, ...] = ()
    fields: dict[str, LuaValue] = field(default_factory=dict[str, "LuaValue"])


LuaValue: TypeAlias = "bool | int | float | str | Call | Table | None"


def run_tree_file(source: str, file: str) -> list[Call]:
    """Return the `BT.tree(…)` calls of a file, in order."""
    runtime = _new_runtime(
        register_eval=False,
        register_builtins=False,
        unpack_returned_tuples=False,
        max_memory=MOST_MEMORY,
        attribute_filter=_refuse_attributes,
    )
    try:
        trees, facts = runtime.execute(_PRELUDE)(source, MOST_INSTRUCTIONS, MOST_SECONDS)
        reader = _Reader(file, facts)
        return [reader.call(tree, 0) for tree in trees.values()]
    except MemoryError:
        raise TreeFileError(
            f"more than {MOST_MEMORY >> 20} MiB of memory used; make less in it", file=file
        ) from None
    except lua54.LuaError as problem:
        raise _located(problem, file) from None
    except UnicodeDecodeError:
        raise TreeFileError("a string is not UTF-8; save the file as UTF-8", file=file) from None


def _refuse_attributes(_object: object, name: object, _setting: bool) -> object:
    raise AttributeError(f"no attribute {name!r} for Lua")


def _located(problem: Exception, file: str) -> TreeFileError:
    """Lua reports `tree:line: message` and a traceback; keep the line and the message."""
    text = str(problem).partition("\nstack traceback:")[0].removeprefix("error loading code: ")
    if "(global '" in text:
        text += "; a tree file sees nothing but BT"
    match = _LOCATED.match(text)
    if match:
        return TreeFileError(match["message"], file=file, line=int(match["line"]))
    return TreeFileError(text, file=file)


class _Reader:
    """Reads tables back, up to a number of values and a depth."""

    def __init__(self, file: str, facts: Any) -> None:
        self._file = file
        self._facts = facts
        self._line: int | None = None
        self._values_left = MOST_VALUES
        self._characters_left = MOST_CHARACTERS

    def value(self, value: Any, depth: int) -> LuaValue:
        self._values_left -= 1
        if isinstance(value, str):
            self._characters_left -= len(value)
        if self._values_left < 0 or self._characters_left < 0 or depth > DEEPEST:
            raise self._error(
                f"more than {MOST_VALUES} values, {MOST_CHARACTERS} characters or {DEEPEST} "
                "levels; does a table contain itself?"
            )
        if isinstance(value, float) and not isfinite(value):
            raise self._error(f"{value} is not a number that can be recorded; write another")
        if value is None or isinstance(value, bool | int | float | str):
            return value
        if lua54.lua_type(value) != "table":
            raise self._error("a function cannot be in a tree; name a registered leaf")
        is_call = self._facts[value] is not None
        return self.call(value, depth) if is_call else self.table(value, depth)

    def call(self, table: Any, depth: int) -> Call:
        facts = self._facts[table]
        kind = facts["kind"]
        self._line = facts["line"]
        if not isinstance(kind, str):
            raise self._error(f"BT[{kind!r:.20}] is not a node; write BT.name")
        places = range(1, min(facts["count"], 10) + 1)
        arguments = tuple(self.value(facts[place], depth + 1) for place in places)
        return Call(kind, facts["line"], arguments)

    def table(self, table: Any, depth: int) -> Table:
        items: dict[int, LuaValue] = {}
        fields: dict[str, LuaValue] = {}
        for key, value in table.items():
            if isinstance(key, str):
                self.value(key, depth)
                fields[key] = self.value(value, depth + 1)
            elif isinstance(key, int) and not isinstance(key, bool):
                items[key] = self.value(value, depth + 1)
            else:
                raise self._error("a key of a table must be a name or a place in a list")
        for place in range(1, len(items) + 1):
            if place not in items:
                raise self._error(f"item {place} of a list is nil; is a name misspelt?")
        return Table(tuple(items[place] for place in sorted(items)), fields)

    def _error(self, message: str) -> TreeFileError:
        return TreeFileError(message, file=self._file, line=self._line)
