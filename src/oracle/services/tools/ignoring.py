"""What of a project is nobody's business: ignored by git or by oracle, made by tools, its own."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Final

from oracle.services.secret_files import is_secret_file

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

SKIPPED: Final = frozenset(
    {
        ".git",
        ".oracle",
        ".hg",
        ".svn",
        ".venv",
        "node_modules",
        "__pycache__",
        ".tox",
        ".mypy_cache",
        ".ruff_cache",
        ".pytest_cache",
        ".hypothesis",
    }
)
TEMPORARY: Final = ".oracle-"
"""What a half-written file is called until it is whole."""
IGNORE_FILES: Final = (".gitignore", ".oracleignore")
"""In one folder the latter has the last word."""
_LARGEST_IGNORE_FILE: Final = 256 * 1024


class Ignoring:
    """Reads each folder's files of rules once; one instance serves one walk.

    Folders in `kept` belong to oracle's users whatever git thinks of them.
    """

    def __init__(self, root: Path, kept: tuple[str, ...] = ()) -> None:
        self._root = root
        self._kept = kept
        self._specs: dict[str, GitIgnoreSpec | None] = {}

    def ignores(self, path: str, *, is_folder: bool = False) -> bool:
        """For a path whose folders are not ignored."""
        folder, _, name = path.rpartition("/")
        if name in SKIPPED or name.startswith(TEMPORARY):
            return True
        if not is_folder and is_secret_file(path):
            return True
        if f"{path}/".startswith(self._kept):
            return False
        return self._git_ignores(path, folder, is_folder)

    def ignores_anywhere(self, path: str) -> bool:
        """For any path to a file: it or a folder above it is ignored."""
        return self.ignores_folder(path.rpartition("/")[0]) or self.ignores(path)

    def ignores_folder(self, path: str) -> bool:
        """For any path to a folder: it or one above it is ignored."""
        parts = path.split("/") if path else []
        folders = ("/".join(parts[:count]) for count in range(1, len(parts) + 1))
        return any(self.ignores(folder, is_folder=True) for folder in folders)

    def _git_ignores(self, path: str, folder: str, is_folder: bool) -> bool:
        """The nearest folder whose rules have an opinion decides."""
        while True:
            if spec := self._spec(folder):
                inside = path[len(folder) + 1 :] if folder else path
                decision = spec.check_file(inside + "/" * is_folder).include
                if decision is not None:
                    return decision
            if not folder:
                return False
            folder = folder.rpartition("/")[0]

    def _spec(self, folder: str) -> GitIgnoreSpec | None:
        if folder not in self._specs:
            lines = [line for name in IGNORE_FILES for line in _rules(self._root / folder / name)]
            self._specs[folder] = _parse(lines) if lines else None
        return self._specs[folder]


def _rules(file: Path) -> list[str]:
    try:
        descriptor = os.open(file, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
        with os.fdopen(descriptor, "rb") as opened:
            return opened.read(_LARGEST_IGNORE_FILE).decode(errors="replace").splitlines()
    except OSError:
        return []


def _parse(lines: list[str]) -> GitIgnoreSpec:
    """A line that git would not understand either is left out, not the others."""
    from pathspec import GitIgnoreSpec

    try:
        return GitIgnoreSpec.from_lines(lines)
    except ValueError:
        good = [line for line in lines if _is_pattern(line)]
        return GitIgnoreSpec.from_lines(good)


def _is_pattern(line: str) -> bool:
    from pathspec import GitIgnoreSpec

    try:
        GitIgnoreSpec.from_lines([line])
    except ValueError:
        return False
    return True
