"""The root of a project, the folder `.oracle/` in it, and the user's own folder."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from oracle.errors import InputError, StoreError, unless_full
from oracle.regular_file import NotRegular, read_regular

MARKERS: Final = ("oracle.toml", ".git")
FOLDER: Final = ".oracle"
"""Where oracle keeps its own files in a project. Git ignores what is in it."""
THREADS_FOLDER: Final = "threads"
DATABASE_FILES: Final = ("oracle.db", "oracle.db-wal", "oracle.db-shm", "oracle.db-journal")
INDEX_FILES: Final = ("index",)
KEPT_FOLDERS: Final = ("notes", THREADS_FOLDER)
"""Folders that are read even if git ignores them. The settings may name others for notes."""


def here() -> Path:
    """The working directory, which may have been deleted since the user went there."""
    try:
        return Path.cwd()
    except FileNotFoundError:
        raise InputError("the working directory is gone; go to one that exists") from None


def project_name(root: Path | None, folder: Path | None = None) -> str:
    """Names a project in a shared database, on every machine alike.

    Outside of projects all folders share the user's database, and each is like a project of its
    own: a chat about private notes must not continue in another folder. A folder is named by its
    path, which no name of a project can be.
    """
    return str((folder or here()).resolve()) if root is None else root.resolve().name


def find_root(start: Path) -> Path:
    """The nearest folder, from `start` upwards, that holds `oracle.toml` or `.git`."""
    start = start.resolve()
    for folder in (start, *start.parents):
        if is_root(folder):
            return folder
    raise InputError(
        f"{start} is not in a project: neither it nor a folder above has {' or '.join(MARKERS)}; "
        "go to a project, or make one here with `oracle init`"
    )


def is_root(folder: Path) -> bool:
    # Also a link that leads nowhere: reading the settings then says so.
    return any(os.path.lexists(folder / marker) for marker in MARKERS)


def oracle_folder(root: Path, files: Iterable[str] = (*DATABASE_FILES, *INDEX_FILES)) -> Path:
    """The project's `.oracle/`, made on first use, for the user's eyes only.

    It ignores itself, so git never sees it. `files` are those that the caller writes to it.
    """
    folder = root / FOLDER
    check_links(folder, files)
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        _keep_private(folder)
        _ignore_itself(folder)
    except NotRegular as problem:
        raise StoreError(
            f"{problem.filename} cannot be read: {problem.strerror}; check its permissions"
        ) from problem
    except OSError as problem:
        raise cannot_make(folder, problem) from problem
    return folder


def is_writable(root: Path) -> bool:
    """Whether our own files can be made in a project, or written where they exist. A full disk
    is not asked about.
    """
    folder = root / FOLDER
    if not folder.is_dir():
        return os.access(root, os.W_OK)
    files = (folder / name for name in DATABASE_FILES)
    return all(os.access(each, os.W_OK) for each in (folder, *files) if each.exists())


def check_links(folder: Path, files: Iterable[str]) -> None:
    """A project may come with an `.oracle/`: a link in it must not lead our files elsewhere."""
    for path in (folder, *(folder / name for name in (".gitignore", *files))):
        if path.is_symlink():
            raise StoreError(
                f"{path} is a symbolic link, which may lead out of the project; remove it"
            )


def cannot_make(folder: Path, problem: OSError) -> StoreError:
    """Why a folder in the project cannot be made, and the next step."""
    reason, step = problem.strerror, unless_full(problem, "make the project's folder writable")
    if isinstance(problem, FileExistsError):
        reason, step = "a file has this name", "move the file away"
    return StoreError(f"{folder} cannot be made: {reason}; {step}")


def _keep_private(folder: Path) -> None:
    """Take the rights of others away: conversations and the index are in it."""
    status = folder.stat()
    if status.st_mode & 0o077 and status.st_uid == os.geteuid():
        with contextlib.suppress(OSError):
            folder.chmod(0o700)


def _ignore_itself(folder: Path) -> None:
    """Write `.gitignore`. One that is there keeps its rules, but cannot show our files to git."""
    file = folder / ".gitignore"
    try:
        lines = read_regular(file).decode(errors="replace").splitlines()
    except FileNotFoundError:
        lines = []
    if not lines:
        file.touch(mode=0o600)
        file.write_text("*\n", encoding="utf-8")
    # As we wrote it, the usual case: importing the rules would take longer than all else here.
    elif lines != ["*"]:
        _ignore_our_files(file, lines)


def _ignore_our_files(file: Path, lines: list[str]) -> None:
    from oracle.services.project.ignore_patterns import ignore_spec

    try:
        rules = ignore_spec(lines)
    except ValueError:
        rules = ignore_spec([])
    if not all(map(rules.match_file, ("oracle.db", "oracle.db-wal", "index/lock"))):
        file.write_text("\n".join([*lines, "/oracle.db*", "/index/", ""]), encoding="utf-8")


def home() -> Path:
    """The user's own folder. A HOME that is not absolute would be one inside of the project."""
    folder = Path.home()
    if folder.is_absolute():
        return folder
    from pwd import getpwuid

    try:
        return Path(getpwuid(os.getuid()).pw_dir)
    except KeyError:  # a user without an entry, as in some containers
        raise RuntimeError("there is no home folder") from None


def user_folder() -> Path:
    """For data that belongs to no project. Follows the XDG convention for a user's state."""
    base = os.environ.get("XDG_STATE_HOME", "")
    # The convention says to ignore a path that is not absolute.
    return (Path(base) if Path(base).is_absolute() else home() / ".local/state") / "oracle"


def made_user_folder() -> Path:
    """The same folder, created if it is missing, for the user's eyes only."""
    folder = user_folder()
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as problem:
        step = unless_full(problem, "go to a project, or make one here with `oracle init`")
        raise StoreError(f"{folder} cannot be made: {problem.strerror}; {step}") from problem
    return folder
