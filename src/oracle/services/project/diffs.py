"""Lines of files with secrets in what diff, git, grep and head print. They are left out.

The lines of such a file are left out whatever they look like. A listing may be coloured, indented,
quoted, or drawn beside the graph of `git log`. Text that does not name its file, such as a plain
`diff` of two files, cannot be recognised; only redaction protects it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Final

from oracle.patterns import lazy_pattern
from oracle.services.project.hidden_characters import visible
from oracle.services.project.secret_files import is_secret_file

LEFT_OUT: Final = "[left out: a line of a file with secrets]"

# An indentation, the mark of a quotation, or the lines of a graph. It is kept: it holds no secret.
_PREFIX: Final = lazy_pattern(r"[ \t]{0,40}+(?:[|>*\\/_#][ \t|>*\\/_-]{0,40}+(?<=[ \t]))?+")
_COMMAND: Final = lazy_pattern(r"diff (?P<files>\S.*)")
_NAMED: Final = lazy_pattern(
    r"(?:Index: |=== \w+ file '?|==> |File: |(?:Binary files|Only in) )(?P<files>.+)"
)
# The two lines before the first hunk: `---` and `+++`, or `***` and `---` in a context diff.
_PAIR: Final = {"---": "+++", "***": "---"}
_FIRST_HUNK: Final = {"---": "@@", "***": "***************"}
# Where the next commit or mail begins.
_COMMIT: Final = lazy_pattern(r"(?:commit|From|changeset:) ?[0-9a-f:]{7,}\b.*")
# What a diff says about itself.
_FRAME: Final = lazy_pattern(
    r"(?:index [0-9a-f]{4,}\.\.[0-9a-f]+(?: \d{6})?|(?:new|deleted|old) (?:file )?mode \d+|=+"
    r"|\*{10,}"
    r"|(?:\*\*\*|---) \d+(?:,\d+)? (?:\*\*\*\*|----)|\d+(?:,\d+)?[acd]\d+(?:,\d+)?|---|\s*)\Z"
)
_HUNK: Final = lazy_pattern(r"@@@? [-+\d, ]{3,60} @@@?")
# `.env:3:…` or `.env-3-…` of grep.
_GREP: Final = lazy_pattern(
    r"(?P<path>[^\s:][^:\n]{0,300}?)"
    r"(?:(?P<sign>[:=-])\d{1,7}(?P=sign)|:(?P<tight>(?=\S)))"
)
# `git blame -f`, or blame of a file that was renamed.
_BLAME: Final = lazy_pattern(r"\^?[0-9a-f]{7,40} (?P<path>\S.{0,300}?) +\(.{4,200}? \d+\) ")
_A_HEADING: Final = lazy_pattern(r"(?=\S*[./])[^\s:=]{2,300}")
_NUMBERED: Final = lazy_pattern(r"\d{1,7}[:-]")

IsSecret = Callable[[str], bool]


def without_secret_files(text: str, is_secret: IsSecret = is_secret_file) -> str:
    """The same lines. Those that come from a file with secrets are replaced."""
    lines = text.split("\n")
    seen = visible(text).split("\n")
    return "\n".join(_lines(lines, [_split(line) for line in seen], is_secret))


def _split(line: str) -> tuple[str, str]:
    line = line.rstrip("\r")
    found = _PREFIX.match(line)
    end = found.end() if found else 0
    return line[:end], line[end:]


def _lines(lines: list[str], seen: list[tuple[str, str]], is_secret: IsSecret) -> Iterator[str]:
    is_hidden = is_listed = is_head = False
    for number, (line, (prefix, rest)) in enumerate(zip(lines, seen, strict=True)):
        files = _files_of_head(seen, number)
        if files is not None:
            named = _names_secret(files, is_secret)
            # `Index:` and `diff` come before the names in `---` and `+++`, for the same file.
            is_hidden = named or (is_head and is_hidden)
            is_head, is_listed = True, False
            yield line
        elif _COMMIT.fullmatch(rest):
            is_hidden = is_head = is_listed = False
            yield line
        elif is_hidden and not _FRAME.match(rest):
            found = _HUNK.match(rest)
            is_head = False
            yield prefix + (found[0] if found else _left_out(rest))
        elif is_hidden:
            yield line
        else:
            is_head = is_head and _HUNK.match(rest) is None
            is_listed = _is_heading(seen, number, is_secret) or (is_listed and bool(rest))
            hides = _is_listed_line(rest, is_secret) or (is_listed and _NUMBERED.match(rest))
            yield f"{prefix}{LEFT_OUT}" if hides else line


def _left_out(rest: str) -> str:
    return (rest[0] if rest[:1] in tuple("-+ !<>") else "") + LEFT_OUT


def _files_of_head(seen: list[tuple[str, str]], number: int) -> str | None:
    """The names in the head of a file's diff, or None if the line is not one.

    A line that a diff removes can begin with `--- ` too, so the lines after it must fit.
    """
    rest = seen[number][1]
    if found := _COMMAND.fullmatch(rest) or _NAMED.fullmatch(rest):
        return found["files"]
    sign = rest[:3]
    if rest[3:4] != " " or sign not in ("---", "***", "+++"):
        return None
    for first in (number, number - 1):
        after = [text for _, text in seen[max(first, 0) : first + 3]]
        start = after[0][:3] if after else ""
        if len(after) < 3 or start not in _PAIR:
            continue
        if after[1].startswith(f"{_PAIR[start]} ") and after[2].startswith(_FIRST_HUNK[start]):
            return f"{after[0][4:]}\t{after[1][4:]}"
    return None


def _names_secret(files: str, is_secret: IsSecret) -> bool:
    """Whether one of the names is a secret. A name may have blanks, so its parts count too."""
    whole = re.split(r"\t", files)
    parts = files.split()
    names = (name.strip("\"'`():,") for name in (*whole, *parts))
    return any(is_secret(re.sub(r"\A[abciow]/", "", name)) for name in names if name)


def _is_listed_line(rest: str, is_secret: IsSecret) -> bool:
    if found := _BLAME.match(rest):
        return is_secret(found["path"])
    # `git grep` can have a commit in front, and Windows the letter of a disk.
    places = (0, rest.find(":", 0, 60) + 1)
    return any(_is_found_in(found, is_secret) for at in places if (found := _GREP.match(rest, at)))


def _is_found_in(found: re.Match[str], is_secret: IsSecret) -> bool:
    path = found["path"]
    # Without the number of a line, `secrets:x` is more likely an entry of a list than a file.
    is_file = found["sign"] is not None or (re.search(r"[./\\]", path) and " " not in path)
    return bool(is_file) and is_secret(path.replace("\\", "/"))


def _is_heading(seen: list[tuple[str, str]], number: int, is_secret: IsSecret) -> bool:
    """Whether the line is the name of a file above its numbered lines, as ripgrep has it."""
    rest = seen[number][1]
    following = seen[number + 1][1] if number + 1 < len(seen) else ""
    is_name = _A_HEADING.fullmatch(rest) and _NUMBERED.match(following)
    return bool(is_name) and is_secret(rest)
