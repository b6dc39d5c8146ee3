"""Diffs of files with secrets: their lines are left out, whatever they look like."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Final

from oracle.services.project.secret_files import is_secret_file

_FILE: Final = re.compile(
    r"(?:diff --git \"?a/.+ \"?b/(?P<git>.+?)|diff --(?:cc|combined) (?P<merge>.+?)"
    r"|(?:---|\+\+\+) (?:\"?[ab]/)?(?P<plain>[^\t]+?)|Index: (?P<svn>.+?))\"?(?:\t.*)?\r?"
)
_HUNK_LINE: Final = re.compile(r"[-+ ](?!(?:--|\+\+) )")
LEFT_OUT: Final = "[left out: a line of a file with secrets]"


def without_secret_files(text: str, is_secret: Callable[[str], bool] = is_secret_file) -> str:
    """The same lines. Those that a diff changes or quotes in a file with secrets are replaced."""
    if not re.search(r"^(?:diff |Index: |\+\+\+ )", text, re.M):
        return text
    return "\n".join(_lines(text, is_secret))


def _lines(text: str, is_secret: Callable[[str], bool]) -> Iterator[str]:
    is_hidden = False
    for line in text.split("\n"):
        # A line of a hunk can begin with `--- ` too; it only hides more, never less.
        if found := _FILE.fullmatch(line):
            path = next(filter(None, found.groups()), "")
            starts = line.startswith(("diff ", "Index: ", "--- "))
            is_hidden = is_secret(path) or (is_hidden and not starts)
            yield line
        elif is_hidden and _HUNK_LINE.match(line):
            yield line[0] + LEFT_OUT
        else:
            yield line
