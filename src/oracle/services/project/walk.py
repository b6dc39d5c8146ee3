"""Which files a project has, without those that are ignored, and why those are."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from oracle.services.project.ignore_rules import TOOL_FOLDERS, IgnoreRules
from oracle.services.project.root import KEPT_FOLDERS
from oracle.services.search.skips import skip_by_name, skip_by_size

_DEEPEST: Final = 200

SkipListener = Callable[[str, str], None]


@dataclass(frozen=True, kw_only=True, slots=True)
class Found:
    """A file that is worth opening; `path` is relative to the root, with slashes.

    `changed_ns` is when the system saw it change: the time of its content can be set back.
    """

    path: str
    size: int
    changed_ns: int


@dataclass(frozen=True, kw_only=True)
class Walk:
    """The files of a project, seen anew each time. What git ignores in `kept` folders counts."""

    root: Path
    kept: tuple[str, ...] = KEPT_FOLDERS

    def files(self, on_skip: SkipListener = lambda path, reason: None) -> Iterator[Found]:
        """Every file to be indexed, by folder, sorted; what vanishes meanwhile is left out."""
        yield from self._below("", IgnoreRules(self.root, self.kept), 0, on_skip)

    def judge(self, path: str) -> Found | str:
        """One file: what `files` would give for it, or the reason why it would not."""
        rules = IgnoreRules(self.root, self.kept)
        *folders, _ = path.split("/")
        for depth, name in enumerate(folders, start=1):
            folder = "/".join(folders[:depth])
            if reason := _skip_folder(self.root / folder, name, folder, rules):
                return f"{reason} (the folder {folder})"
        try:
            state = os.lstat(self.root / path)
        except (OSError, ValueError) as problem:
            return f"it cannot be read: {getattr(problem, 'strerror', None) or problem}"
        if stat.S_ISDIR(state.st_mode):
            return "it is a folder"
        return _judge_file(path, state, rules)

    def _below(
        self, prefix: str, rules: IgnoreRules, depth: int, on_skip: SkipListener
    ) -> Iterator[Found]:
        folders: list[str] = []
        for entry in _entries(self.root / prefix):
            path = prefix + entry.name
            try:
                if entry.is_dir(follow_symlinks=False):
                    folders.append(entry.name)
                    continue
                found = _judge_file(path, entry.stat(follow_symlinks=False), rules)
            except OSError as problem:
                found = f"it cannot be read: {problem.strerror}"
            if isinstance(found, Found):
                yield found
            else:
                on_skip(path, found)
        for name in folders:
            path = prefix + name
            reason = _skip_folder(self.root / path, name, path, rules)
            if depth >= _DEEPEST:
                reason = f"more than {_DEEPEST} folders deep"
            if reason:
                on_skip(path + "/", reason)
            else:
                yield from self._below(path + "/", rules, depth + 1, on_skip)


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return sorted(entries, key=lambda entry: entry.name)
    except OSError:
        return []


def _judge_file(path: str, state: os.stat_result, rules: IgnoreRules) -> Found | str:
    if stat.S_ISLNK(state.st_mode):
        return "a symbolic link; what it points to is indexed where it lies"
    if not stat.S_ISREG(state.st_mode):
        return "neither a file nor a folder"
    if not _speakable(path):
        return "its name is not valid UTF-8"
    if reason := skip_by_name(path) or _ignored(path, rules) or skip_by_size(state.st_size):
        return reason
    return Found(path=path, size=state.st_size, changed_ns=state.st_ctime_ns)


def _speakable(path: str) -> bool:
    try:
        path.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _skip_folder(folder: Path, name: str, path: str, rules: IgnoreRules) -> str | None:
    if name in TOOL_FOLDERS:
        return f"{name} is never indexed"
    if not _speakable(path):
        return "its name is not valid UTF-8"
    if os.path.exists(folder / "pyvenv.cfg"):
        return "a Python environment"
    return _ignored(path + "/", rules)


def _ignored(path: str, rules: IgnoreRules) -> str | None:
    rule = rules.rule_against(path)
    return rule and f"ignored by {rule}"
