"""Which files a project has, and why the others are left out. This is the one walk over files."""

from __future__ import annotations

import os
import stat
from collections import deque
from collections.abc import Callable, Iterator
from functools import cached_property
from pathlib import Path
from typing import Final

from oracle.lazy_dataclass import dataclass
from oracle.services.project.file_rules import not_indexed, not_shown, not_the_projects
from oracle.services.project.hard_links import HardLinks
from oracle.services.project.ignore_rules import IgnoreRules
from oracle.services.project.root import KEPT_FOLDERS
from oracle.services.project.secret_files import OURS, SecretFiles

_DEEPEST: Final = 200
"""Folders below one another. The system allows some thousand: a tree deep on purpose ends here."""

SkipListener = Callable[[str, str], None]


def _no_listener(path: str, reason: str) -> None:
    pass


@dataclass(frozen=True, kw_only=True, slots=True)
class FoundFile:
    """A file that is worth opening; `path` is relative to the root, with slashes.

    `changed_ns` is the time of the last change of its state (ctime). Programs can set the time of
    its content (mtime) back, so that a change would go unseen.
    """

    path: str
    size: int
    changed_ns: int


@dataclass(frozen=True, kw_only=True)
class Walk:
    """The files of a project, read from disk each time. Git cannot hide those in `kept` folders."""

    root: Path
    kept: tuple[str, ...] = KEPT_FOLDERS
    secrets: SecretFiles = OURS

    @cached_property
    def links(self) -> HardLinks:
        return HardLinks(self.root, self.secrets)

    def files(
        self, on_skip: SkipListener = _no_listener, *, under: str = ""
    ) -> Iterator[FoundFile]:
        """Every file that may be listed and read; folders nearest to the root first, each sorted.

        A file that vanishes during the walk is left out.
        """
        rules = IgnoreRules(self.root, self.kept)
        if reason := self._ignored_above(under, rules):
            return on_skip(f"{under}/", reason)
        folders = deque([f"{under}/" if under else ""])
        while folders:
            prefix = folders.popleft()
            below: list[str] = []
            yield from self._in_folder(prefix, rules, below, on_skip)
            folders.extend(self._entered(prefix, below, rules, on_skip))

    def files_to_index(self, on_skip: SkipListener = _no_listener) -> Iterator[FoundFile]:
        """The same files without those that are generated or too large."""
        for found in self.files(on_skip):
            if reason := not_indexed(found.path, found.size):
                on_skip(found.path, reason)
            else:
                yield found

    def judge(self, path: str) -> FoundFile | str:
        """One file as `files_to_index` would yield it, or the reason why it is left out."""
        rules = IgnoreRules(self.root, self.kept)
        if reason := self._ignored_above(path.rpartition("/")[0], rules):
            return reason
        try:
            state = os.lstat(self.root / path)
        except (OSError, ValueError) as problem:
            return f"it cannot be read: {getattr(problem, 'strerror', None) or problem}"
        if stat.S_ISDIR(state.st_mode):
            return "it is a folder"
        judged = self._judge_file(path, state, rules)
        if isinstance(judged, str):
            return judged
        return not_indexed(path, judged.size) or judged

    def is_ignored(self, path: str) -> bool:
        """Whether a path, or a folder above it, is ignored. The file need not exist."""
        rules = IgnoreRules(self.root, self.kept)
        names = path.split("/")
        folders = ("/".join(names[:depth]) + "/" for depth in range(1, len(names)))
        return any(map(not_the_projects, names)) or any(
            rules.rule_against(each) for each in (*folders, path)
        )

    def _ignored_above(self, folder: str, rules: IgnoreRules) -> str | None:
        """Why a folder is not entered, because of itself or of a folder above it."""
        names = folder.split("/") if folder else []
        for depth in range(1, len(names) + 1):
            path = "/".join(names[:depth])
            if reason := _skip_folder(self.root / path, path, rules):
                return f"{reason} (the folder {path})"
        return None

    def _in_folder(
        self, prefix: str, rules: IgnoreRules, below: list[str], on_skip: SkipListener
    ) -> Iterator[FoundFile]:
        """The files of one folder. The names of its folders are added to `below`."""
        for entry in _entries(self.root / prefix):
            path = prefix + entry.name
            try:
                if entry.is_dir(follow_symlinks=False):
                    below.append(entry.name)
                    continue
                found = self._judge_file(path, entry.stat(follow_symlinks=False), rules)
            except OSError as problem:
                found = f"it cannot be read: {problem.strerror}"
            if isinstance(found, FoundFile):
                yield found
            else:
                on_skip(path, found)

    def _judge_file(self, path: str, state: os.stat_result, rules: IgnoreRules) -> FoundFile | str:
        if stat.S_ISLNK(state.st_mode):
            return self._about_link(path)
        if not stat.S_ISREG(state.st_mode):
            return "neither a file nor a folder"
        if not _is_text(path):
            return "its name is not valid UTF-8"
        reason = not_shown(path, self.secrets) or _ignored(path, rules) or self.links.problem(state)
        if reason:
            return reason
        return FoundFile(path=path, size=state.st_size, changed_ns=state.st_ctime_ns)

    def _about_link(self, path: str) -> str:
        real = os.path.realpath(self.root / path)
        root = os.path.realpath(self.root)
        if not Path(real).is_relative_to(root):
            return "a symbolic link that leads out of the project"
        target = os.path.relpath(real, root)
        if not os.path.isdir(real) and (reason := not_shown(target, self.secrets)):
            return f"a symbolic link to {target}, which is left out: {reason}"
        return "a symbolic link; its target is indexed at its own place"

    def _entered(
        self, prefix: str, below: list[str], rules: IgnoreRules, on_skip: SkipListener
    ) -> Iterator[str]:
        is_deep = prefix.count("/") >= _DEEPEST
        for name in below:
            path = prefix + name
            reason = _skip_folder(self.root / path, path, rules)
            if is_deep:
                reason = f"more than {_DEEPEST} folders deep"
            if reason:
                on_skip(f"{path}/", reason)
            else:
                yield f"{path}/"


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return sorted(entries, key=lambda entry: entry.name)
    except OSError:
        return []


def _is_text(path: str) -> bool:
    try:
        path.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _skip_folder(folder: Path, path: str, rules: IgnoreRules) -> str | None:
    if reason := not_the_projects(path.rpartition("/")[2]):
        return reason
    if not _is_text(path):
        return "its name is not valid UTF-8"
    if os.path.exists(folder / "pyvenv.cfg"):
        return "a Python environment"
    return _ignored(f"{path}/", rules)


def _ignored(path: str, rules: IgnoreRules) -> str | None:
    rule = rules.rule_against(path)
    return rule and f"ignored by {rule}"
