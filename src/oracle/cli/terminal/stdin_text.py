"""What is piped in besides the question: `git diff | oracle ask "is this safe?"`."""

from __future__ import annotations

import os
import select
import sys
import time
from typing import Final

from oracle.errors import InputError

MOST_BYTES: Final = 500_000
PATIENCE: Final = 2.0
_PIECE: Final = 65_536
_MOST_UNREADABLE: Final = 0.1


def piped_text(seconds: float) -> str:
    """All of stdin, if it is a pipe or a file; nothing from a terminal, or where it is closed.

    A pipe is read to its end: what is slow to come must not be left out unnoticed. One that nobody
    ever ends is an error after `seconds`; before that, stderr tells what is waited for.
    """
    try:
        descriptor = sys.stdin.fileno()
        os.fstat(descriptor)
    except (AttributeError, OSError, ValueError):
        return ""
    if os.isatty(descriptor):
        return ""
    return as_text(_read(descriptor, seconds))


def as_text(data: bytes) -> str:
    """Text as UTF-8. A diff may hold lines in another encoding; a picture is no text at all."""
    if b"\0" in data:
        raise InputError("stdin holds binary data; pipe text, such as the output of `git diff`")
    text = data.decode("utf-8-sig", "replace")
    if text.count("\ufffd") > len(text) * _MOST_UNREADABLE:
        raise InputError("stdin is no text in UTF-8; convert it first, such as with `iconv`")
    return text if text.strip() else ""


def _read(descriptor: int, seconds: float) -> bytes:
    data = bytearray()
    deadline = time.monotonic() + seconds
    is_told = False
    while time.monotonic() < deadline:
        if not _is_ready(descriptor, min(PATIENCE, seconds)):
            if not is_told:
                print("oracle: reading stdin until it ends…", file=sys.stderr, flush=True)
            is_told = True
            continue
        piece = os.read(descriptor, _PIECE)
        if not piece:
            return bytes(data)
        data += piece
        if len(data) > MOST_BYTES:
            raise InputError(
                f"stdin holds more than {MOST_BYTES:,} bytes, more than a model takes in with a "
                "question; pipe less, such as one file's part of a diff"
            )
    raise InputError(
        f"stdin is a pipe that nobody ended for {seconds:g} s; "
        "give `< /dev/null` where nothing is to be read"
    )


def _is_ready(descriptor: int, seconds: float) -> bool:
    ready, _, _ = select.select([descriptor], [], [], seconds)
    return bool(ready)
