"""Further roots of a project: other folders that its questions are about, each with a name.

A path that begins with the name of a root leads into that root: `shared/src/a.py`. All other paths
lead into the project itself, the only one that is written to.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Final

from oracle.errors import ToolProblem
from oracle.lazy_dataclass import dataclass
from oracle.patterns import lazy_pattern
from oracle.services.project.file_rules import TOOL_FOLDERS, holds_secret
from oracle.services.project.root import INDEX_FILES, KEPT_FOLDERS, check_links, oracle_folder
from oracle.services.project.secret_files import SecretFiles

_NAME: Final = lazy_pattern(r"[A-Za-z][A-Za-z0-9_-]{0,39}")
_INDEXES: Final = "roots"
"""The folder for the indexes of roots, in the folder of the project's own index."""


@dataclass(frozen=True, kw_only=True)
class Root:
    """`path` is absolute and has no links; `written` is the path as it is in the settings.

    `secrets` are the rules for this root, with paths relative to it. With a `flaw` it is not read.
    """

    name: str
    path: Path
    written: str = ""
    secrets: SecretFiles = SecretFiles()
    flaw: str = ""

    @property
    def problem(self) -> str:
        """Why it cannot be read, for the user and the model; empty if it can. It is looked at each
        time, because disks come and go.
        """
        told = f"the root {self.name!r} ({self.written or self.path})"
        if self.flaw:
            return f"{told} is not read: {self.flaw}"
        try:
            if not os.path.isdir(self.path):
                return f"{told} is not there, so nothing in it was looked at"
            # Where a link leads was not there to be seen when the user agreed to the path.
            if os.path.realpath(self.path) != str(self.path):
                return f"{told} has become a link to another folder, so it is not read"
            os.scandir(self.path).close()
        except OSError as problem:
            return f"{told} cannot be read ({problem.strerror})"
        return ""

    def index_folder(self, project: Path) -> Path:
        """Where its index is: in the `.oracle/` of the project that names it.

        A root is never written to. It may belong to somebody else, and another project that has the
        same root may have other rules for secrets.
        """
        own = self._index_name
        folder = oracle_folder(project, INDEX_FILES) / INDEX_FILES[0]
        check_links(folder, (_INDEXES, f"{_INDEXES}/{own}", f"{_INDEXES}/{own}/index"))
        return folder / _INDEXES / own

    @property
    def _index_name(self) -> str:
        """The digest keeps two folders apart that have had the same name one after the other."""
        return f"{self.name}-{sha256(str(self.path).encode(errors='replace')).hexdigest()[:8]}"

    def has_index_in(self, folder: Path) -> bool:
        return folder.name == self._index_name


@dataclass(frozen=True, kw_only=True)
class Roots:
    """The roots of a project; `main` is the project's own, which has no name."""

    main: Path
    others: tuple[Root, ...] = ()

    def split(self, path: str) -> tuple[Root | None, str]:
        """The root that a path of the project leads into, None for the main one, and the path
        below it.
        """
        name, _, inner = path.partition("/")
        for root in self.others:
            if root.name == name:
                return root, inner
        return None, path

    def place(self, path: str) -> Path:
        """Where a path of the project is on disk."""
        root, inner = self.split(path)
        return (self.main if root is None else root.path) / inner

    def path_of(self, place: Path) -> str | None:
        """The path by which the project knows a place below one of its further roots."""
        for root in self.others:
            if place.is_relative_to(root.path):
                inner = place.relative_to(root.path).as_posix()
                return root.name if inner == "." else f"{root.name}/{inner}"
        return None

    @property
    def problems(self) -> list[str]:
        return [problem for root in self.others if (problem := root.problem)]


def drop_other_indexes(project: Path, roots: Sequence[Root]) -> None:
    """Remove the indexes of roots that the project has no more."""
    folder = oracle_folder(project, INDEX_FILES) / INDEX_FILES[0]
    check_links(folder, (_INDEXES,))
    try:
        found = list((folder / _INDEXES).iterdir())
    except OSError:
        return
    for each in found:
        if not any(root.has_index_in(each) for root in roots):
            # A link is not followed: `rmtree` refuses it.
            shutil.rmtree(each, ignore_errors=True)


def below(root: Root | None, inner: str) -> str:
    """The path of the project for a path in one of its roots."""
    if root is None:
        return inner
    return f"{root.name}/{inner}" if inner and inner != "." else root.name


def check_root(root: Root) -> None:
    """`ToolProblem` if nothing can be read in it."""
    if problem := root.problem:
        raise ToolProblem(f"{problem}; answer without it, and say that it is missing")


# -- what can be wrong with the settings -----------------------------------------------------------


def root_from(main: Path, name: str, written: str, secrets: SecretFiles) -> Root:
    """A relative path begins at the project."""
    # Not `Path.expanduser`, which fails for `~nobody`.
    place = Path(os.path.realpath(main / os.path.expanduser(written)))
    return Root(name=name, path=place, written=written, secrets=_rules_for(name, secrets))


def _rules_for(name: str, secrets: SecretFiles) -> SecretFiles:
    """What the project calls a secret is one in each root. What it allows, it allows in its own
    root, and elsewhere only with the name of the root in front.
    """
    prefixes = (f"{name}/", f"/{name}/")
    named = [
        tuple(
            "/" + each.removeprefix(prefix)
            for each in patterns
            for prefix in prefixes
            if each.startswith(prefix)
        )
        for patterns in (secrets.added, secrets.allowed)
    ]
    return replace(secrets, added=(*secrets.added, *named[0]), allowed=named[1])


def problem_of_name(name: str) -> str | None:
    """What is wrong with the name of a root, whatever it leads to."""
    if not _NAME.fullmatch(name):
        return (
            "its name has to begin with a letter and to go on with letters, digits, - or _, at "
            "most 40 in all; choose another name"
        )
    if name.casefold() in {*TOOL_FOLDERS, *KEPT_FOLDERS} or holds_secret(name):
        return _reserved(name)
    return None


def _reserved(name: str) -> str:
    return f"the name {name!r} is reserved for a folder of the project; choose another name"


def problems_of(main: Path, roots: Sequence[Root], *, notes: str = "") -> Iterator[tuple[str, str]]:
    """Pairs of a root's name and what is wrong with it. `notes` is the folder for notes."""
    project = Path(os.path.realpath(main))
    for number, root in enumerate(roots):
        if root.name.casefold() == notes.casefold():
            yield root.name, _reserved(root.name)
        if os.path.lexists(project / root.name):
            what = "folder" if (project / root.name).is_dir() else "file"
            yield root.name, f"the project has a {what} of this name; choose another name"
        if problem := _problem_of_place(project, root, roots[:number]):
            yield root.name, problem


def _problem_of_place(project: Path, root: Root, before: Sequence[Root]) -> str | None:
    if root.path == project:
        return f"{root.written!r} is the project itself, which is always read; remove it"
    if root.path.exists() and not root.path.is_dir():
        return f"{root.written!r} is a file; name a folder"
    if rule := SecretFiles().rule_for(f"{root.path}/a.py"):
        return f"{root.written!r} is in {rule}, a folder of secrets; name another folder"
    for name, other in (("the project", project), *((repr(r.name), r.path) for r in before)):
        if root.path == other:
            return f"{root.written!r} is the same folder as {name}; keep one of the two names"
        if root.path.is_relative_to(other):
            return f"{root.written!r} is inside of {name}, which is read anyway; remove it"
        if other.is_relative_to(root.path):
            return (
                f"{root.written!r} contains {name}, so files would be found twice; name a folder "
                "beside it"
            )
    same = [r.name for r in before if r.name.casefold() == root.name.casefold()]
    return f"{same[0]!r} differs only by its case; choose another name" if same else None
