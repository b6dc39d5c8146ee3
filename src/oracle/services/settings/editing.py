"""Changes one setting in a settings file and leaves the rest as it is: comments, order and spaces.

The text is edited by hand, because `tomllib` only reads. Afterwards the new text is parsed and
compared with the old one. So a form of TOML that is not known here leads to an error, never to a
damaged file.
"""

from __future__ import annotations

import re
import tomllib
from typing import TYPE_CHECKING, Any, Final, cast

from oracle.errors import InputError, SettingsError
from oracle.lazy_dataclass import dataclass
from oracle.services.project.redaction import redact
from oracle.services.settings.resolve import is_name_of_secret, password_in, shown_path
from oracle.services.settings.template import as_toml
from oracle.services.settings.toml_file import (
    TOKEN,
    Statement,
    names_in,
    parsed_toml,
    read_settings_file,
    statements,
)
from oracle.services.settings.value_types import Unfit
from oracle.services.user_files import rewrite
from oracle.settings import setting_named

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

_NAME: Final = r"""(?:[\w-]+|"(?:\\.|[^"\\\n])*"|'[^'\n]*')"""
_KEY: Final = re.compile(rf"{_NAME}(?:[ \t]*\.[ \t]*{_NAME})*[ \t]*=[ \t]*")


def set_value(path: Path, name: str, value: object) -> None:
    """Write a setting into a file, which is made if it is missing.

    The value is checked first. A text is read as from a variable: "8" is a number where the setting
    is one.
    """
    written = checked(name, value)
    _change(path, name, lambda text: _with_value(text, name, written), written)


def unset_value(path: Path, name: str) -> None:
    """Remove a setting from a file. Nothing changes if the file does not have it."""
    if value_in(path, name) is not None:
        _change(path, name, lambda text: _without(text, name), None)


def value_in(path: Path, name: str) -> object:
    """The value of a setting as it is written in this file; None if it is not there."""
    entries = read_settings_file(path, shown_path(path))
    return next((item.value for item in entries if ".".join(item.path) == name), None)


def checked(name: str, value: object) -> str:
    """A value as it is written in the file; an error if it is not valid."""
    if is_name_of_secret(name):
        raise _no_keys(name)
    row = setting_named(name)
    raw = row.kind.from_text(value) if isinstance(value, str) else value
    try:
        good: Any = row.kind.check(raw)
    except Unfit as problem:
        raise SettingsError(f"{name} {problem}") from None
    if problem := password_in(row, good):
        raise SettingsError(problem)
    if isinstance(good, str) and redact(good) != good:
        raise _no_keys(f"the value for {name}")
    is_whole = isinstance(good, float) and good.is_integer()
    return as_toml(int(good) if is_whole else good)


def _no_keys(what: str) -> InputError:
    return InputError(
        f"{what} looks like a key, and keys are not kept in settings files; "
        "`oracle keys set PROVIDER` keeps one safely"
    )


def _change(path: Path, name: str, edit: Callable[[str], str], written: str | None) -> None:
    shown = shown_path(path)

    def edited(old: str) -> str:
        before = parsed_toml(old.removeprefix("\ufeff"), shown)
        new = edit(old)
        if not _is_as_wanted(new, before, name, written):
            raise SettingsError(
                f"{shown}: {name} cannot be changed here, because the file is written in an "
                "unusual way; edit it by hand"
            )
        return new

    rewrite(path, edited, private=False)


def _is_as_wanted(new: str, before: dict[str, Any], name: str, written: str | None) -> bool:
    section, _, key = name.partition(".")
    inner = before.setdefault(section, {})
    if not isinstance(inner, dict):
        return False
    values = cast("dict[str, Any]", inner)
    values.pop(key, None)
    if written is not None:
        values[key] = tomllib.loads(f"x = {written}")["x"]
    try:
        after = tomllib.loads(new.removeprefix("\ufeff"))
    except ValueError:
        return False
    after.setdefault(section, {})
    return after == before


# -- the parts of a text ---------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True, slots=True)
class _Entry:
    """`text[start:end]` is the whole of it, `text[value:value_end]` its value."""

    path: tuple[str, ...]
    start: int
    end: int
    value: int
    value_end: int
    table: _Entry | None = None
    """The inline table that it is in."""


@dataclass(frozen=True, kw_only=True, slots=True)
class _Section:
    """`end` is where the next header starts. `last` is its last entry, or its own header."""

    path: tuple[str, ...]
    start: int
    end: int
    last: Statement | _Entry
    entries: tuple[_Entry, ...]


def _sections(text: str) -> list[_Section]:
    """The first one has no name: it is what comes before any header."""
    start = len(text) - len(text.removeprefix("\ufeff"))
    parts: list[tuple[tuple[str, ...], Statement, list[_Entry]]] = [
        ((), Statement(start=start, end=start, line=1), [])
    ]
    for found in statements(text[start:]):
        here = Statement(start=found.start + start, end=found.end + start, line=found.line)
        statement = text[here.start : here.end]
        if statement.startswith("["):
            parts.append((names_in(tomllib.loads(statement)), here, []))
        else:
            parts[-1][2].extend(_entries(text, here.start, here.end, parts[-1][0]))
    ends = [header.start for _, header, _ in parts[1:]] + [len(text)]
    return [
        _Section(
            path=path,
            start=header.start,
            end=end,
            last=next((entry for entry in reversed(found) if entry.table is None), header),
            entries=tuple(found),
        )
        for (path, header, found), end in zip(parts, ends, strict=True)
    ]


def _entries(text: str, start: int, end: int, section: tuple[str, ...]) -> Iterator[_Entry]:
    """The entry, and those in it if its value is an inline table that is a section."""
    entry = _entry(text, start, end, section)
    yield entry
    if len(entry.path) == 1 and text[entry.value] == "{":
        yield from _entries_in(text, entry)


def _entry(
    text: str, start: int, end: int, section: tuple[str, ...], table: _Entry | None = None
) -> _Entry:
    key = _KEY.match(text, start)
    assert key is not None, "only for statements of valid TOML"
    value_end = _end_of_value(text, key.end(), end)
    path = (*section, *names_in(tomllib.loads(f"{key[0]}0")))
    return _Entry(
        path=path, start=start, end=end, value=key.end(), value_end=value_end, table=table
    )


def _end_of_value(text: str, start: int, end: int) -> int:
    depth = 0
    for token in TOKEN.finditer(text, start, end):
        depth += (token[0] in "[{") - (token[0] in "]}")
        if depth == 0 and token[0].startswith("#"):
            end = token.start()
            break
    return start + len(text[start:end].rstrip())


def _entries_in(text: str, table: _Entry) -> Iterator[_Entry]:
    start, depth = table.value + 1, 0
    for token in TOKEN.finditer(text, table.value, table.value_end):
        depth += (token[0] in "[{") - (token[0] in "]}")
        if depth == (1 if token[0] == "," else 0) and token[0] in ",}":
            item = text[start : token.start()]
            begin, end = start + len(item) - len(item.lstrip()), start + len(item.rstrip())
            if item.strip():
                yield _entry(text, begin, end, table.path, table)
            start = token.end()


# -- the changes -----------------------------------------------------------------------------------


def _with_value(text: str, name: str, value: str) -> str:
    section, _, key = name.partition(".")
    found = _sections(text)
    entries = [entry for part in found for entry in part.entries]
    same = next((entry for entry in entries if entry.path == (section, key)), None)
    if same:
        _refuse_to_lose_comments(name, text[same.value : same.value_end])
        return text[: same.value] + value + text[same.value_end :]
    table = next((entry for entry in entries if entry.path == (section,)), None)
    if table:
        return _with_item(text, table, f"{key} = {value}", entries)
    if header := next((part for part in found if part.path == (section,)), None):
        return _with_line(text, _place_in(text, header, key), f"{key} = {value}")
    dotted = [entry for entry in found[0].entries if entry.path[:1] == (section,)]
    if dotted:
        return _with_line(text, dotted[-1], f"{section}.{key} = {value}")
    return _with_section(text, f"[{section}]", f"{key} = {value}")


def _refuse_to_lose_comments(name: str, old: str) -> None:
    if any(token[0].startswith("#") for token in TOKEN.finditer(old)):
        raise SettingsError(
            f"{name} has comments inside its value, which would be lost; edit the file by hand "
            "(`oracle config path` prints where it is)"
        )


def _with_item(text: str, table: _Entry, item: str, entries: list[_Entry]) -> str:
    inside = [entry for entry in entries if entry.table is table]
    if inside:
        end = inside[-1].end
        return f"{text[:end]}, {item}{text[end:]}"
    return f"{text[: table.value]}{{ {item} }}{text[table.value_end :]}"


def _place_in(text: str, section: _Section, key: str) -> Statement | _Entry:
    """After the line that has the setting as a comment, as `oracle init` writes it; else last."""
    line = re.compile(rf"^[ \t]*#[ \t]*{re.escape(key)}[ \t]*=[^\r\n]*", re.MULTILINE)
    for found in line.finditer(text, section.start, section.end):
        inside = any(entry.start < found.start() < entry.end for entry in section.entries)
        if not inside:  # not a line of a text that has several
            return Statement(start=found.start(), end=found.end(), line=0)
    return section.last


def _with_line(text: str, after: Statement | _Entry, line: str) -> str:
    end = _end_of_line(text, after.end)
    first = text.rfind("\n", 0, after.start) + 1
    space = re.match(r"[ \t]*", text[first : after.start])
    indent = space[0] if space and isinstance(after, _Entry) else ""
    break_ = "" if text[:end].endswith("\n") else _newline(text)
    return f"{text[:end]}{break_}{indent}{line}{_newline(text)}{text[end:]}"


def _with_section(text: str, *lines: str) -> str:
    newline = _newline(text)
    gap = "" if not text.strip("\ufeff \t\r\n") else newline
    ended = "" if not text or text.endswith("\n") or text == "\ufeff" else newline
    return text + ended + gap + "".join(f"{line}{newline}" for line in lines)


def _without(text: str, name: str) -> str:
    wanted = tuple(name.split(".", 1))
    entries = [entry for part in _sections(text) for entry in part.entries]
    for entry in entries:
        if entry.path == wanted:
            return _without_item(text, entry) if entry.table else _without_lines(text, entry)
    return text


def _without_lines(text: str, entry: _Entry) -> str:
    first = text.rfind("\n", 0, entry.start) + 1
    left = text[:first] + text[_end_of_line(text, entry.end) :]
    for section in _sections(left):
        is_same = section.path == entry.path[:1] and section.start <= first <= section.end
        if is_same and left[section.start : section.end].strip() == f"[{entry.path[0]}]":
            return _without_header(left, section)
    return left


def _without_header(text: str, section: _Section) -> str:
    """Without a header that has nothing below it, not even a comment."""
    before, after = text[: section.start].rstrip(), text[section.end :]
    if not before:
        return after
    return before + _newline(text) * (2 if after else 1) + after


def _without_item(text: str, entry: _Entry) -> str:
    after = re.match(r"\s*,\s*", text[entry.end :])
    if after:
        return text[: entry.start] + text[entry.end + after.end() :]
    before = re.search(r"\s*,\s*$", text[: entry.start])
    return text[: before.start() if before else entry.start] + text[entry.end :]


def _end_of_line(text: str, start: int) -> int:
    """The position after the newline; the end of the text if there is none."""
    return text.find("\n", start) + 1 or len(text)


def _newline(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"
