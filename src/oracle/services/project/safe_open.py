"""Opens a file below a root, and nowhere else, even if there are links on the way."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from pathlib import Path, PurePosixPath
from typing import Final

from oracle.errors import ToolProblem, named
from oracle.lazy_dataclass import dataclass
from oracle.regular_file import OPEN, kind_of_file

LARGEST_READ: Final = 4 * 1024 * 1024


@dataclass(frozen=True, kw_only=True)
class Content:
    """The bytes of a file, and its size. For a huge file `data` has only the beginning."""

    path: str
    data: bytes
    size: int

    @property
    def is_partial(self) -> bool:
        return self.size > len(self.data)


def inner_path(path: str) -> str:
    """`path` as the project names it: relative, without `.` and `..`."""
    if "\0" in path:
        raise ToolProblem(f"{named(path)} holds a NUL byte; give a path of the project")
    # Models write paths of Windows too. With a slash in it, a backslash is part of a name.
    text = path.replace("\\", "/") if "\\" in path and "/" not in path else path
    parts: list[str] = []
    for part in PurePosixPath(text).parts:
        if part == "..":
            if not parts:
                raise _outside(path)
            parts.pop()
        else:
            parts.append(part)
    if parts and parts[0].startswith("/"):
        raise _outside(path)
    return "/".join(parts)


def read_inside(
    root: Path,
    path: str,
    *,
    largest: int = LARGEST_READ,
    problem_of: Callable[[os.stat_result], str | None] = lambda _: None,
) -> Content:
    """Read a regular file below `root`, which must be resolved. `problem_of` can refuse it.

    The place is asked of the open file and not of its path: a link that is changed between a check
    and the opening could lead outside.
    """
    try:
        descriptor = os.open(root / path, OPEN)
    except OSError as problem:
        raise _not_opened(path, problem) from problem
    try:
        status = os.fstat(descriptor)
        real = Path(real_path(descriptor, str(root / path), status))
        if not real.is_relative_to(root):
            raise _outside(path)
        if not stat.S_ISREG(status.st_mode):
            raise ToolProblem(f"{named(path)} is {kind_of_file(status.st_mode)}; name a file")
        if reason := problem_of(status):
            raise ToolProblem(f"{named(path)} is not read: {reason}; answer without it")
        return Content(
            path=real.relative_to(root).as_posix(),
            data=_read(descriptor, largest, path),
            size=status.st_size,
        )
    finally:
        os.close(descriptor)


def _read(descriptor: int, largest: int, path: str) -> bytes:
    pieces: list[bytes] = []
    left = largest
    try:
        while left > 0 and (piece := os.read(descriptor, min(left, 1 << 20))):
            pieces.append(piece)
            left -= len(piece)
    except OSError as problem:
        raise _not_opened(path, problem) from problem
    return b"".join(pieces)


def real_path(descriptor: int, path: str, status: os.stat_result) -> str:
    """Where the open file is. Without /proc its path is resolved, and must still lead to it."""
    try:
        return os.readlink(f"/proc/self/fd/{descriptor}")
    except OSError:
        real = os.path.realpath(path)
        if not os.path.samestat(status, os.stat(real, follow_symlinks=False)):
            raise ToolProblem(f"{named(path)} changed while it was read; try again") from None
        return real


def _outside(path: str) -> ToolProblem:
    return ToolProblem(
        f"{named(path)} lies outside the project; give a path relative to the project's root, "
        "such as src/main.py"
    )


def _not_opened(path: str, problem: OSError) -> ToolProblem:
    if isinstance(problem, FileNotFoundError | NotADirectoryError):
        return ToolProblem(f"there is no file {named(path)}; search for it by a part of its name")
    return ToolProblem(
        f"{named(path)} cannot be read: {problem.strerror or problem}; continue without it"
    )
