"""Text piped in with the question: `git diff | oracle ask "is this safe?"`."""

from __future__ import annotations

import os
import select
import stat
import sys
import time
from typing import Final

from oracle.errors import InputError

MOST_BYTES: Final = 500_000
SECONDS_BEFORE_NOTE: Final = 2.0
LEAST_SECONDS: Final = 1.0
_PIECE: Final = 65_536
_MOST_UNREADABLE: Final = 0.1


def piped_text(seconds: float) -> str:
    """All of stdin if it is a pipe or a file; empty if it is a terminal or closed.

    A pipe is read to its end: half a diff, taken for a whole one, would give a wrong answer. A
    note on stderr says so when it takes long. A pipe that does not end within `seconds` is an
    error.
    """
    descriptor = _descriptor()
    if descriptor is None or os.isatty(descriptor) or _is_null(descriptor):
        return ""
    return as_text(_read(descriptor, seconds))


def is_piped() -> bool:
    """Whether somebody meant to give a text: stdin is a pipe or a file.

    Programs that give none use `/dev/null`, or close stdin.
    """
    descriptor = _descriptor()
    if descriptor is None:
        return False
    mode = os.fstat(descriptor).st_mode
    return stat.S_ISFIFO(mode) or stat.S_ISREG(mode)


def _descriptor() -> int | None:
    try:
        descriptor = sys.stdin.fileno()
        os.fstat(descriptor)  # fails if the shell closed it: `oracle ask … <&-`
    except (AttributeError, OSError, ValueError):
        return None
    return descriptor


def _is_null(descriptor: int) -> bool:
    return os.path.samestat(os.fstat(descriptor), os.stat(os.devnull))


def as_text(data: bytes) -> str:
    """Decode UTF-8. A few wrong bytes are replaced: a diff may have lines in another encoding."""
    if b"\0" in data:
        raise InputError("stdin contains binary data; pipe text, such as the output of `git diff`")
    text = data.decode("utf-8-sig", "replace")
    if text.count("\ufffd") > len(text) * _MOST_UNREADABLE:
        raise InputError("stdin is not UTF-8 text; convert it first, for example with `iconv`")
    return text if text.strip() else ""


def _read(descriptor: int, seconds: float) -> bytes:
    data = bytearray()
    # Input that is already there is read even with `--timeout 0`.
    seconds = max(seconds, LEAST_SECONDS)
    deadline = time.monotonic() + seconds
    has_noted = False
    while time.monotonic() < deadline:
        if not _is_ready(descriptor, min(SECONDS_BEFORE_NOTE, seconds)):
            if not has_noted:
                print("oracle: reading stdin until it ends…", file=sys.stderr, flush=True)
            has_noted = True
            continue
        piece = os.read(descriptor, _PIECE)
        if not piece:
            return bytes(data)
        data += piece
        if len(data) > MOST_BYTES:
            raise InputError(
                f"stdin has more than {MOST_BYTES:,} bytes, which is too much for a model; "
                "pipe less, such as the diff of one file"
            )
    raise InputError(
        f"stdin did not end within {seconds:g} s; close the pipe, raise --timeout, or give "
        "`< /dev/null` if there is nothing to read"
    )


def _is_ready(descriptor: int, seconds: float) -> bool:
    ready, _, _ = select.select([descriptor], [], [], seconds)
    return bool(ready)
