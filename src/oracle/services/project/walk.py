"""Which files a project has, and why the others are left out. This is the one walk over files."""

from __future__ import annotations

import os
import stat
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property, partial
from pathlib import Path
from typing import Final, NamedTuple

from oracle.lazy_dataclass import dataclass
from oracle.services.project.file_rules import (
    LARGEST,
    generated_by_name,
    not_shown,
    not_the_projects,
    too_large,
)
from oracle.services.project.hard_links import HardLinks
from oracle.services.project.ignore_rules import IgnoreRules
from oracle.services.project.root import KEPT_FOLDERS
from oracle.services.project.secret_files import OURS, SecretFiles
from oracle.services.project.walk_memory import (
    KnownFolder,
    NameRule,
    WalkMemory,
    digest_of_code,
)

_DEEPEST: Final = 200
"""Folders below one another. The system allows some thousand: a tree deep on purpose ends here."""
_ENVIRONMENT: Final = "a Python environment"
_NOT_TEXT: Final = "its name is not valid UTF-8"

SkipListener = Callable[[str, str], None]


def _no_listener(path: str, reason: str) -> None:
    pass


class FoundFile(NamedTuple):
    """A file that is worth opening; `path` is relative to the root, with slashes.

    A tuple, because a walk makes one for each file of a project.

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
            on_skip(f"{under}/", reason)
            return iter(())
        return self._found(f"{under}/" if under else "", rules, on_skip, self._not_shown)

    def files_to_index(
        self, on_skip: SkipListener = _no_listener, *, memory: WalkMemory | None = None
    ) -> Iterator[FoundFile]:
        """The same files without those that are generated or too large.

        Names that the `memory` knows are not matched again. The reason for one of those that are
        left out is `LEFT_OUT_BEFORE`.
        """
        rules = IgnoreRules(self.root, self.kept)
        for found in self._found("", rules, on_skip, self._not_indexed, memory):
            if found.size > LARGEST and (reason := too_large(found.size)):
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
        return generated_by_name(path) or too_large(judged.size) or judged

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
            if reason := _environment(self.root / path) or _skip_folder(f"{path}/", rules):
                return f"{reason} (the folder {path})"
        return None

    def _found(
        self,
        start: str,
        rules: IgnoreRules,
        on_skip: SkipListener,
        against: NameRule,
        memory: WalkMemory | None = None,
    ) -> Iterator[FoundFile]:
        # One loop over plain strings, and no call for what holds of nearly all files: in a large
        # project each file takes a few microseconds.
        make: Callable[[Sequence[object]], FoundFile] = partial(tuple.__new__, FoundFile)  # pyright: ignore[reportUnknownMemberType]
        root = str(self.root)
        basis = self._basis() if memory is not None else b""
        folders = deque([start])
        while folders:
            prefix = folders.popleft()
            entries = _entries(f"{root}/{prefix}")
            if "pyvenv.cfg" in entries and prefix != start:
                on_skip(prefix, _ENVIRONMENT)
                continue
            rules.enter(prefix, entries)
            known = memory and memory.folder(prefix, rules.digest(prefix, basis))
            taken = known.taken if known is not None else frozenset[str]()
            below: list[str] = []
            for name in sorted(entries):
                entry = entries[name]
                try:
                    # What holds of nearly all files when a project is walked again.
                    if name in taken:
                        state = entry.stat(follow_symlinks=False)
                        if stat.S_ISREG(state.st_mode) and state.st_nlink == 1:
                            yield make((prefix + name, state.st_size, state.st_ctime_ns))
                            continue
                    if entry.is_dir(follow_symlinks=False):
                        below.append(name)
                        continue
                    state = entry.stat(follow_symlinks=False)
                    is_usual = stat.S_ISREG(state.st_mode)
                    reason = None if is_usual else self._unusual(prefix + name, state)
                except OSError as problem:
                    reason = f"it cannot be read: {problem.strerror}"
                    state = None
                if not reason:
                    if known is None:
                        reason = against(prefix + name, rules)
                    elif name not in taken:
                        reason = known.reason(name, prefix + name, rules, against)
                if reason is None and state is not None and state.st_nlink > 1:
                    reason = self.links.problem(state)
                if state is None or reason:
                    on_skip(prefix + name, reason or "")
                else:
                    yield make((prefix + name, state.st_size, state.st_ctime_ns))
            folders.extend(self._entered(prefix, below, rules, known, on_skip))

    def _judge_file(self, path: str, state: os.stat_result, rules: IgnoreRules) -> FoundFile | str:
        reason = (
            self._unusual(path, state) or self._not_shown(path, rules) or self.links.problem(state)
        )
        if reason:
            return reason
        return FoundFile(path=path, size=state.st_size, changed_ns=state.st_ctime_ns)

    def _unusual(self, path: str, state: os.stat_result) -> str | None:
        """Why it is left out because of what it is on disk."""
        if stat.S_ISREG(state.st_mode):
            return None
        if stat.S_ISLNK(state.st_mode):
            return self._about_link(path)
        return "neither a file nor a folder"

    # The rules by name. What they decide depends on the path and on `_basis` alone.

    def _not_shown(self, path: str, rules: IgnoreRules) -> str | None:
        if not _is_text(path):
            return _NOT_TEXT
        return not_shown(path, self.secrets) or _ignored(path, rules)

    def _not_indexed(self, path: str, rules: IgnoreRules) -> str | None:
        return self._not_shown(path, rules) or generated_by_name(path)

    def _basis(self) -> bytes:
        """All that decisions by name depend on, besides the ignore files."""
        settings = repr((self.kept, self.secrets))
        return digest_of_code() + settings.encode("utf-8", "surrogatepass")

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
        self,
        prefix: str,
        below: list[str],
        rules: IgnoreRules,
        known: KnownFolder | None,
        on_skip: SkipListener,
    ) -> Iterator[str]:
        is_deep = prefix.count("/") >= _DEEPEST
        for name in below:
            path = f"{prefix}{name}/"
            if known is None:
                reason = _skip_folder(path, rules)
            else:
                reason = known.reason(f"{name}/", path, rules, _skip_folder)
            if is_deep:
                reason = f"more than {_DEEPEST} folders deep"
            if reason:
                on_skip(path, reason)
            else:
                yield path


def _entries(folder: str) -> dict[str, os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return {entry.name: entry for entry in entries}
    except OSError:
        return {}


def _is_text(path: str) -> bool:
    try:
        path.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _environment(folder: Path) -> str | None:
    return _ENVIRONMENT if os.path.exists(folder / "pyvenv.cfg") else None


def _skip_folder(path: str, rules: IgnoreRules) -> str | None:
    """By its name. The path ends with a slash."""
    if reason := not_the_projects(path[:-1].rpartition("/")[2]):
        return reason
    return _ignored(path, rules) if _is_text(path) else _NOT_TEXT


def _ignored(path: str, rules: IgnoreRules) -> str | None:
    rule = rules.rule_against(path)
    return rule and f"ignored by {rule}"
