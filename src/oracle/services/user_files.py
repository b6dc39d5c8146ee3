"""The user's own files: settings below `~/.config/oracle`, and what was remembered.

Every write is atomic and private to the user. Two processes that write at once wait for each other.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import stat
from collections.abc import Callable, Generator, Mapping
from pathlib import Path
from typing import Any, Final, cast

from oracle.errors import StoreError, unless_full
from oracle.regular_file import read_regular
from oracle.services.project.root import home, user_folder

_MEMORY: Final = "remembered.json"


def config_folder() -> Path:
    """For what the user writes. Follows the XDG convention for a user's settings."""
    base = os.environ.get("XDG_CONFIG_HOME", "")
    # The convention says to ignore a path that is not absolute.
    return (Path(base) if Path(base).is_absolute() else _home() / ".config") / "oracle"


def _home() -> Path:
    try:
        return home()
    except RuntimeError:  # no HOME, and a user without an entry, as in some containers
        raise StoreError("there is no home folder; set HOME or XDG_CONFIG_HOME") from None


def recall(topic: str) -> Mapping[str, Any]:
    """What was remembered about a topic; empty if nothing was, or if it cannot be read."""
    try:
        known = json.loads(read_regular(user_folder() / _MEMORY))
    except (OSError, ValueError):
        return {}
    about: Any = cast("dict[str, Any]", known).get(topic) if isinstance(known, dict) else None
    return cast("dict[str, Any]", about) if isinstance(about, dict) else {}


def remember(topic: str, key: str, value: Any) -> None:
    """Keep one value about a topic, for later processes of this user."""

    def added(old: str) -> str:
        try:
            known: Any = json.loads(old or "{}")
        except ValueError:
            known = {}
        if not isinstance(known, dict):
            known = {}
        known = cast("dict[str, Any]", known)
        return json.dumps({**known, topic: {**recall(topic), key: value}}, indent=2) + "\n"

    rewrite(user_folder() / _MEMORY, added)


def rewrite(path: Path, change: Callable[[str], str], *, private: bool = True) -> None:
    """Replace a file by what `change` makes of its text, which is empty for a file that is missing.

    A link is followed: people keep such files in a repository of their own. With `private=False` a
    file keeps its mode, a new one gets the usual mode, and a read-only one is left alone.
    """
    path = Path(os.path.realpath(path))
    try:
        mode = 0o600 if private else _mode_of(path)
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with _locked(path):
            try:
                text = read_regular(path).decode()
            except FileNotFoundError:
                text = ""
            _replace(path, change(text), mode)
    except UnicodeDecodeError:
        raise StoreError(f"{path} is not UTF-8 text; move it away or mend it") from None
    except OSError as problem:
        step = unless_full(problem, "make its folder writable")
        raise StoreError(f"{path} cannot be written: {problem.strerror}; {step}") from problem


@contextlib.contextmanager
def _locked(path: Path) -> Generator[None]:
    """Held on the folder, because the file itself is replaced."""
    folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)
        yield
    finally:
        os.close(folder)


def _mode_of(path: Path) -> int:
    try:
        mode = stat.S_IMODE(path.stat().st_mode)
    except FileNotFoundError:
        mask = os.umask(0o077)
        os.umask(mask)
        return 0o666 & ~mask
    # A rename would replace it all the same, and for root the system has no objections.
    if not mode & 0o222 or not os.access(path, os.W_OK):
        raise StoreError(f"{path} is read-only; make it writable, then try again")
    return mode


def _replace(path: Path, text: str, mode: int) -> None:
    """The file is whole at any moment: it has its old content or its new one."""
    import tempfile

    with tempfile.NamedTemporaryFile(
        "wb", dir=path.parent, prefix=f".{path.name}.", delete=False
    ) as file:
        try:
            # As bytes: the ends of lines are for the caller to choose.
            file.write(text.encode())
            file.flush()
            os.fchmod(file.fileno(), mode)
            os.fsync(file.fileno())
            os.replace(file.name, path)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(file.name)
            raise
