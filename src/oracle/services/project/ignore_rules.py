"""What the rules of a project keep out: those of git, and those for oracle alone.

They stand in `.gitignore` and `.oracleignore` of any folder, and in `.git/info/exclude`. The
nearest folder that says anything about a path decides; in it, the last rule that matches, and those
of `.oracleignore` come last.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

_FOLDERS_OF_TOOLS: Final = (
    ".git .hg .svn .bzr .oracle .jj node_modules __pycache__ .mypy_cache .ruff_cache "
    ".pytest_cache .hypothesis .tox .nox .venv .idea .gradle .terraform bower_components .eggs "
    ".cache"
)
TOOL_FOLDERS: Final = frozenset(_FOLDERS_OF_TOOLS.split())
"""Never read, whatever the rules say: tools have made them."""
FOR_ORACLE: Final = ".oracleignore"
IGNORE_FILES: Final = (".gitignore", FOR_ORACLE)
_FOR_THIS_CLONE: Final = ".git/info/exclude"
_LARGEST_FILE: Final = 256 * 1024


@dataclass(frozen=True, slots=True)
class _Level:
    """The rules of one folder, and where each of them stands."""

    spec: GitIgnoreSpec
    places: tuple[str, ...]


class IgnoreRules:
    """Reads each folder's rules once; one instance serves one walk.

    In `kept` folders the rules of git do not count: notes are read whatever git thinks of them.
    """

    def __init__(self, root: Path, kept: Iterable[str] = ()) -> None:
        self._root = root
        self._kept = tuple(f"{folder.strip('/')}/" for folder in kept)
        self._levels: dict[tuple[str, bool], _Level | None] = {}

    def rule_against(self, path: str) -> str | None:
        """The rule that keeps a path out, with its place; for a path whose folders are let in.

        The path of a folder ends with a slash.
        """
        is_kept = path.startswith(self._kept) or (
            path.endswith("/") and any(folder.startswith(path) for folder in self._kept)
        )
        folder = path.rstrip("/")
        while folder:
            folder = folder.rpartition("/")[0]
            level = self._level(folder, is_kept)
            if level is None:
                continue
            decision = level.spec.check_file(path[len(folder) + 1 :] if folder else path)
            if decision.include is not None:
                is_out = decision.include and decision.index is not None
                return level.places[decision.index or 0] if is_out else None
        return None

    def _level(self, folder: str, is_kept: bool) -> _Level | None:
        key = (folder, is_kept)
        if key not in self._levels:
            names = (FOR_ORACLE,) if is_kept else IGNORE_FILES
            if not folder and not is_kept:
                names = (_FOR_THIS_CLONE, *names)
            prefix = f"{folder}/" if folder else ""
            rules = [rule for name in names for rule in self._rules(prefix + name)]
            self._levels[key] = _as_level(rules) if rules else None
        return self._levels[key]

    def _rules(self, name: str) -> Iterator[tuple[str, str]]:
        for number, line in enumerate(_lines(self._root / name), start=1):
            if line.strip() and not line.startswith("#"):
                yield line, f"{name}:{number}: {line.strip()}"


def _lines(file: Path) -> list[str]:
    """Neither waits for a pipe nor follows a link."""
    try:
        descriptor = os.open(file, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
        with os.fdopen(descriptor, "rb") as opened:
            return opened.read(_LARGEST_FILE).decode(errors="replace").splitlines()
    except OSError:
        return []


def _as_level(rules: list[tuple[str, str]]) -> _Level | None:
    """A rule that git would not understand either is left out, not the others."""
    from pathspec import GitIgnoreSpec

    good = [rule for rule in rules if _is_rule(rule[0])]
    if not good:
        return None
    spec = GitIgnoreSpec.from_lines([line for line, _ in good])
    return _Level(spec, tuple(place for _, place in good))


def _is_rule(line: str) -> bool:
    from pathspec import GitIgnoreSpec

    try:
        GitIgnoreSpec.from_lines([line])
    except ValueError:
        return False
    return True
