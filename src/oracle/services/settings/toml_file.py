"""Reads `oracle.toml` into a list of entries, each with its line number.

`tomllib` gives values but no line numbers. So the text is cut into statements and each one is
parsed alone. Cutting is easy, because `tomllib` has already found the whole text valid.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final, cast

from oracle.errors import SettingsError
from oracle.lazy_dataclass import dataclass
from oracle.patterns import lazy_pattern
from oracle.regular_file import NotRegular, read_regular

if TYPE_CHECKING:
    from pathlib import Path

FILE_NAME: Final = "oracle.toml"
LARGEST_FILE: Final = 64 * 1024

OF_TABLES: Final = frozenset({("mcp", "servers")})
"""Settings whose value has tables of its own, such as `[mcp.servers.jira]`."""

TOKEN: Final = lazy_pattern(
    r'"""(?:\\.|[^\\])*?"{3,5}|\'\'\'.*?\'{3,5}|"(?:\\.|[^"\\\n])*"|\'[^\'\n]*\'|#[^\n]*|[][{},]|\n',
    re.DOTALL,
)
"""What matters for the structure of a text that is valid TOML. Texts and comments are whole tokens,
so that a bracket or a newline inside one does not count."""

_PLACE: Final = lazy_pattern(r"^(.*) \(at (?:line (\d+), column \d+|end of document)\)$", re.DOTALL)


@dataclass(frozen=True, kw_only=True, slots=True)
class Statement:
    """`text[start:end]` has a header or an entry, and the comment after it. `line` is its first."""

    start: int
    end: int
    line: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Written:
    """`path` has one part (a section, or an entry outside a section) or two."""

    path: tuple[str, ...]
    value: object
    line: int


def read_settings_file(path: Path, shown: str) -> list[Written]:
    """The entries of the file; empty if it does not exist. `shown` is its name in messages."""
    text = _text(path, shown)
    return [] if text is None else written_in(text, shown)


def written_in(text: str, shown: str) -> list[Written]:
    text = text.removeprefix("\ufeff").replace("\r\n", "\n")
    whole = parsed_toml(text, shown)
    return list(_whole_tables(_written(text), whole))


def _whole_tables(entries: Iterator[Written], parsed: dict[str, Any]) -> Iterator[Written]:
    """A setting whose value is made of tables is one entry, at the line of the first."""
    seen: set[tuple[str, ...]] = set()
    for entry in entries:
        if entry.path not in OF_TABLES:
            yield entry
        elif entry.path not in seen:
            seen.add(entry.path)
            section, key = entry.path
            yield Written(path=entry.path, value=parsed[section][key], line=entry.line)


def parsed_toml(text: str, shown: str) -> dict[str, Any]:
    """The values of a whole file. A mistake names the line."""
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as problem:
        raise _not_toml(str(problem), text, shown) from None
    except ValueError:
        raise SettingsError(
            f"{shown}: it has a number that is too long; write a shorter one"
        ) from None
    except RecursionError:
        raise SettingsError(
            f"{shown}: lists or sections are nested too deep; write settings as name = value"
        ) from None


def _text(path: Path, shown: str) -> str | None:
    try:
        raw = read_regular(path, LARGEST_FILE + 1)
    except FileNotFoundError:
        if path.is_symlink():
            raise SettingsError(f"{shown}: is a link that leads nowhere; remove it") from None
        return None
    except NotRegular:
        raise SettingsError(f"{shown}: is not a file; write the settings in a plain file") from None
    except OSError as problem:
        raise SettingsError(
            f"{shown}: cannot be read: {problem.strerror}; make it a file that you can read"
        ) from problem
    if len(raw) > LARGEST_FILE:
        raise SettingsError(f"{shown}: is larger than {LARGEST_FILE // 1024} KiB; make it shorter")
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as problem:
        line = raw.count(b"\n", 0, problem.start) + 1
        raise SettingsError(f"{shown}:{line}: is not UTF-8; save the file as UTF-8") from None


def _not_toml(message: str, text: str, shown: str) -> SettingsError:
    found = _PLACE.match(message)
    line = (found and found[2]) or text.rstrip("\n").count("\n") + 1
    what = found[1] if found else message
    what = what[:1].lower() + what[1:]
    if "overwrite" in what or "twice" in what:
        return SettingsError(f"{shown}:{line}: {what}; it is set twice, keep one of the two")
    return SettingsError(
        f"{shown}:{line}: {what}; write settings as name = value, with quotes around texts"
    )


def _written(text: str) -> Iterator[Written]:
    section: tuple[str, ...] = ()
    for found in statements(text):
        statement = text[found.start : found.end]
        parsed: dict[str, Any] = tomllib.loads(statement)
        if statement.startswith("["):
            section = names_in(parsed)
            several = statement.startswith("[[")
            yield Written(path=section[:2], value=[] if several else {}, line=found.line)
        else:
            yield from _entries(parsed, section, found.line)


def names_in(parsed: dict[str, Any]) -> tuple[str, ...]:
    """The names from the outside in, of a header or of an entry whose value is no table."""
    names: list[str] = []
    below: Any = parsed
    while isinstance(below, dict) and below:
        name, below = next(iter(cast("dict[str, Any]", below).items()))
        names.append(name)
    return tuple(names)


def _entries(parsed: dict[str, Any], section: tuple[str, ...], line: int) -> Iterator[Written]:
    """An inline table at the top level is a section; inside a section it is a value."""
    for name, value in parsed.items():
        path = (*section, name)
        inner = cast("dict[str, Any]", value) if isinstance(value, dict) else {}
        if len(path) == 1 and inner:
            yield from _entries(inner, path, line)
        elif len(path) <= 2:
            yield Written(path=path, value=cast("object", value), line=line)


def statements(text: str) -> Iterator[Statement]:
    """A statement ends at the end of a line, unless a bracket or a multi-line text is open there.

    The text must be valid TOML.
    """
    start, line, depth, next_line = 0, 1, 0, 1
    for token in TOKEN.finditer(text):
        found = token[0]
        next_line += found.count("\n")
        depth += (found in "[{") - (found in "]}")
        if found == "\n" and depth == 0:
            yield from _unless_empty(text, start, token.start(), line)
            start, line = token.end(), next_line
    yield from _unless_empty(text, start, len(text), line)


def _unless_empty(text: str, start: int, end: int, line: int) -> Iterator[Statement]:
    whole = text[start:end]
    statement = whole.strip()
    if statement and not statement.startswith("#"):
        begin = start + len(whole) - len(whole.lstrip())
        yield Statement(start=begin, end=begin + len(statement), line=line)
