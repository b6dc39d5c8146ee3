"""Reads front matter: the lines between `---` and `---` at the top of a project's prompt file."""

from __future__ import annotations

import re

from oracle.errors import PromptFileError, did_you_mean
from oracle.lazy_dataclass import dataclass
from oracle.models.prompt_segment import CONDITIONS
from oracle.patterns import lazy_pattern

# The block begins at the first character of the file and ends at the first line that is `---`.
# A YAML parser would be a dependency for three keys.
_BLOCK = lazy_pattern(r"---[ \t]*\n(.*?)^---[ \t]*(?:\n|\Z)", re.S | re.M)
_ENTRY = lazy_pattern(r"([A-Za-z_]+)[ \t]*:[ \t]*(.*)")
_LIST_ITEM = lazy_pattern(r"[ \t]*-[ \t]+(.*)")
_KEYS = ("id", "priority", "conditions")


@dataclass(frozen=True, kw_only=True)
class FrontMatter:
    """A key that the file does not have is None."""

    id: str
    priority: int | None
    conditions: tuple[str, ...] | None
    body: str


@dataclass(frozen=True, kw_only=True)
class _Entry:
    line: int
    values: list[str]


def read_front_matter(text: str, *, file: str) -> FrontMatter:
    """Raises `PromptFileError` with the line of the mistake."""
    block = _BLOCK.match(text)
    if block is None:
        raise PromptFileError(
            "no front matter; begin with the lines '---', 'id: name' and '---'", file=file, line=1
        )
    entries = _entries(block[1], file)
    return FrontMatter(
        id=_id(entries.get("id"), file),
        priority=_priority(entries.get("priority"), file),
        conditions=_conditions(entries.get("conditions"), file),
        body=text[block.end() :].strip(),
    )


def _entries(block: str, file: str) -> dict[str, _Entry]:
    entries: dict[str, _Entry] = {}
    last: _Entry | None = None
    # The first line of the file is `---`, so the block begins at line 2.
    for number, line in enumerate(block.splitlines(), start=2):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        # `- value` adds to the key above it.
        if last and (item := _LIST_ITEM.fullmatch(line)):
            last.values.extend(_values(item[1]))
            continue
        key, value = _key_and_value(line, entries, file, number)
        last = entries[key] = _Entry(line=number, values=_values(value))
    return entries


def _key_and_value(
    line: str, entries: dict[str, _Entry], file: str, number: int
) -> tuple[str, str]:
    entry = _ENTRY.fullmatch(line)
    if entry is None:
        raise PromptFileError(
            f"{line!r} is not of the form 'key: value'; write it so", file=file, line=number
        )
    key = entry[1]
    if key not in _KEYS:
        hint = did_you_mean(key, _KEYS) or f"; known are {', '.join(_KEYS)}"
        raise PromptFileError(f"unknown key {key!r}{hint}", file=file, line=number)
    if key in entries:
        raise PromptFileError(f"{key!r} appears twice; keep one", file=file, line=number)
    return key, entry[2]


def _values(text: str) -> list[str]:
    """The values of `a`, `"a"`, `a, b` and `[a, b]`, with or without a comment."""
    # A `#` inside a word is not a comment.
    bare = re.sub(r"(?:^|\s)#.*", "", text).strip()
    if bare.startswith("[") and bare.endswith("]"):
        bare = bare[1:-1]
    return [value for part in bare.split(",") if (value := part.strip().strip("\"'"))]


def _id(entry: _Entry | None, file: str) -> str:
    if entry is None or len(entry.values) != 1:
        line = entry.line if entry else 1
        raise PromptFileError("the front matter needs one id; add 'id: name'", file=file, line=line)
    return entry.values[0]


def _priority(entry: _Entry | None, file: str) -> int | None:
    if entry is None:
        return None
    value = ", ".join(entry.values)
    if not re.fullmatch(r"[0-9]{1,6}", value):
        raise PromptFileError(
            f"priority {value!r} is not a whole number of 0 or more; write one",
            file=file,
            line=entry.line,
        )
    return int(value)


def _conditions(entry: _Entry | None, file: str) -> tuple[str, ...] | None:
    if entry is None:
        return None
    conditions = tuple(re.sub(r"\s*=\s*", "=", value) for value in entry.values)
    for condition in conditions:
        if condition not in CONDITIONS:
            hint = did_you_mean(condition, CONDITIONS) or f"; known are {', '.join(CONDITIONS)}"
            raise PromptFileError(
                f"unknown condition {condition!r}{hint}", file=file, line=entry.line
            )
    if not conditions:
        raise PromptFileError(
            "conditions is empty; name some, or remove the line", file=file, line=entry.line
        )
    return conditions
