"""The ignore rules of a project: those of git, and those for oracle alone.

They are in `.gitignore` and `.oracleignore` of any folder, and in `.git/info/exclude`. The nearest
folder with a rule that matches a path decides. Within a folder the last matching rule counts, and
the rules of `.oracleignore` come last.
"""

from __future__ import annotations

import os
from collections.abc import Container, Iterable, Iterator
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Final

from oracle.lazy_dataclass import dataclass
from oracle.regular_file import read_regular

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

    from oracle.services.project.ignore_patterns import AnyPattern

FOR_ORACLE: Final = ".oracleignore"
IGNORE_FILES: Final = (".gitignore", FOR_ORACLE)
_FOR_THIS_CLONE: Final = ".git/info/exclude"
_LARGEST_FILE: Final = 256 * 1024


@dataclass(frozen=True, slots=True)
class _Level:
    """The rules of one folder, and the place of each: file and line.

    `any_rule` is asked first, because it is far quicker to say that none of them matches.
    """

    any_rule: AnyPattern
    spec: GitIgnoreSpec
    places: tuple[str, ...]


class IgnoreRules:
    """Reads each folder's rules once; one instance serves one walk.

    In `kept` folders the rules of git do not count: private notes are often ignored by git.
    """

    def __init__(self, root: Path, kept: Iterable[str] = ()) -> None:
        self._root = root
        self._kept = tuple(f"{folder.strip('/')}/" for folder in kept)
        self._levels: dict[tuple[str, bool], _Level | None] = {}
        self._files: dict[str, bytes] = {}
        self._listed: dict[str, list[str]] = {}
        self._digests: dict[str, bytes] = {}

    def enter(self, prefix: str, names: Container[str]) -> None:
        """Which names a folder has, so that ignore files it does not have are not looked for."""
        self._listed[prefix] = [name for name in IGNORE_FILES if name in names]

    def digest(self, prefix: str, basis: bytes) -> bytes:
        """Of all rules that count in a folder. Those above were asked for their digests before."""
        above = prefix[:-1].rpartition("/")[0]
        digest = self._digests[f"{above}/" if above else ""] if prefix else basis
        files = [prefix + name for name in self._listed[prefix]]
        if not prefix:
            files.append(_FOR_THIS_CLONE)
        if files:
            state = blake2b(digest, digest_size=16)
            for file in files:
                data = self._data(file)
                state.update(f"{file}\0{len(data)}\0".encode() + data)
            digest = state.digest()
        self._digests[prefix] = digest
        return digest

    def rule_against(self, path: str) -> str | None:
        """The rule that keeps a path out, with its place. The folders above must not be ignored.

        The path of a folder ends with a slash.
        """
        # The second case is a folder above a kept one: it must be entered to get there.
        is_kept = path.startswith(self._kept) or (
            path.endswith("/") and any(folder.startswith(path) for folder in self._kept)
        )
        folder = path.rstrip("/")
        while folder:
            folder = folder.rpartition("/")[0]
            level = self._level(folder, is_kept)
            if level is None:
                continue
            inside = path[len(folder) + 1 :] if folder else path
            if not level.any_rule.may_match(inside):
                continue
            decision = level.spec.check_file(inside)
            # None: no rule of this folder matches, so the folder above decides.
            if decision.include is not None:
                # False is a rule with `!`, which takes the path back in.
                is_out = decision.include and decision.index is not None
                return level.places[decision.index or 0] if is_out else None
        return None

    def _level(self, folder: str, is_kept: bool) -> _Level | None:
        # The same folder has two sets of rules: those of git do not count for what is kept.
        key = (folder, is_kept)
        if key not in self._levels:
            names = (FOR_ORACLE,) if is_kept else IGNORE_FILES
            if not folder and not is_kept:
                names = (_FOR_THIS_CLONE, *names)
            prefix = f"{folder}/" if folder else ""
            listed = self._listed.get(prefix)
            rules = [
                rule
                for name in names
                if listed is None or name in listed or name == _FOR_THIS_CLONE
                for rule in self._rules(prefix + name)
            ]
            self._levels[key] = _as_level(rules) if rules else None
        return self._levels[key]

    def _rules(self, name: str) -> Iterator[tuple[str, str]]:
        for number, line in enumerate(self._lines(name), start=1):
            if line.strip() and not line.startswith("#"):
                yield line, f"{name}:{number}: {line.strip()}"

    def _lines(self, name: str) -> list[str]:
        return self._data(name).decode(errors="replace").splitlines()

    def _data(self, name: str) -> bytes:
        """The bytes of an ignore file, or none if it cannot be read. Read once in a walk.

        A hostile project may have a pipe, a link or a huge file in its place: it does not wait for
        the first, does not follow the second and reads only the beginning of the third.
        """
        if name not in self._files:
            try:
                data = read_regular(self._root / name, _LARGEST_FILE, flags=os.O_NOFOLLOW)
            except OSError:
                data = b""
            self._files[name] = data
        return self._files[name]


def _as_level(rules: list[tuple[str, str]]) -> _Level | None:
    """A line that is not a valid rule is left out; the others count."""
    from oracle.services.project.ignore_patterns import AnyPattern, ignore_spec

    good = [rule for rule in rules if _is_rule(rule[0])]
    if not good:
        return None
    spec = ignore_spec([line for line, _ in good])
    return _Level(AnyPattern(spec), spec, tuple(place for _, place in good))


def _is_rule(line: str) -> bool:
    from oracle.services.project.ignore_patterns import ignore_spec

    try:
        ignore_spec([line])
    except ValueError:
        return False
    return True
