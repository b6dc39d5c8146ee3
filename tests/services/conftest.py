"""A small project on disk, and what it takes to look at its index."""

from pathlib import Path

import pytest

from oracle.services.search import Index


class Project:
    def __init__(self, root: Path) -> None:
        self.root = root
        root.mkdir()
        self._opened: list[Index] = []

    def write(self, path: str, content: str | bytes) -> Path:
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content.encode() if isinstance(content, str) else content)
        return file

    def index(self) -> Index:
        opened = Index.open(self.root)
        self._opened.append(opened)
        return opened

    def indexed(self) -> Index:
        opened = self.index()
        opened.refresh()
        return opened

    def close(self) -> None:
        for opened in self._opened:
            opened.close()


@pytest.fixture
def project(tmp_path):
    made = Project(tmp_path / "project")
    yield made
    made.close()
