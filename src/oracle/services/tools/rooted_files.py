"""The files of a project that has further roots, behind the interface of one project's files.

Each root keeps its own rules: ignore files, secrets, and links that must not lead out of it.
"""

from __future__ import annotations

import os
from collections.abc import Collection
from dataclasses import replace
from pathlib import Path

from oracle.errors import ToolProblem, named
from oracle.services.project.root import KEPT_FOLDERS
from oracle.services.project.roots import Root, Roots, below, check_root
from oracle.services.project.safe_open import LARGEST_READ, inner_path
from oracle.services.project.secret_files import OURS, SecretFiles
from oracle.services.project.walk import FoundFile
from oracle.services.tools.files import FileText, ProjectFiles


class RootedFiles(ProjectFiles):
    """`root` is the project's own root, the only one that is written to."""

    def __init__(
        self, roots: Roots, *, kept: tuple[str, ...] = (), secrets: SecretFiles = OURS
    ) -> None:
        super().__init__(roots.main, kept=kept, secrets=secrets)
        self.roots = roots
        self._main = ProjectFiles(roots.main, kept=kept, secrets=secrets)
        self._others = {
            root.name: ProjectFiles(root.path, kept=KEPT_FOLDERS, secrets=root.secrets)
            for root in roots.others
        }

    def entries(self, under: str = "") -> list[FoundFile]:
        root, inner = self.roots.split(under)
        if root is not None:
            return self._entries_of(root, inner)
        # A folder that was made after the settings were read may have the name of a root.
        own = [each for each in super().entries(under) if self.roots.split(each.path)[0] is None]
        if inner_path(under):
            return own
        return [*own, *(each for other in self.roots.others for each in self._entries_of(other))]

    def _entries_of(self, root: Root, inner: str = "") -> list[FoundFile]:
        if root.problem:
            return []
        found = self._others[root.name].entries(inner)
        return [each._replace(path=below(root, each.path)) for each in found]

    def read(self, path: str, *, largest: int = LARGEST_READ) -> FileText:
        root, inner = self.roots.split(inner_path(path))
        if root is None:
            return super().read(path, largest=largest)
        check_root(root)
        if not inner:
            raise ToolProblem(f"{named(path)} is a root, not a file; name a file in it")
        try:
            text = self._others[root.name].read(inner, largest=largest)
        except ToolProblem as problem:
            # The message names the path in the root, by which the model would not find it.
            told = str(problem).replace(named(inner), named(below(root, inner)), 1)
            raise ToolProblem(told) from problem
        return replace(text, path=below(root, text.path))

    def text_of(self, entry: FoundFile) -> FileText | None:
        root, inner = self.roots.split(entry.path)
        if root is None:
            return super().text_of(entry)
        text = self._others[root.name].text_of(entry._replace(path=inner))
        return text and replace(text, path=entry.path)

    def exists(self, inside: str) -> bool:
        root, inner = self.roots.split(inside)
        if root is None:
            return super().exists(inside)
        check_root(root)
        return os.path.lexists(root.path / inner)

    @property
    def main(self) -> ProjectFiles:
        return self._main

    @property
    def others(self) -> Collection[str]:
        return self._others.keys()

    def inner(self, path: str) -> str:
        return self.roots.split(path)[1]

    def called(self, name: str) -> tuple[str, ProjectFiles] | None:
        for root in self.roots.others:
            if name.casefold() in (root.name.casefold(), Path(root.path).name.casefold()):
                check_root(root)
                return f"{root.name}/", self._others[root.name]
        return None
