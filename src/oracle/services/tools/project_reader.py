"""The files of a project as `services/overview` reads them."""

from __future__ import annotations

from collections.abc import Sequence

from oracle.errors import ToolProblem
from oracle.services.tools.files import FileText, ProjectFiles


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

    def read(self, path: str) -> Sequence[str]:
        text = self.text(path)
        return text.lines if text else ()
