"""The text files of a project: which there are, and what they say, without its secrets."""

from __future__ import annotations

import codecs
import hashlib
import os
import threading
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Final

from oracle.errors import ToolProblem, named
from oracle.services.project.binary_files import binary_suffix
from oracle.services.project.redaction import redact
from oracle.services.project.safe_open import LARGEST_READ, Content, inner_path, read_inside
from oracle.services.project.secret_files import is_secret_file
from oracle.services.tools.ignoring import Ignoring

LARGEST_SEARCHED: Final = 1024 * 1024
LARGEST_KEPT: Final = 16 * 1024 * 1024
_MOST_FILES: Final = 50_000
_MOST_REMEMBERED: Final = 48 * 1024 * 1024
_MARKS: Final = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


@dataclass(frozen=True, kw_only=True)
class FileEntry:
    path: str
    size: int
    changed: int


@dataclass(frozen=True, kw_only=True)
class FileText:
    """A text as it stands on the disk. What leaves the process is `lines`, without secrets."""

    path: str
    raw: str
    digest: str
    is_partial: bool

    @cached_property
    def lines(self) -> list[str]:
        return split_lines(redact(self.raw))

    @cached_property
    def folded(self) -> str:
        return self.raw.lower()


class ProjectFiles:
    """Safe to use from several threads. `kept` folders are shown even where git ignores them."""

    def __init__(self, root: Path, *, kept: tuple[str, ...] = ()) -> None:
        self.root = Path(os.path.realpath(root))
        self._kept = tuple(f"{folder.strip('/')}/" for folder in kept)
        self._remembered: OrderedDict[FileEntry, FileText | None] = OrderedDict()
        self._remembered_size = 0
        self._lock = threading.Lock()

    def entries(self, under: str = "") -> list[FileEntry]:
        """Every file that may be read and is worth a look, in the order of their paths."""
        ignoring = Ignoring(self.root, self._kept)
        found: list[FileEntry] = []
        for entry in self._walk(under, ignoring):
            found.append(entry)
            if len(found) >= _MOST_FILES:
                break
        return sorted(found, key=lambda entry: entry.path)

    def _walk(self, folder: str, ignoring: Ignoring) -> Iterator[FileEntry]:
        """Links are left out: what they lead to inside the project is met where it stands."""
        real = Path(os.path.realpath(self.root / folder))
        if not real.is_relative_to(self.root):
            return
        start = real.relative_to(self.root).as_posix()
        folders = [] if ignoring.ignores_folder(start) else [start if start != "." else ""]
        while folders:
            folder = folders.pop()
            try:
                with os.scandir(self.root / folder) as entries:
                    here = [entry for entry in entries if not entry.is_symlink()]
            except OSError:
                continue
            for entry in here:
                path = f"{folder}/{entry.name}" if folder else entry.name
                if entry.is_dir(follow_symlinks=False):
                    if not ignoring.ignores(path, is_folder=True):
                        folders.append(path)
                elif not binary_suffix(path) and not ignoring.ignores(path):
                    yield from _file_entry(path, entry)

    def read(self, path: str, *, largest: int = LARGEST_READ) -> FileText:
        """The text of any file of the project, or `ToolProblem` with the reason and a way on."""
        inside = inner_path(path)
        self._check_shown(inside, path)
        content = read_inside(self.root, inside, largest=largest)
        if content.path != inside:
            self._check_shown(content.path, path)
        return _as_text(content, inside)

    def _check_shown(self, inside: str, path: str) -> None:
        if is_secret_file(inside):
            raise ToolProblem(
                f"{named(path)} holds secrets by its name, and is never read; answer without it"
            )
        if Ignoring(self.root, self._kept).ignores_anywhere(inside):
            raise ToolProblem(
                f"{named(path)} is ignored by the project (.gitignore, .git, .oracle or a folder "
                "that tools make), and is not read; answer without it"
            )

    def text_of(self, entry: FileEntry) -> FileText | None:
        """The text of an entry, read once until the file changes; None for what is no text."""
        with self._lock:
            if entry in self._remembered:
                self._remembered.move_to_end(entry)
                return self._remembered[entry]
        text = self._searchable(entry)
        with self._lock:
            if entry not in self._remembered:
                self._remember(entry, text)
        return text

    def _searchable(self, entry: FileEntry) -> FileText | None:
        largest = LARGEST_KEPT if entry.path.startswith(self._kept) else LARGEST_SEARCHED
        if entry.size > largest:
            return None
        try:
            content = read_inside(self.root, entry.path, largest=largest)
            return _as_text(content, entry.path) if content.path == entry.path else None
        except ToolProblem:
            return None

    def _remember(self, entry: FileEntry, text: FileText | None) -> None:
        self._remembered[entry] = text
        self._remembered_size += entry.size
        while self._remembered_size > _MOST_REMEMBERED:
            dropped, _ = self._remembered.popitem(last=False)
            self._remembered_size -= dropped.size


def split_lines(text: str) -> list[str]:
    """Lines as editors and compilers count them: a form feed or U+2028 ends none."""
    lines = with_plain_ends(text).split("\n")
    return lines[:-1] if lines[-1] == "" else lines


def with_plain_ends(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _file_entry(path: str, entry: os.DirEntry[str]) -> Iterator[FileEntry]:
    try:
        path.encode()
        status = entry.stat(follow_symlinks=False)
    except (OSError, UnicodeEncodeError):
        return
    if entry.is_file(follow_symlinks=False):
        yield FileEntry(path=path, size=status.st_size, changed=status.st_mtime_ns)


def _as_text(content: Content, path: str) -> FileText:
    encoding = next((name for mark, name in _MARKS if content.data.startswith(mark)), None)
    if encoding is None and b"\0" in content.data[:8192]:
        raise ToolProblem(
            f"{named(path)} is a binary file of {content.size:,} bytes; it cannot be read as text"
        )
    data = content.data
    if content.is_partial:
        data = data[: data.rfind(b"\n") + 1] or data
    return FileText(
        path=path,
        raw=with_plain_ends(data.decode(encoding or "utf-8", errors="replace")),
        digest=hashlib.sha256(content.data).hexdigest(),
        is_partial=content.is_partial,
    )
