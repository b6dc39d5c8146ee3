"""Files with several names. One of the names may be outside of the project.

A hard link leads to a file as a symbolic link does, but it cannot be seen from its path. So a file
with several names is read only if all of them are found in the project, and none of them is that of
a file with secrets.
"""

from __future__ import annotations

import os
import stat
import threading
import time
from collections import deque
from pathlib import Path
from typing import Final

from oracle.services.project.secret_files import OURS, SecretFiles

_MOST_ENTRIES: Final = 300_000
"""How many names are looked at. In a larger project some files with several names are not read."""
_FRESH_SECONDS: Final = 2.0
"""For this long a search is not repeated: a walk may meet thousands of such files."""

_Identity = tuple[int, int]


class HardLinks:
    """Safe to use from several threads."""

    def __init__(self, root: Path, secrets: SecretFiles = OURS) -> None:
        self._root = root
        self._secrets = secrets
        self._lock = threading.Lock()
        self._names: dict[_Identity, list[str]] = {}
        self._searched_at = float("-inf")

    def problem(self, status: os.stat_result) -> str | None:
        """Why a file is not read because of its other names; None if it may be read."""
        if status.st_nlink < 2 or self._secrets.hard_links == "all":
            return None
        names = self._current_names((status.st_dev, status.st_ino), status.st_nlink)
        if len(names) < status.st_nlink:
            return (
                "it is a hard link, and another name of the file is outside of the project; to "
                'read such files, set secrets.hard_links to "all"'
            )
        secret = next((name for name in names if self._secrets.rule_for(name)), None)
        return secret and (
            f"it is a hard link to {secret}, a file of secrets; to read it, add {secret} to "
            "secrets.allow (ORACLE_SECRETS_ALLOW)"
        )

    def _current_names(self, identity: _Identity, count: int) -> list[str]:
        with self._lock:
            names = self._still_there(identity)
            if len(names) < count and time.monotonic() - self._searched_at > _FRESH_SECONDS:
                self._search()
                names = self._still_there(identity)
            return names

    def _still_there(self, identity: _Identity) -> list[str]:
        # A name that was found may lead to another file by now.
        return [name for name in self._names.get(identity, ()) if self._is_at(name, identity)]

    def _is_at(self, name: str, identity: _Identity) -> bool:
        try:
            status = os.lstat(self._root / name)
        except OSError:
            return False
        return (status.st_dev, status.st_ino) == identity

    def _search(self) -> None:
        """Look at all folders, those of tools too: pnpm links packages of a workspace into
        `node_modules`.
        """
        self._names = {}
        self._searched_at = time.monotonic()
        folders, left = deque([""]), _MOST_ENTRIES
        while folders and left > 0:
            prefix = folders.popleft()
            try:
                with os.scandir(self._root / prefix) as entries:
                    for entry in entries:
                        left -= 1
                        self._note(prefix + entry.name, entry, folders)
            except OSError:
                continue

    def _note(self, path: str, entry: os.DirEntry[str], folders: deque[str]) -> None:
        try:
            if entry.is_dir(follow_symlinks=False):
                folders.append(f"{path}/")
                return
            status = entry.stat(follow_symlinks=False)
        except OSError:
            return
        if status.st_nlink > 1 and stat.S_ISREG(status.st_mode):
            self._names.setdefault((status.st_dev, status.st_ino), []).append(path)


def link_problem(path: Path, root: Path | None, secrets: SecretFiles = OURS) -> str | None:
    """Why a file that the settings lead to is not read: it has another name, which is a secret's.

    `root` is the project's, or None outside of one.
    """
    real = Path(os.path.realpath(path))
    inside = root is not None and real.is_relative_to(os.path.realpath(root))
    name = real.relative_to(os.path.realpath(root)).as_posix() if root and inside else str(real)
    if secrets.rule_for(name):
        return f"it leads to {name}, a file of secrets"
    # A folder has several names too: `.` and those in the folders below it.
    if root is None or not inside or not real.is_file():
        return None
    try:
        return HardLinks(root, secrets).problem(os.stat(real))
    except OSError:
        return None
