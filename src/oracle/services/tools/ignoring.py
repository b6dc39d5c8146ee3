"""What of a project is nobody's business: ignored by its rules, made by tools, or oracle's own."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from oracle.services.project.ignore_rules import TOOL_FOLDERS, IgnoreRules
from oracle.services.project.secret_files import is_secret_file

TEMPORARY: Final = ".oracle-"
"""What a half-written file is called until it is whole."""


class Ignoring:
    """One instance serves one walk. Folders in `kept` are read whatever git thinks of them."""

    def __init__(self, root: Path, kept: tuple[str, ...] = ()) -> None:
        self._rules = IgnoreRules(root, kept)

    def ignores(self, path: str, *, is_folder: bool = False) -> bool:
        """For a path whose folders are not ignored."""
        name = path.rpartition("/")[2]
        if name in TOOL_FOLDERS or name.startswith(TEMPORARY):
            return True
        if not is_folder and is_secret_file(path):
            return True
        return self._rules.rule_against(path + "/" * is_folder) is not None

    def ignores_anywhere(self, path: str) -> bool:
        """For any path to a file: it or a folder above it is ignored."""
        return self.ignores_folder(path.rpartition("/")[0]) or self.ignores(path)

    def ignores_folder(self, path: str) -> bool:
        """For any path to a folder: it or one above it is ignored."""
        parts = path.split("/") if path else []
        folders = ("/".join(parts[:count]) for count in range(1, len(parts) + 1))
        return any(self.ignores(folder, is_folder=True) for folder in folders)
