"""Write files in a project: never half of a file, and never over an existing one by accident."""

from __future__ import annotations

import contextlib
import errno
import os
import re
import secrets
import unicodedata
from collections.abc import Generator
from pathlib import Path
from typing import Final

from oracle.errors import AlreadyThere, ToolProblem, named
from oracle.lazy_dataclass import dataclass
from oracle.patterns import lazy_pattern
from oracle.services.project.file_rules import TEMPORARY
from oracle.services.tools import tickets
from oracle.services.tools.renaming import rename_new

_FOLDER: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_LONGEST_NAME: Final = 80
# File systems allow 255 bytes, the ending included.
_MOST_BYTES: Final = 200
# Names that Windows does not allow.
_RESERVED: Final = lazy_pattern(r"(?:con|prn|aux|nul|com\d|lpt\d)")
# A file system without hard links reports one of these.
_NO_LINKS: Final = frozenset({errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS})


def file_name(title: str) -> str | None:
    """The name of a file for a title, without an ending: only letters, digits and dashes.

    None if the title has no letter or digit.
    """
    folded = unicodedata.normalize("NFKC", title).casefold()
    name = re.sub(r"[\W_]+", "-", folded).strip("-")[:_LONGEST_NAME]
    while len(name.encode(errors="replace")) > _MOST_BYTES:
        name = name[:-1]
    name = name.strip("-")
    if _RESERVED.fullmatch(name):
        return f"note-{name}"
    return name or None


@contextlib.contextmanager
def folder_inside(root: Path, folder: str) -> Generator[int]:
    """Open a folder below the root, and create it if needed. No part of its path may be a link.

    Each part is opened in the one before it, so that a link put there meanwhile is refused too.
    """
    current = os.open(root, _FOLDER)
    try:
        for part in filter(None, folder.split("/")):
            with contextlib.suppress(FileExistsError):
                os.mkdir(part, dir_fd=current)
            below = os.open(part, _FOLDER, dir_fd=current)
            os.close(current)
            current = below
        yield current
    except OSError as problem:
        raise _cannot_write(folder, problem) from problem
    finally:
        os.close(current)


def write_file(
    root: Path,
    folder: str,
    name: str,
    text: str,
    *,
    overwrite: bool,
    mark: tickets.Mark | None = None,
) -> None:
    """Afterwards the file is on the disk with its whole new content, or nothing has changed.

    With a `mark`, its ticket becomes the file, in one step: it is there, or the file is.
    """
    key = tickets.key_of(mark)
    with folder_inside(root, folder) as opened:
        temporary = f"{TEMPORARY}{key or 'note'}.{secrets.token_hex(8)}.tmp"
        try:
            if key is not None:
                tickets.begin(key, opened)
            _write_new(temporary, text.encode(), opened)
            if key is not None:
                os.replace(temporary, tickets.begun(key), src_dir_fd=opened, dst_dir_fd=opened)
                temporary = tickets.begun(key)
            if overwrite and mark is not None:
                _check_unchanged(name, opened, mark)
            if overwrite:
                os.replace(temporary, name, src_dir_fd=opened, dst_dir_fd=opened)
            elif not rename_new(temporary, name, opened):
                temporary = _about_to_be_placed(temporary, key, opened)
                _put_in_place(temporary, name, opened)
            # The name is a part of the folder: without this it could be lost in a power cut.
            os.fsync(opened)
        except FileExistsError:
            raise AlreadyThere(f"{named(f'{folder}/{name}')} already exists") from None
        finally:
            _remove(temporary, opened)
            if key is not None:
                tickets.use_up(key, opened)


def _remove(name: str, folder: int) -> None:
    with contextlib.suppress(FileNotFoundError):
        os.unlink(name, dir_fd=folder)


def _check_unchanged(name: str, folder: int, mark: tickets.Mark) -> None:
    """What somebody has changed since the write was decided on must not be replaced."""
    if tickets.before(name, folder) != mark.get("before"):
        raise ToolProblem(
            f"{named(name)} was changed in the meantime, so nothing was written; read it again"
        )


def write_all(descriptor: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]


# -- marks: see `tickets.py` -----------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class MarkState:
    """`is_linked`: the ticket is the file itself. `is_changed`: the file is not as it was when the
    mark was made.
    """

    ticket: tickets.State
    is_linked: bool
    is_changed: bool


def new_mark(root: Path, folder: str, name: str) -> tickets.Mark:
    """What will identify the write of this file after a crash."""
    with folder_inside(root, folder) as opened:
        state = tickets.before(name, opened)
        return {"key": tickets.new_ticket(opened), "path": f"{folder}/{name}", "before": state}


def drop_mark(root: Path, folder: str, mark: tickets.Mark | None) -> None:
    key = tickets.key_of(mark)
    if key is not None:
        with folder_inside(root, folder) as opened:
            tickets.use_up(key, opened)


def mark_state(root: Path, folder: str, name: str, mark: tickets.Mark) -> MarkState:
    key = tickets.key_of(mark)
    with folder_inside(root, folder) as opened:
        ticket = "gone" if key is None else tickets.state_of(key, opened)
        hidden = tickets.placing if ticket == "placing" else tickets.begun
        return MarkState(
            ticket=ticket,
            is_linked=key is not None and _is_linked(hidden(key), name, opened),
            is_changed=tickets.before(name, opened) != mark.get("before"),
        )


def _is_linked(ticket: str, name: str, folder: int) -> bool:
    try:
        states = [os.stat(each, dir_fd=folder, follow_symlinks=False) for each in (ticket, name)]
    except FileNotFoundError:
        return False
    return os.path.samestat(*states)


def without_line_ends(text: str) -> str:
    """Editors change blanks and line ends at the ends of lines; that is not another text."""
    plain = text.replace("\r\n", "\n").replace("\r", "\n").strip()
    return "\n".join(line.rstrip() for line in plain.split("\n"))


def _write_new(name: str, data: bytes, folder: int) -> None:
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
    descriptor = os.open(name, flags, 0o644, dir_fd=folder)
    try:
        write_all(descriptor, data)
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _about_to_be_placed(temporary: str, key: str | None, folder: int) -> str:
    """Where a link gives a note its name, the note keeps the other one for a moment.

    If it is deleted then, it looks as if it had never been there. So the step is recorded first.
    """
    if key is None:
        return temporary
    os.replace(temporary, tickets.placing(key), src_dir_fd=folder, dst_dir_fd=folder)
    return tickets.placing(key)


def _put_in_place(temporary: str, name: str, folder: int) -> None:
    """A hard link fails if the name is taken; a rename would replace the file."""
    try:
        os.link(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)
    except OSError as problem:
        if problem.errno not in _NO_LINKS:
            raise
        _claim(name, folder)
        os.replace(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)


def _claim(name: str, folder: int) -> None:
    """For file systems without links: the process that creates the empty file may replace it."""
    os.close(os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644, dir_fd=folder))


def _cannot_write(folder: str, problem: OSError) -> ToolProblem:
    if problem.errno in (errno.ELOOP, errno.ENOTDIR):
        return ToolProblem(
            f"{named(folder)} is a link or not a folder, so nothing was written; tell the user"
        )
    return ToolProblem(
        f"nothing was written to {named(folder)}: {problem.strerror or problem}; tell the user"
    )
