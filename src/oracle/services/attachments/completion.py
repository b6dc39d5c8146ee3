"""Paths that complete `@src/a…` in a question, for shells and the chat."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from oracle.services.project.file_rules import not_shown, not_the_projects

MOST: Final = 50
_MOST_ENTRIES: Final = 5_000
# In quotes, or with `\ `, a path may have blanks.
_FRAGMENT: Final = re.compile(
    r"(?<![\w@.\\-])@(?:\"[^\"\n]{0,300}|'[^'\n]{0,300}|(?:\\.|[^\s\"'`<>|\\]){0,300})\Z"
)


def fragment_in(text: str) -> str:
    """The `@…` at the end of `text`, which a completion replaces; empty if there is none."""
    found = _FRAGMENT.search(text)
    return found[0] if found else ""


def completions(text: str, root: Path) -> list[str]:
    """What may replace `fragment_in(text)`: paths below `root` with their `@`; folders end with /.

    Files that cannot be attached, such as secrets and images, are left out.
    """
    fragment = fragment_in(text)
    if not fragment:
        return []
    mark = fragment[1:2] if fragment[1:2] in ("'", '"') else ""
    typed = fragment[1 + len(mark) :]
    typed = typed if mark else re.sub(r"\\(.)", r"\1", typed)
    return [f"@{mark}{_as_typed(path, mark)}" for path in paths(typed, root)]


def paths(typed: str, root: Path) -> list[str]:
    """Paths that begin with `typed`. A single folder is replaced by what is in it."""
    for _ in range(20):
        found = sorted(_entries(typed, root))[:MOST]
        if len(found) != 1 or not found[0].endswith("/"):
            return found
        typed = found[0]
        # An empty folder is shown as it is.
        if not any(_entries(typed, root)):
            return found
    return []


def _entries(typed: str, root: Path) -> Iterator[str]:
    folder, slash, beginning = typed.rpartition("/")
    base = os.path.join(root, os.path.expanduser(folder + slash))
    try:
        with os.scandir(base) as entries:
            listed = [entry for entry, _ in zip(entries, range(_MOST_ENTRIES), strict=False)]
    except (OSError, ValueError):
        return
    for entry in listed:
        is_hidden = entry.name.startswith(".") and not beginning.startswith(".")
        if not entry.name.startswith(beginning) or is_hidden or not entry.name.isprintable():
            continue
        path = folder + slash + entry.name
        if entry.is_symlink() and _leads_out(entry.path, base, root):
            continue
        if entry.is_dir() and not_the_projects(entry.name) is None:
            yield f"{path}/"
        elif entry.is_file() and not_shown(path) is None:
            yield path


def _leads_out(link: str, base: str, root: Path) -> bool:
    """Whether a link of the project leads out of it. What it leads to cannot be attached."""
    real = os.path.realpath(root)
    is_ours = Path(os.path.realpath(base)).is_relative_to(real)
    return is_ours and not Path(os.path.realpath(link)).is_relative_to(real)


def _as_typed(path: str, mark: str) -> str:
    if mark:
        return path if path.endswith("/") else path + mark
    return re.sub(r"([\s\"'\\])", r"\\\1", path)
