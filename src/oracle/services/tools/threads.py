"""Threads: append-only logs of decisions, `threads/<name>.md`. An entry has its time as heading.

# storage

## 2026-01-08T12:00:00.000000Z

We keep SQLite.
"""

from __future__ import annotations

import fcntl
import os
import re
import stat
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

from oracle.errors import ToolProblem, did_you_mean, named
from oracle.services.project.root import THREADS_FOLDER
from oracle.services.tools.files import LARGEST_KEPT, FileText, ProjectFiles, with_plain_ends
from oracle.services.tools.writing import file_name, folder_inside, write_all

_ENTRY: Final = re.compile(r"## (\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,6})?Z)[ \t]*")
_LOOKS_LIKE_ENTRY: Final = re.compile(r"^(?=## \d{4}-\d\d-\d\d)", re.M)
_SECONDS_FOR_LOCK: Final = 5.0
# Enough to find the time of the last entry, without reading a long thread.
_TAIL: Final = 64 * 1024


@dataclass(frozen=True, kw_only=True)
class Entry:
    """Lines `start` to `end` of the thread's file, the heading included."""

    thread: str
    time: str
    start: int
    end: int
    text: str

    @property
    def where(self) -> str:
        return f"thread:{self.thread}@{self.time}"


def utc_now() -> datetime:
    return datetime.now(UTC)


class Threads:
    def __init__(self, files: ProjectFiles, *, now: Callable[[], datetime] = utc_now) -> None:
        self._files = files
        self._now = now

    def names(self) -> list[str]:
        paths = [entry.path for entry in self._files.entries(THREADS_FOLDER)]
        return [path.split("/")[1][:-3] for path in paths if re.fullmatch(r"[^/]+/[^/]+\.md", path)]

    def read(self, name: str) -> tuple[FileText, list[Entry]]:
        """The thread of that name, oldest entry first."""
        known = self.names()
        real = name if name in known else file_name(name.removesuffix(".md"))
        if real not in known:
            listed = f"; there are {', '.join(known[:20])}" if known else "; there is no thread yet"
            raise ToolProblem(
                f"there is no thread {named(name)}{did_you_mean(name[:100], known) or listed}"
            )
        text = self._files.read(f"{THREADS_FOLDER}/{real}.md", largest=LARGEST_KEPT)
        if text.is_partial:
            raise ToolProblem(f"the thread {real!r} is too long to be read; begin a new one")
        return text, entries_of(real, text.lines)

    def append(self, name: str, text: str) -> Entry:
        """Other processes that append at the same time wait, so no entry is lost or divided."""
        body = as_body(text)
        with folder_inside(self._files.root, THREADS_FOLDER) as folder:
            # Not through a link, which may lead outside; and not waiting if the file is a pipe.
            flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
            descriptor = os.open(f"{name}.md", flags | os.O_NONBLOCK, 0o644, dir_fd=folder)
            try:
                _check_regular(descriptor, name)
                _lock(descriptor, name)
                entry = self._append(descriptor, name, body)
                os.fsync(folder)
            finally:
                os.close(descriptor)
        return entry

    def _append(self, descriptor: int, name: str, body: str) -> Entry:
        size = os.fstat(descriptor).st_size
        tail = os.pread(descriptor, _TAIL, max(0, size - _TAIL)).decode(errors="replace")
        moment = self._later_than(tail)
        before = _gap(tail) if size else f"# {name}\n\n"
        added = f"{before}## {moment}\n\n{body}\n"
        try:
            write_all(descriptor, added.encode())
            os.fsync(descriptor)
        except OSError:
            # The disk may be full: half an entry must not stay.
            os.ftruncate(descriptor, size)
            raise
        start = _lines_in(descriptor, size) + before.count("\n") + 1
        end = start + 2 + body.count("\n")
        return Entry(thread=name, time=moment, start=start, end=end, text=body)

    def _later_than(self, tail: str) -> str:
        """Entries have different times in rising order, even if the clock was set back."""
        moment = self._now()
        times = [found[1] for line in tail.split("\n") if (found := _ENTRY.fullmatch(line))]
        if times:
            moment = max(moment, datetime.fromisoformat(times[-1]) + timedelta(microseconds=1))
        return moment.strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def entries_of(thread: str, lines: list[str]) -> list[Entry]:
    heads = [
        (number, found[1])
        for number, line in enumerate(lines, start=1)
        if (found := _ENTRY.fullmatch(line))
    ]
    ends = [number - 1 for number, _ in heads[1:]] + [len(lines)]
    return [
        _entry(thread, moment, start, lines[start - 1 : end])
        for (start, moment), end in zip(heads, ends, strict=True)
    ]


def _entry(thread: str, moment: str, start: int, lines: list[str]) -> Entry:
    while len(lines) > 1 and not lines[-1].strip():
        lines = lines[:-1]
    return Entry(
        thread=thread,
        time=moment,
        start=start,
        end=start + len(lines) - 1,
        text="\n".join(lines[1:]).strip("\n"),
    )


def as_body(text: str) -> str:
    """The text as it is written. A line that looks like an entry's heading gets a backslash."""
    plain = with_plain_ends(text).strip("\n")
    return _LOOKS_LIKE_ENTRY.sub(r"\\", plain)


def _gap(tail: str) -> str:
    """What comes before a new entry. After a crash the last line may have no end."""
    return "\n" if tail.endswith("\n") else "\n\n"


def _lines_in(descriptor: int, size: int) -> int:
    """How many lines end in the first `size` bytes. A long thread is read in pieces."""
    offsets = range(0, size, 1 << 20)
    return sum(
        os.pread(descriptor, min(1 << 20, size - offset), offset).count(b"\n") for offset in offsets
    )


def _check_regular(descriptor: int, name: str) -> None:
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        raise ToolProblem(f"the thread {name!r} is not a regular file; tell the user")


def _lock(descriptor: int, name: str) -> None:
    deadline = time.monotonic() + _SECONDS_FOR_LOCK
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > deadline:
                raise ToolProblem(
                    f"another process holds the thread {name!r}; nothing was written, try again"
                ) from None
            time.sleep(0.005)
        else:
            return
