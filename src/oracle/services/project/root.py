"""Where a project begins, and the folder in it that belongs to oracle."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

from oracle.errors import InputError, StoreError

MARKERS: Final = ("oracle.toml", ".git")
THREADS_FOLDER: Final = "threads"
KEPT_FOLDERS: Final = ("notes", THREADS_FOLDER)
"""What is read even where git ignores it, unless the settings have another folder for notes."""


def here() -> Path:
    """The working directory, which may have been deleted under the user's feet."""
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
        f"{start} lies in no project: neither it nor a folder above holds {' or '.join(MARKERS)}; "
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
    except OSError as problem:
        raise StoreError(
            f"{folder} cannot be made: {problem.strerror}; make the project's folder writable, "
            "or set ORACLE_DATABASE_URL"
        ) from problem
    return folder


def user_folder() -> Path:
    """Where things are kept that belong to no project, by the convention for a user's state."""
    base = os.environ.get("XDG_STATE_HOME", "")
    return (Path(base) if Path(base).is_absolute() else Path.home() / ".local/state") / "oracle"


def made_user_folder() -> Path:
    folder = user_folder()
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as problem:
        raise StoreError(
            f"{folder} cannot be made: {problem.strerror}; go to a project, or make one here with "
            "`oracle init`"
        ) from problem
    return folder
