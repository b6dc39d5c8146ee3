"""The two halves of an index on disk, kept together, and built anew when they are broken.

`.oracle/index/` holds `current` (the name of the generation in use), `lock`, and a folder for each
generation. A rebuild begins a new generation and never touches the files that others may be reading.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from oracle.errors import StoreError
from oracle.services.index.catalogue import FORMAT, Catalogue
from oracle.services.index.lock import only_one
from oracle.services.index.passages import Passages
from oracle.services.project import oracle_folder

_BROKEN: Final = (sqlite3.DatabaseError, ValueError, OSError, KeyError, TypeError)


@dataclass(frozen=True, kw_only=True)
class Generation:
    name: str
    catalogue: Catalogue
    passages: Passages

    def close(self) -> None:
        self.catalogue.close()


class Storage:
    def __init__(self, root: Path) -> None:
        self._folder = oracle_folder(root) / "index"
        try:
            self._folder.mkdir(exist_ok=True)
        except OSError as problem:
            raise StoreError(
                f"{self._folder} cannot be made: {problem.strerror}; make the project writable"
            ) from problem
        self._lock = self._folder / "lock"
        self.rebuilt: str | None = None
        self._generation = self._open()

    @property
    def current(self) -> Generation:
        """The generation in use; another process may have begun a new one."""
        name = self._current_name()
        if name is not None and name != self._generation.name:
            self._generation.close()
            self._generation = self._open()
        return self._generation

    def close(self) -> None:
        self._generation.close()

    def alone(self):  # noqa: ANN201
        return only_one(self._lock)

    def begin_anew(self, reason: str) -> Generation:
        """The caller holds the lock, or nobody can: the old generation is beyond use."""
        self._generation.close()
        self.rebuilt = reason
        self._generation = self._new()
        return self._generation

    def _open(self) -> Generation:
        name = self._current_name()
        if name is None:
            with self.alone():
                name = self._current_name()
                if name is None:
                    return self._new()
        try:
            return self._load(name)
        except BaseException as problem:
            if not broken(problem):
                raise
            with self.alone():
                if self._current_name() not in (name, None):
                    return self._open_once()
                self.rebuilt = f"it could not be read ({problem})"
                return self._new()

    def _open_once(self) -> Generation:
        return self._load(self._current_name() or "")

    def _load(self, name: str) -> Generation:
        folder = self._folder / name
        if not (folder / "text" / "meta.json").is_file():
            raise ValueError("the text index is missing")
        catalogue = Catalogue(folder / "catalogue.db")
        try:
            if catalogue.meta("format") != str(FORMAT):
                raise ValueError("it is of another format")
            return Generation(name=name, catalogue=catalogue, passages=Passages(folder / "text"))
        except BaseException:
            catalogue.close()
            raise

    def _new(self) -> Generation:
        name = f"g{os.urandom(6).hex()}"
        folder = self._folder / name
        (folder / "text").mkdir(parents=True)
        catalogue = Catalogue(folder / "catalogue.db")
        catalogue.set_meta("format", str(FORMAT))
        generation = Generation(
            name=name, catalogue=catalogue, passages=Passages(folder / "text")
        )
        beside = self._folder / f"current.{name}"
        beside.write_text(name, encoding="ascii")
        os.replace(beside, self._folder / "current")
        self._sweep(keep=name)
        return generation

    def _sweep(self, keep: str) -> None:
        for folder in self._folder.glob("g*"):
            if folder.name != keep and folder.is_dir():
                shutil.rmtree(folder, ignore_errors=True)

    def _current_name(self) -> str | None:
        try:
            name = (self._folder / "current").read_text(encoding="ascii").strip()
        except (OSError, UnicodeDecodeError):
            return None
        return name if name.startswith("g") and name.isalnum() else None


def broken(problem: BaseException) -> bool:
    """Whether it tells of a damaged index; a panic in the text index is no `Exception`."""
    return isinstance(problem, _BROKEN) or type(problem).__name__ == "PanicException"
