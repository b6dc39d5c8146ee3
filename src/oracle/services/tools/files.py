"""The text files of a project: their list and their texts, without secrets."""

from __future__ import annotations

import codecs
import hashlib
import os
from collections import OrderedDict
from collections.abc import Collection
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Final

from oracle.errors import ToolProblem, named
from oracle.lazy_dataclass import dataclass
from oracle.services.background import fork_safe_lock
from oracle.services.project.file_rules import LARGEST, begins_with_key
from oracle.services.project.redaction import redact
from oracle.services.project.safe_open import LARGEST_READ, Content, inner_path, read_inside
from oracle.services.project.secret_files import OURS, SecretFiles
from oracle.services.project.walk import FoundFile, Walk

LARGEST_KEPT: Final = 16 * 1024 * 1024
_MOST_FILES: Final = 50_000
_MOST_REMEMBERED: Final = 48 * 1024 * 1024
# UTF-16 text has NUL bytes, so the byte order mark is looked for before "binary" is decided.
_BYTE_ORDER_MARKS: Final = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


@dataclass(frozen=True, kw_only=True)
class FileText:
    """A text as it is on disk. Only `lines`, where secrets are redacted, may leave the process."""

    path: str
    raw: str
    digest: str
    is_partial: bool

    @cached_property
    def lines(self) -> list[str]:
        return split_lines(redact(self.raw))


class ProjectFiles:
    """Safe to use from several threads. Files in `kept` folders are read even if ignored by git."""

    def __init__(
        self, root: Path, *, kept: tuple[str, ...] = (), secrets: SecretFiles = OURS
    ) -> None:
        self.root = Path(os.path.realpath(root))
        self._secrets = secrets
        self._walk = Walk(root=self.root, kept=kept, secrets=secrets)
        self._kept = tuple(f"{folder.strip('/')}/" for folder in kept)
        self._remembered: OrderedDict[FoundFile, FileText | None] = OrderedDict()
        self._remembered_size = 0
        self._lock = fork_safe_lock()

    def entries(self, under: str = "") -> list[FoundFile]:
        """Every file that may be read and is worth searching, in the order of the paths."""
        # A link to a folder of the project leads to that folder's files. One that leads outside
        # leads to none.
        real = Path(os.path.realpath(self.root / under))
        if not real.is_relative_to(self.root):
            return []
        inside = real.relative_to(self.root).as_posix()
        found = self._walk.files(under="" if inside == "." else inside)
        return sorted(islice(found, _MOST_FILES), key=lambda each: each.path)

    def read(self, path: str, *, largest: int = LARGEST_READ) -> FileText:
        """The text of any file of the project, or `ToolProblem` with the reason and what to do."""
        inside = inner_path(path)
        self._check_shown(inside, path)
        content = self._content(inside, largest)
        # A link may lead to a secret or ignored file under another name.
        if content.path != inside:
            self._check_shown(content.path, path)
        return as_text(content, inside)

    def exists(self, inside: str) -> bool:
        """Whether there is a file or a folder at this path, also one that is not read."""
        return os.path.lexists(self.root / inside)

    @property
    def main(self) -> ProjectFiles:
        """The files of the project's own root."""
        return self

    @property
    def others(self) -> Collection[str]:
        """The names of further roots."""
        return ()

    def inner(self, path: str) -> str:
        """The path in the root that it leads into. Without further roots it is the same."""
        return path

    def called(self, name: str) -> tuple[str, ProjectFiles] | None:
        """A further root by its name: the beginning of its paths, and its files."""
        return None

    def _content(self, inside: str, largest: int) -> Content:
        return read_inside(self.root, inside, largest=largest, problem_of=self._walk.links.problem)

    def _check_shown(self, inside: str, path: str) -> None:
        if rule := self._secrets.rule_for(inside):
            raise ToolProblem(
                f"{named(path)} has the name of a file with secrets ({rule}), so it is never read; "
                "answer without it"
            )
        if self._walk.is_ignored(inside):
            raise ToolProblem(
                f"{named(path)} is ignored by the project (.gitignore, .git, .oracle or a folder "
                "that tools make), so it is not read; answer without it"
            )

    def text_of(self, entry: FoundFile) -> FileText | None:
        """The text of an entry, read once until the file changes; None if it is not text.

        The key is the entry with its size and time, so a changed file is another entry.
        """
        with self._lock:
            if entry in self._remembered:
                self._remembered.move_to_end(entry)
                return self._remembered[entry]
        # Reading is slow, so it is done without the lock. Two threads may read the same file; the
        # second check keeps its size from being counted twice.
        text = self._searchable(entry)
        with self._lock:
            if entry not in self._remembered:
                self._remember(entry, text)
        return text

    def _searchable(self, entry: FoundFile) -> FileText | None:
        largest = LARGEST_KEPT if entry.path.startswith(self._kept) else LARGEST
        if entry.size > largest:
            return None
        try:
            content = self._content(entry.path, largest)
            return as_text(content, entry.path) if content.path == entry.path else None
        except ToolProblem:
            return None

    def _remember(self, entry: FoundFile, text: FileText | None) -> None:
        self._remembered[entry] = text
        self._remembered_size += entry.size
        while self._remembered_size > _MOST_REMEMBERED:
            dropped, _ = self._remembered.popitem(last=False)
            self._remembered_size -= dropped.size


def split_lines(text: str) -> list[str]:
    """Lines as git, grep and our index count them: only a line feed ends one. A carriage return
    before it belongs to the end; alone it does not end a line, and nor does a form feed or U+2028.
    """
    lines = _without_returns(text).split("\n")
    return lines[:-1] if lines[-1] == "" else lines


def _without_returns(text: str) -> str:
    return text.replace("\r\n", "\n")


def with_plain_ends(text: str) -> str:
    """For text that is written: a carriage return alone ends a line too."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


def is_binary(data: bytes) -> bool:
    return b"\0" in data[:8192] and not data.startswith(tuple(m for m, _ in _BYTE_ORDER_MARKS))


def as_text(content: Content, path: str) -> FileText:
    encoding = next(
        (name for mark, name in _BYTE_ORDER_MARKS if content.data.startswith(mark)), None
    )
    if is_binary(content.data):
        raise ToolProblem(
            f"{named(path)} is a binary file of {content.size:,} bytes; it cannot be read as text"
        )
    if begins_with_key(content.data):
        raise ToolProblem(f"{named(path)} is a private key, so it is never read; answer without it")
    data = content.data
    # The last line of a part may be cut in the middle, even inside of a character.
    if content.is_partial:
        data = data[: data.rfind(b"\n") + 1] or data
    return FileText(
        path=path,
        raw=_without_returns(data.decode(encoding or "utf-8", errors="replace")),
        digest=hashlib.sha256(content.data).hexdigest(),
        is_partial=content.is_partial,
    )
