"""The root of a project, the folder `.oracle/` in it, and the user's own folder."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

from oracle.errors import InputError, StoreError

MARKERS: Final = ("oracle.toml", ".git")
THREADS_FOLDER: Final = "threads"
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
    """The project's `.oracle/`, made on first use. It ignores itself, so git never sees it."""
    folder = root / ".oracle"
    ignore = folder / ".gitignore"
    try:
        folder.mkdir(exist_ok=True)
        if not ignore.exists():
            ignore.write_text("*\n", encoding="utf-8")
    except FileExistsError as problem:
        raise StoreError(
            f"{folder} cannot be made: a file has this name; move the file away"
        ) from problem
    except OSError as problem:
        raise StoreError(
            f"{folder} cannot be made: {problem.strerror}; make the project's folder writable"
        ) from problem
    return folder


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
