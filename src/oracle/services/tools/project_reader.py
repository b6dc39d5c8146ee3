"""The files of a project as `services/overview` reads them."""

from __future__ import annotations

from collections.abc import Sequence

from oracle.errors import ToolProblem
from oracle.models.source import Source
from oracle.services.overview.places import Place
from oracle.services.search.records import Role
from oracle.services.search.roles import kind_of, role_of
from oracle.services.tools.files import FileText, ProjectFiles
from oracle.services.tools.workspace import lines_of


class ProjectReader:
    """Each file is read once. Use it for one call only: files may change."""

    def __init__(self, files: ProjectFiles) -> None:
        self._files = files
        self._paths: list[str] | None = None
        self._texts: dict[str, FileText | None] = {}

    @property
    def paths(self) -> Sequence[str]:
        if self._paths is None:
            self._paths = [entry.path for entry in self._files.entries()]
        return self._paths

    def text(self, path: str) -> FileText | None:
        if path not in self._texts:
            try:
                self._texts[path] = self._files.read(path)
            except ToolProblem:
                self._texts[path] = None
        return self._texts[path]

    def quoted(self, place: Place, score: float) -> list[Source]:
        """The place as a source, with a score from 0 to 1; none if it cannot be read."""
        text = self.text(place.path)
        if text is None:
            return []
        kind = "code" if kind_of(place.path) == "code" else "vault"
        source = lines_of(text, place.start, place.end, kind)
        source["score"] = max(0.0, min(1.0, score))
        return [source]

    def role_of(self, path: str) -> Role:
        """By the path in its root: the name of a root says nothing about its files."""
        return role_of(self._files.inner(path))

    def read(self, path: str) -> Sequence[str]:
        text = self.text(path)
        return text.lines if text else ()
