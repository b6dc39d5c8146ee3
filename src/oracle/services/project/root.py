"""The root of a project, the folder `.oracle/` in it, and the user's own folder."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import Final

from oracle.errors import InputError, StoreError

MARKERS: Final = ("oracle.toml", ".git")
THREADS_FOLDER: Final = "threads"
_OWN: Final = (".gitignore", "index", "oracle.db", "oracle.db-wal", "oracle.db-shm")
"""What oracle itself writes to `.oracle/`."""
KEPT_FOLDERS: Final = ("notes", THREADS_FOLDER)
"""Folders that are read even if git ignores them. The settings may name others for notes."""


def here() -> Path:
    """The working directory, which may have been deleted since the user went there."""
    try:
        return Path.cwd()
    except FileNotFoundError:
        raise InputError("the working directory is gone; go to one that exists") from None


def find_root(start: Path) -> Path:
    """The nearest folder, from `start` upwards, that holds `oracle.toml` or `.git`."""
    start = start.resolve()
    for folder in (start, *start.parents):
        if any((folder / marker).exists() for marker in MARKERS):
            return folder
    raise InputError(
        f"{start} is not in a project: neither it nor a folder above has {' or '.join(MARKERS)}; "
        "go to a project, or make one here with `oracle init`"
    )


def oracle_folder(root: Path) -> Path:
    """The project's `.oracle/`, made on first use, for the user's eyes only.

    It ignores itself, so git never sees it. A project may come with a folder of this name: a link
    in it must not lead our files elsewhere.
    """
    folder = root / ".oracle"
    for path in (folder, *(folder / name for name in _OWN)):
        if path.is_symlink():
            raise StoreError(
                f"{path} is a symbolic link, which may lead out of the project; remove it, or set "
                "ORACLE_DATABASE_URL"
            )
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        _keep_private(folder)
        _ignore_itself(folder)
    except FileExistsError as problem:
        raise StoreError(
            f"{folder} cannot be made: a file has this name; move the file away"
        ) from problem
    except OSError as problem:
        raise StoreError(
            f"{folder} cannot be made: {problem.strerror}; make the project's folder writable"
        ) from problem
    return folder


def _keep_private(folder: Path) -> None:
    """Take the rights of others away: conversations and the index are in it."""
    status = folder.stat()
    if status.st_mode & 0o077 and status.st_uid == os.geteuid():
        with contextlib.suppress(OSError):
            folder.chmod(0o700)


def _ignore_itself(folder: Path) -> None:
    """Write `.gitignore`. One that is there keeps its rules, but cannot show our files to git."""
    from oracle.services.project.ignore_patterns import ignore_spec

    file = folder / ".gitignore"
    try:
        lines = file.read_text(encoding="utf-8", errors="replace").splitlines()
    except FileNotFoundError:
        lines = []
    try:
        rules = ignore_spec(lines)
    except ValueError:
        rules = ignore_spec([])
    if not lines:
        file.write_text("*\n", encoding="utf-8")
    elif not all(map(rules.match_file, ("oracle.db", "oracle.db-wal", "index/lock"))):
        file.write_text("\n".join([*lines, "/oracle.db*", "/index/", ""]), encoding="utf-8")


def user_folder() -> Path:
    """For data that belongs to no project. Follows the XDG convention for a user's state."""
    base = os.environ.get("XDG_STATE_HOME", "")
    # The convention says to ignore a path that is not absolute.
    return (Path(base) if Path(base).is_absolute() else Path.home() / ".local/state") / "oracle"


def made_user_folder() -> Path:
    """The same folder, created if it is missing, for the user's eyes only."""
    folder = user_folder()
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as problem:
        raise StoreError(
            f"{folder} cannot be made: {problem.strerror}; go to a project, or make one here with "
            "`oracle init`"
        ) from problem
    return folder
