"""Which files a project has, without those that are ignored, and why those are."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from oracle.services.index.skips import SKIPPED_FOLDERS, skip_by_name, skip_by_size

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

IGNORE_FILES: Final = (".gitignore", ".oracleignore")
_LARGEST_IGNORE_FILE: Final = 200_000
_DEEPEST: Final = 200

SkipListener = Callable[[str, str], None]


@dataclass(frozen=True, kw_only=True, slots=True)
class Found:
    """A file that is worth opening; `path` is relative to the root, with slashes."""

    path: str
    size: int
    mtime_ns: int


@dataclass(frozen=True, slots=True)
class _Level:
    """The ignore rules of one folder; `prefix` is its path with a slash at the end."""

    prefix: str
    spec: GitIgnoreSpec
    sources: tuple[str, ...]


def walk(root: Path, on_skip: SkipListener = lambda path, reason: None) -> Iterator[Found]:
    """Every file to be indexed, folder by folder, sorted; what vanishes meanwhile is left out."""
    yield from _walk(root, "", _root_levels(root), 0, on_skip)


def judge(root: Path, path: str) -> Found | str:
    """One file: what `walk` would give for it, or the reason why it would not."""
    levels = _root_levels(root)
    *folders, _ = path.split("/")
    prefix = ""
    for folder in folders:
        below = prefix + folder
        if reason := _skip_folder(root / below, folder, below, levels):
            return f"{reason} (the folder {below})"
        prefix = below + "/"
        levels = _with_own(root, prefix, levels)
    try:
        state = os.lstat(root / path)
    except (OSError, ValueError) as problem:
        return f"it cannot be read: {getattr(problem, 'strerror', None) or problem}"
    if stat.S_ISDIR(state.st_mode):
        return "it is a folder"
    return _judge_file(path, state, levels)


def _walk(
    root: Path, prefix: str, levels: list[_Level], depth: int, on_skip: SkipListener
) -> Iterator[Found]:
    folders: list[str] = []
    for entry in _entries(root / prefix):
        path = prefix + entry.name
        try:
            is_folder = entry.is_dir(follow_symlinks=False)
            if is_folder:
                folders.append(entry.name)
                continue
            found = _judge_file(path, entry.stat(follow_symlinks=False), levels)
        except OSError as problem:
            found = f"it cannot be read: {problem.strerror}"
        if isinstance(found, Found):
            yield found
        else:
            on_skip(path, found)
    for name in folders:
        path = prefix + name
        reason = _skip_folder(root / path, name, path, levels)
        if depth >= _DEEPEST:
            reason = f"more than {_DEEPEST} folders deep"
        if reason:
            on_skip(path + "/", reason)
        else:
            inner = path + "/"
            yield from _walk(root, inner, _with_own(root, inner, levels), depth + 1, on_skip)


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return sorted(entries, key=lambda entry: entry.name)
    except OSError:
        return []


def _judge_file(path: str, state: os.stat_result, levels: list[_Level]) -> Found | str:
    if stat.S_ISLNK(state.st_mode):
        return "a symbolic link; what it points to is indexed where it lies"
    if not stat.S_ISREG(state.st_mode):
        return "neither a file nor a folder"
    if not _speakable(path):
        return "its name is not valid UTF-8"
    if reason := skip_by_name(path) or _ignored(path, levels) or skip_by_size(state.st_size):
        return reason
    return Found(path=path, size=state.st_size, mtime_ns=state.st_mtime_ns)


def _speakable(path: str) -> bool:
    try:
        path.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _skip_folder(folder: Path, name: str, path: str, levels: list[_Level]) -> str | None:
    if name in SKIPPED_FOLDERS:
        return f"{name} is never indexed"
    if not _speakable(path):
        return "its name is not valid UTF-8"
    if os.path.exists(folder / "pyvenv.cfg"):
        return "a Python environment"
    return _ignored(path + "/", levels)


def _ignored(path: str, levels: list[_Level]) -> str | None:
    """The nearest folder that says anything decides; in it, the last rule that matches."""
    for level in reversed(levels):
        decision = level.spec.check_file(path[len(level.prefix) :])
        if decision.include is not None:
            if decision.include and decision.index is not None:
                return f"ignored by {level.sources[decision.index]}"
            return None
    return None


def _root_levels(root: Path) -> list[_Level]:
    excluded = _rules(root, ".git/info/exclude")
    own = [rule for name in IGNORE_FILES for rule in _rules(root, name)]
    return _level("", [*excluded, *own])


def _with_own(root: Path, prefix: str, levels: list[_Level]) -> list[_Level]:
    own = [rule for name in IGNORE_FILES for rule in _rules(root, prefix + name)]
    return levels + _level(prefix, own) if own else levels


def _rules(root: Path, name: str) -> list[tuple[str, str]]:
    """Each rule with where it stands."""
    try:
        with (root / name).open(encoding="utf-8", errors="replace") as file:
            lines = file.read(_LARGEST_IGNORE_FILE).splitlines()
    except OSError:
        return []
    return [
        (line, f"{name}:{number}: {line.strip()}")
        for number, line in enumerate(lines, start=1)
        if line.strip() and not line.startswith("#")
    ]


def _level(prefix: str, rules: list[tuple[str, str]]) -> list[_Level]:
    """A rule that cannot be understood is left out, the others stay."""
    from pathspec import GitIgnoreSpec

    kept: list[tuple[str, str]] = []
    for rule in rules:
        try:
            GitIgnoreSpec.from_lines([rule[0]])
        except ValueError:
            continue
        kept.append(rule)
    if not kept:
        return []
    spec = GitIgnoreSpec.from_lines([line for line, _ in kept])
    return [_Level(prefix=prefix, spec=spec, sources=tuple(source for _, source in kept))]
