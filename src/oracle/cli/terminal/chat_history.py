"""The history of a chat: what was typed, for later chats in the same project.

One entry a line. Every entry is added as soon as it is typed, so nothing is lost in a crash, and
two chats at once keep the entries of both.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import stat
from pathlib import Path
from typing import TYPE_CHECKING, Final

from oracle.cli.terminal.safe_text import printable, safe_text
from oracle.errors import OracleError
from oracle.regular_file import check_regular, kind_of_file, read_regular

if TYPE_CHECKING:
    from oracle.settings import Settings

MOST_ENTRIES: Final = 1_000
MOST_BYTES: Final = 2_000_000
LONGEST_ENTRY: Final = 20_000

_NOT_KEPT: Final = "what you type is not kept for later chats"
_ESCAPES: Final = {"\\": "\\\\", "\n": "\\n"}
_ESCAPED: Final = re.compile(r"\\([\\n])")
# Created here, because only the user may read it: questions can be private. A link or a pipe in
# its place is refused: the first may lead anywhere, the second may block.
_FLAGS: Final = os.O_CREAT | os.O_RDWR | os.O_APPEND | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC


def history_file(settings: Settings) -> Path | None:
    """Next to the project's database, which git ignores. None if it cannot be written."""
    try:
        return _place(settings)
    except OracleError:
        return None


def _place(settings: Settings) -> Path:
    from oracle.services.project.root import made_user_folder, oracle_folder

    if settings.root is None:
        return made_user_folder() / "chat_history"
    return oracle_folder(settings.root, ("chat_history",)) / "chat_history"


def why_not_kept(settings: Settings) -> str | None:
    """What is wrong with the history, on one line; None if entries can be added to it."""
    try:
        file = _place(settings)
        mode = os.lstat(file).st_mode
    except FileNotFoundError:
        return None
    except (OracleError, OSError) as problem:
        return f"{_NOT_KEPT}: {printable(str(problem))}"
    if not stat.S_ISREG(mode):
        return f"{_NOT_KEPT}: {printable(str(file))} is {kind_of_file(mode)}; remove it"
    if not os.access(file, os.R_OK | os.W_OK):
        return f"{_NOT_KEPT}: {printable(str(file))} cannot be written; check its permissions"
    return None


def read_history(file: Path | None) -> list[str]:
    """The entries of earlier chats, oldest first, safe to show: the file may come from anyone.

    Empty if there is no such file, or something else in its place.
    """
    if file is None:
        return []
    try:
        text = read_regular(file, flags=os.O_NOFOLLOW).decode(errors="replace")
    except OSError:
        return []
    entries = (safe_text(_decoded(line)).strip("\n") for line in text.split("\n"))
    return [entry for entry in entries if entry.strip()][-MOST_ENTRIES:]


def add_to_history(file: Path | None, entry: str) -> None:
    """Does nothing if the history cannot be written: the chat itself goes well."""
    from oracle.services.project.redaction import redact

    if file is None or not entry.strip() or len(entry) > LONGEST_ENTRY:
        return
    with contextlib.suppress(OSError):
        check_regular(file)
        with io.FileIO(os.open(file, _FLAGS, 0o600), "r+") as opened:
            _add(opened, f"{_encoded(redact(entry))}\n".encode(errors="replace"))


def _add(file: io.FileIO, line: bytes) -> None:
    import fcntl

    status = os.fstat(file.fileno())
    if not stat.S_ISREG(status.st_mode):
        return
    if status.st_mode & 0o077 and status.st_uid == os.geteuid():
        os.fchmod(file.fileno(), 0o600)
    with contextlib.suppress(BlockingIOError):
        # Not waited for: a lock that another program holds must not hold up a question.
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if status.st_size > MOST_BYTES:
            _shorten(file)
    # In one piece, and at the end even if another chat has written meanwhile (O_APPEND).
    file.write(line)


def _shorten(file: io.FileIO) -> None:
    """Keep the newest entries, in half of the room."""
    file.seek(-MOST_BYTES // 2, os.SEEK_END)
    kept = file.readall().partition(b"\n")[2]
    file.truncate(0)
    file.write(kept)


def _encoded(entry: str) -> str:
    return "".join(_ESCAPES.get(char, char) for char in entry)


def _decoded(line: str) -> str:
    return _ESCAPED.sub(lambda found: "\n" if found[1] == "n" else "\\", line)
