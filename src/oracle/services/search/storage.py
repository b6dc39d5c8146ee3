"""Where the two halves of an index are kept: on disk, or in memory if nothing can be written.

`.oracle/index/` holds `current` (the name of the generation in use), `lock`, and a folder for each
generation. A rebuild begins a new generation: it never changes files that others may be reading.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Generator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import Final, Protocol

from oracle.errors import StoreError
from oracle.lazy_dataclass import dataclass
from oracle.regular_file import check_database, check_regular, read_regular
from oracle.services.project.root import INDEX_FILES, cannot_make, oracle_folder
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


class Storage(Protocol):
    """What an index asks of the place where it is kept."""

    @property
    def current(self) -> Generation:
        """The generation in use."""
        ...

    def write_lock(self, patience: Patience | None = None) -> AbstractContextManager[None]:
        """Held while the index is written. Waits for other writers while `patience` is True."""
        ...

    def disk_errors(self) -> AbstractContextManager[None]:
        """Turns the error of a disk that cannot be written into a `StoreError` with its place."""
        ...

    def rebuilt_because(self) -> str | None:
        """Why the index was started over. The reason is reported once, to the next refresh."""
        ...

    def start_over(self, reason: str) -> Generation:
        """Begin an empty generation. The caller holds the lock."""
        ...

    def close(self) -> None: ...


class InMemory:
    """One generation, gone with the process. No other process sees it, so nothing is locked."""

    def __init__(self) -> None:
        self.current = self._new()
        self._rebuilt: str | None = None

    def write_lock(self, patience: Patience | None = None) -> AbstractContextManager[None]:
        return nullcontext()

    def disk_errors(self) -> AbstractContextManager[None]:
        return nullcontext()

    def rebuilt_because(self) -> str | None:
        reason, self._rebuilt = self._rebuilt, None
        return reason

    def start_over(self, reason: str) -> Generation:
        self.current.close()
        self._rebuilt = reason
        self.current = self._new()
        return self.current

    def close(self) -> None:
        self.current.close()

    @staticmethod
    def _new() -> Generation:
        return Generation(name="memory", catalogue=Catalogue(None), passages=Passages(None))


class OnDisk:
    def __init__(
        self, root: Path, folder: Path | None = None, patience: Patience | None = None
    ) -> None:
        self._root = root
        self._folder = (folder or oracle_folder(root, INDEX_FILES)) / "index"
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as problem:
            raise cannot_make(self._folder, problem) from problem
        self._lock = self._folder / "lock"
        self._rebuilt: str | None = None
        with self.disk_errors():
            self._generation = self._open(patience)

    @property
    def current(self) -> Generation:
        # Another process may have begun a new generation since the last look.
        name = self._current_name()
        if name is not None and name != self._generation.name:
            self._generation.close()
            self._generation = self._open()
        return self._generation

    def close(self) -> None:
        self._generation.close()

    def write_lock(self, patience: Patience | None = None) -> AbstractContextManager[None]:
        # The folder may have been removed while the index was open: the index begins again. A
        # project that was removed itself is not made again.
        if self._root.is_dir():
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        return only_one(self._lock, patience)

    @contextmanager
    def disk_errors(self) -> Generator[None]:
        """What was on disk stays."""
        try:
            yield
        except BaseException as problem:
            if reason := refusal(problem):
                raise StoreError(
                    f"the index in {self._folder} cannot be used: {reason}"
                ) from problem
            raise

    def rebuilt_because(self) -> str | None:
        reason, self._rebuilt = self._rebuilt, None
        return reason

    def start_over(self, reason: str) -> Generation:
        self._generation.close()
        self._rebuilt = reason
        self._generation = self._new()
        return self._generation

    def _open(self, patience: Patience | None = None) -> Generation:
        """The generation in use. If it cannot be opened, a new one is begun."""
        try:
            return self._load(self._current_name())
        except BaseException as problem:
            if not broken(problem):
                raise
        with self.write_lock(patience):
            # A second look: while this process waited for the lock, another one may have begun it.
            try:
                return self._load(self._current_name())
            except BaseException as problem:
                if not broken(problem):
                    raise
                # Without a name there was no index yet, so nothing was damaged.
                if self._current_name() is not None:
                    self._rebuilt = str(problem)
                return self._new()

    def _load(self, name: str | None) -> Generation:
        if name is None:
            raise ValueError("there is none")
        folder = self._folder / name
        if not (folder / "text" / "meta.json").is_file():
            raise ValueError("the text index is missing")
        # Opening a pipe in the place of one of these would wait for ever.
        for file in (folder / "text").iterdir():
            check_regular(file)
        check_database(folder / "catalogue.db")
        catalogue = Catalogue(folder / "catalogue.db")
        try:
            if catalogue.meta("format") != str(FORMAT):
                raise ValueError("it is of another format")
            return Generation(name=name, catalogue=catalogue, passages=Passages(folder / "text"))
        except BaseException:
            catalogue.close()
            raise

    def _new(self) -> Generation:
        # Random: a name is never used twice, so a reader sees that the generation has changed.
        name = f"g{os.urandom(6).hex()}"
        try:
            return self._begun(name)
        except (OSError, sqlite3.Error, ValueError) as problem:
            if self._current_name() != name:
                shutil.rmtree(self._folder / name, ignore_errors=True)
            raise StoreError(
                f"no index can be made in {self._folder}: {problem}; check that the disk has room "
                "and that the folder is writable"
            ) from problem

    def _begun(self, name: str) -> Generation:
        folder = self._folder / name
        folder.mkdir(mode=0o700, parents=True)
        (folder / "text").mkdir(mode=0o700)
        catalogue = Catalogue(folder / "catalogue.db")
        catalogue.set_meta("format", str(FORMAT))
        passages = Passages(folder / "text")
        # Readers see the old name or the new one, never half a name.
        beside = self._folder / f"current.{name}"
        beside.write_text(name, encoding="ascii")
        os.replace(beside, self._folder / "current")
        self._sweep(keep=name)
        return Generation(name=name, catalogue=catalogue, passages=passages)

    def _sweep(self, keep: str) -> None:
        """Remove old generations. A process that still reads one keeps its open files."""
        for folder in self._folder.glob("g*"):
            if folder.name != keep and folder.is_dir():
                shutil.rmtree(folder, ignore_errors=True)

    def _current_name(self) -> str | None:
        try:
            name = read_regular(self._folder / "current", 100).decode("ascii").strip()
        except (OSError, UnicodeDecodeError):
            return None
        # The name becomes part of a path, so a damaged file must not lead out of the folder.
        return name if name.startswith("g") and name.isalnum() else None


def broken(problem: BaseException) -> bool:
    """Whether an error means that the index is damaged.

    A disk that cannot be written is another matter: a new index could not be written either. Nor
    does it mean damage if the query holds a lone surrogate, which cannot be encoded.
    """
    if refusal(problem) or isinstance(problem, UnicodeEncodeError):
        return False
    # A panic in the text index, which is written in Rust, is not an `Exception`.
    return isinstance(problem, _BROKEN) or type(problem).__name__ == "PanicException"
