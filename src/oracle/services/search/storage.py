"""The two halves of an index on disk, kept together, and built anew when they are broken.

`.oracle/index/` holds `current` (the name of the generation in use), `lock`, and a folder for each
generation. A rebuild begins a new one and never changes files that others may be reading.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Generator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from oracle.errors import StoreError
from oracle.services.project.root import oracle_folder
from oracle.services.search.catalogue import FORMAT, Catalogue
from oracle.services.search.lock import Patience, only_one
from oracle.services.search.passages import Passages
from oracle.services.search.refusals import refusal

_BROKEN: Final = (sqlite3.DatabaseError, ValueError, OSError, KeyError, TypeError)


@dataclass(frozen=True, kw_only=True)
class Generation:
    name: str
    catalogue: Catalogue
    passages: Passages

    def close(self) -> None:
        self.catalogue.close()


class Storage:
    def __init__(
        self, root: Path, folder: Path | None = None, patience: Patience | None = None
    ) -> None:
        self._root = root
        self._folder = (folder or oracle_folder(root)) / "index"
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
        except OSError as problem:
            raise StoreError(
                f"{self._folder} cannot be made: {problem.strerror}; make the project writable"
            ) from problem
        self._lock = self._folder / "lock"
        self._rebuilt: str | None = None
        with self.refusals():
            self._generation = self._open(patience)

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

    def alone(self, patience: Patience | None = None) -> AbstractContextManager[None]:
        """For whoever writes. An index that was removed from a project begins again."""
        if self._root.is_dir():
            self._folder.mkdir(parents=True, exist_ok=True)
        return only_one(self._lock, patience)

    @contextmanager
    def refusals(self) -> Generator[None]:
        """A disk that refuses to be written is told with its place. What was there stays."""
        try:
            yield
        except BaseException as problem:
            if told := refusal(problem):
                raise StoreError(f"the index in {self._folder} cannot be used: {told}") from problem
            raise

    def rebuilt_because(self) -> str | None:
        """Why the index was begun anew, told once."""
        reason, self._rebuilt = self._rebuilt, None
        return reason

    def begin_anew(self, reason: str) -> Generation:
        """The caller holds the lock."""
        self._generation.close()
        self._rebuilt = reason
        self._generation = self._new()
        return self._generation

    def _open(self, patience: Patience | None = None) -> Generation:
        """What cannot be opened is begun anew, by one process; the others open what it began."""
        try:
            return self._load(self._current_name())
        except BaseException as problem:
            if not broken(problem):
                raise
        with self.alone(patience):
            try:
                return self._load(self._current_name())
            except BaseException as problem:
                if not broken(problem):
                    raise
                if self._current_name() is not None:
                    self._rebuilt = str(problem)
                return self._new()

    def _load(self, name: str | None) -> Generation:
        if name is None:
            raise ValueError("there is none")
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
        try:
            return self._begun(name)
        except (OSError, sqlite3.Error, ValueError) as problem:
            if self._current_name() != name:
                shutil.rmtree(self._folder / name, ignore_errors=True)
            raise StoreError(
                f"no index can be made in {self._folder}: {problem}; is there room, and may it be "
                "written?"
            ) from problem

    def _begun(self, name: str) -> Generation:
        folder = self._folder / name
        (folder / "text").mkdir(parents=True)
        catalogue = Catalogue(folder / "catalogue.db")
        catalogue.set_meta("format", str(FORMAT))
        passages = Passages(folder / "text")
        beside = self._folder / f"current.{name}"
        beside.write_text(name, encoding="ascii")
        os.replace(beside, self._folder / "current")
        self._sweep(keep=name)
        return Generation(name=name, catalogue=catalogue, passages=passages)

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
    """Whether it tells of a damaged index; a panic in the text index is no `Exception`.

    That half a letter cannot be looked up says nothing of the index.
    """
    if refusal(problem) or isinstance(problem, UnicodeEncodeError):
        return False
    return isinstance(problem, _BROKEN) or type(problem).__name__ == "PanicException"
