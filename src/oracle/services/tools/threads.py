"""Threads: append-only logs of decisions, `threads/<name>.md`. An entry has its time as heading.

# storage

## 2026-01-08T12:00:00.000000Z <!-- 9f3ab2c41d07e865 -->

We keep SQLite.

The comment is the key of the write. After a crash it tells whether the entry was added. It is
optional: an entry that was written by hand has none.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import time
from collections.abc import Callable, Generator
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import Any, Final

from oracle.errors import InterruptedWrite, ToolProblem, did_you_mean, named
from oracle.lazy_dataclass import dataclass
from oracle.patterns import lazy_pattern
from oracle.services.project.root import THREADS_FOLDER
from oracle.services.tools import tickets
from oracle.services.tools.files import LARGEST_KEPT, FileText, ProjectFiles, with_plain_ends
from oracle.services.tools.tickets import READ, Mark, check_regular, key_of
from oracle.services.tools.writing import file_name, folder_inside, new_mark, without_line_ends

_ENTRY: Final = lazy_pattern(
    r"## (\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,6})?Z)(?:[ \t]+<!-- ([0-9a-f]{16}) -->)?[ \t]*"
)
_LOOKS_LIKE_ENTRY: Final = lazy_pattern(r"^(?=## \d{4}-\d\d-\d\d)", re.M)
_SECONDS_FOR_LOCK: Final = 5.0
# How often a thread is opened again because another program has replaced its file.
_TRIES: Final = 5
# Enough to find the time of the last entry, without reading a long thread: the longest entry has
# 50,000 characters of up to four bytes.
_TAIL: Final = 256 * 1024


@dataclass(frozen=True, kw_only=True)
class Entry:
    """Lines `start` to `end` of the thread's file, the heading included."""

    thread: str
    time: str
    start: int
    end: int
    text: str
    key: str | None = None

    @property
    def where(self) -> str:
        return f"thread:{self.thread}@{self.time}"


def utc_now() -> datetime:
    return datetime.now(UTC)


def thread_at(path: str) -> str:
    """The name of the thread whose file has this path."""
    folder, _, file = path.rpartition("/")
    root = folder.removesuffix(THREADS_FOLDER)
    return root + file.removesuffix(".md")


class Threads:
    def __init__(self, files: ProjectFiles, *, now: Callable[[], datetime] = utc_now) -> None:
        self._files = files
        self._now = now

    def names(self) -> list[str]:
        """The threads of a further root have its name in front: `shared/storage`."""
        folders = (THREADS_FOLDER, *(f"{name}/{THREADS_FOLDER}" for name in self._files.others))
        paths = [entry.path for folder in folders for entry in self._files.entries(folder)]
        return [
            found[1] + found[2]
            for path in paths
            if (found := re.fullmatch(rf"((?:[^/]+/)?){THREADS_FOLDER}/([^/]+)\.md", path))
        ]

    def read(self, name: str) -> tuple[FileText, list[Entry]]:
        """The thread of that name, oldest entry first."""
        known = self.names()
        root, slash, bare = name.rpartition("/")
        slug = file_name((bare if root in self._files.others else name).removesuffix(".md"))
        before = root + slash if root in self._files.others else ""
        real = name if name in known else f"{before}{slug}"
        if real not in known:
            listed = f"; there are {', '.join(known[:20])}" if known else "; there is no thread yet"
            raise ToolProblem(
                f"there is no thread {named(name)}{did_you_mean(name[:100], known) or listed}"
            )
        bare = real.removeprefix(before)
        path = f"{before}{THREADS_FOLDER}/{bare}.md"
        text = self._files.read(path, largest=LARGEST_KEPT)
        if text.is_partial:
            raise ToolProblem(f"the thread {real!r} is too long to be read; begin a new one")
        return text, entries_of(real, text.lines)

    def new_mark(self, name: str) -> Mark:
        return new_mark(self._files.root, THREADS_FOLDER, f"{name}.md")

    def append(self, name: str, text: str, mark: Mark | None = None) -> Entry:
        """Other processes that append at the same time wait, so no entry is lost or divided.

        With a `mark`, the entry is added once, however often and by however many processes this is
        called.
        """
        body = as_body(text)
        key = key_of(mark)
        with folder_inside(self._files.root, THREADS_FOLDER) as folder:
            try:
                if key is not None:
                    tickets.begin(key, folder)
                with _opened(name, folder) as descriptor:
                    entry = None if mark is None else self._added_before(descriptor, name, mark)
                    entry = entry or self._append(descriptor, name, body, key)
                    os.fsync(folder)
            finally:
                if key is not None:
                    tickets.use_up(key, folder)
        return entry

    def added(self, name: str, text: str, mark: Mark) -> Entry | None:
        """After a crash: the entry of this mark, or None if it was certainly not added.

        `InterruptedWrite` if that cannot be known.
        """
        file, key = f"{name}.md", key_of(mark)
        if key is None:
            raise InterruptedWrite(f"it is not known whether {mark.get('path')} was written")
        with folder_inside(self._files.root, THREADS_FOLDER) as folder:
            state = tickets.state_of(key, folder)
            if state == "fresh":
                return None
            content = _content(file, folder)
            entry = _entry_with(key, name, content)
            if entry is None and state == "begun" and _has_only_grown(content, mark):
                return None
            if entry is None:
                gone = f", and {tickets.TICKET_GONE}"
                changed = ", which was changed since the write was begun"
                raise InterruptedWrite(
                    f"the entry is not in {THREADS_FOLDER}/{file}"
                    f"{gone if state == 'gone' else changed}"
                )
            wanted, there = without_line_ends(as_body(text)), without_line_ends(entry.text)
            if there != wanted and wanted.startswith(there):
                raise InterruptedWrite(
                    f"{THREADS_FOLDER}/{file} has only a part of the entry: the write was cut off, "
                    "or somebody has shortened the entry since"
                )
            tickets.use_up(key, folder)
            return entry

    def _added_before(self, descriptor: int, name: str, mark: Mark) -> Entry | None:
        """The entry, if another process that took over this run has added it already."""
        state: dict[str, Any] = mark.get("before") or {}
        key = key_of(mark)
        if key is None or os.fstat(descriptor).st_size == state.get("size", 0):
            return None
        return _entry_with(key, name, _whole(descriptor))

    def _append(self, descriptor: int, name: str, body: str, key: str | None) -> Entry:
        size = os.fstat(descriptor).st_size
        tail = os.pread(descriptor, _TAIL, max(0, size - _TAIL)).decode(errors="replace")
        moment = self._later_than(tail)
        gap = _gap(tail) if size else f"# {name}\n\n"
        comment = f" <!-- {key} -->" if key else ""
        added = f"{gap}## {moment}{comment}\n\n{body}\n".encode()
        written = 0
        try:
            while written < len(added):
                written += os.write(descriptor, added[written:])
            os.fsync(descriptor)
        except OSError:
            # The disk may be full: half an entry must not stay. But if a program that does not
            # know the lock has added something meanwhile, cutting would remove that.
            if os.fstat(descriptor).st_size == size + written:
                os.ftruncate(descriptor, size)
            raise
        # The position after the write, because another program may have appended just before.
        size = os.lseek(descriptor, 0, os.SEEK_CUR) - len(added)
        start = _lines_in(descriptor, size) + gap.count("\n") + 1
        end = start + 2 + body.count("\n")
        return Entry(thread=name, time=moment, start=start, end=end, text=body, key=key)

    def _later_than(self, tail: str) -> str:
        """Entries have different times in rising order, even if the clock was set back."""
        moment = self._now()
        times = [found[1] for line in tail.split("\n") if (found := _ENTRY.fullmatch(line))]
        if times:
            moment = max(moment, datetime.fromisoformat(times[-1]) + timedelta(microseconds=1))
        return moment.strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def entries_of(thread: str, lines: list[str]) -> list[Entry]:
    """The entries of a thread. What comes before the first heading belongs to none."""
    heads = [
        (number, found)
        for number, line in enumerate(lines, start=1)
        if (found := _ENTRY.fullmatch(line))
    ]
    if not heads:
        return []
    ends = [number - 1 for number, _ in heads[1:]] + [len(lines)]
    return [
        _entry(thread, found, start, lines[start - 1 : end])
        for (start, found), end in zip(heads, ends, strict=True)
    ]


def _entry(thread: str, heading: re.Match[str], start: int, lines: list[str]) -> Entry:
    while len(lines) > 1 and not lines[-1].strip():
        lines = lines[:-1]
    return Entry(
        thread=thread,
        time=heading[1],
        start=start,
        end=start + len(lines) - 1,
        text="\n".join(lines[1:]).strip("\n"),
        key=heading[2],
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


@contextlib.contextmanager
def _opened(name: str, folder: int) -> Generator[int]:
    """Open the file of a thread, alone: other processes that append wait."""
    # Not through a link, which may lead outside; and not waiting if the file is a pipe.
    flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
    for _ in range(_TRIES):
        descriptor = os.open(f"{name}.md", flags | os.O_NONBLOCK, 0o644, dir_fd=folder)
        try:
            check_regular(descriptor, f"{name}.md")
            _lock(descriptor, name)
            # An editor that saves puts a new file in place: an entry in the old one would be lost.
            if _is_in_place(descriptor, name, folder):
                yield descriptor
                if _is_in_place(descriptor, name, folder):
                    return
                break
        finally:
            os.close(descriptor)
    raise ToolProblem(
        f"another program replaced the thread {name!r} at this moment; read it, and add the entry "
        "again if it is not there"
    )


def _is_in_place(descriptor: int, name: str, folder: int) -> bool:
    try:
        now = os.stat(f"{name}.md", dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return False
    return os.path.samestat(now, os.fstat(descriptor))


def _content(name: str, folder: int) -> bytes:
    try:
        descriptor = os.open(name, READ, dir_fd=folder)
    except FileNotFoundError:
        return b""
    try:
        check_regular(descriptor, name)
        return _whole(descriptor)
    finally:
        os.close(descriptor)


def _whole(descriptor: int) -> bytes:
    with open(descriptor, "rb", closefd=False) as file:
        file.seek(0)
        return file.read()


def _has_only_grown(content: bytes, mark: Mark) -> bool:
    """Whether nothing but whole entries of other runs was added since the mark was made.

    The first line of a torn entry has no end, because the key comes before it.
    """
    state: dict[str, Any] = mark.get("before") or {"size": 0, "digest": sha256().hexdigest()}
    old, new = content[: state["size"]], content[state["size"] :]
    if sha256(old).hexdigest() != state["digest"] or not (new or b"\n").endswith(b"\n"):
        return False
    lines = new.decode(errors="replace").strip("\n").split("\n")
    if not old and lines[0].startswith("# "):
        lines = "\n".join(lines[1:]).strip("\n").split("\n")
    heads = [found for line in lines if (found := _ENTRY.fullmatch(line))]
    return not any(lines) or (_ENTRY.fullmatch(lines[0]) is not None and all(h[2] for h in heads))


def _entry_with(key: str, name: str, content: bytes) -> Entry | None:
    """The entry with this key, as it is in the file: nothing is redacted here."""
    lines = with_plain_ends(content.decode(errors="replace")).split("\n")
    found = [entry for entry in entries_of(name, lines) if entry.key == key]
    if not found and key.encode() in content:
        raise InterruptedWrite(
            f"{THREADS_FOLDER}/{name}.md has the key of the entry, but not under a heading"
        )
    return found[-1] if found else None


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
