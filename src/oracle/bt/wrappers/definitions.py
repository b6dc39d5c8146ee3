"""The trees and prompts of a project, read again for the next run when one of them changes."""

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final, TypeAlias

from oracle.errors import InputError, TreeFileError
from oracle.logs import logger_of
from oracle.models.prompt_segment import PromptSegment
from oracle.services.prompting.segment_files import load_segments
from oracle.settings import Settings

log = logger_of(__name__)

# The clocks of file systems are coarse: two changes within this time may look like one.
_JUST_NOW_NS: Final = 2_000_000_000

_Stamp: TypeAlias = tuple[tuple[str, int, int, int], ...]


class ProjectDefinitions:
    """`trees` is None for the built-in ones. `problem` says why a changed file is not used.

    The first reading raises for a broken file. Later, a broken file is reported and the last good
    ones stay. A run that has begun keeps what it began with.
    """

    def __init__(self, settings: Settings) -> None:
        self._prompts = settings.path("prompts.folder")
        self._trees = settings.path("trees.folder") if settings.trees.folder else None
        self._settings = settings
        self._problem_of = settings.problem_of_file
        self._lock = threading.Lock()
        self._stamp = self._files_now()
        self.problem: InputError | None = None
        self.trees, self.segments = self._read()

    def refresh(self) -> InputError | None:
        """Read what has changed. Returns what is wrong with it, if anything is."""
        with self._lock:
            stamp = self._files_now()
            if stamp == self._stamp and not _is_recent(stamp):
                return self.problem
            self._stamp = stamp
            try:
                self.trees, self.segments = self._read()
                self.problem = None
            except InputError as problem:
                log.error("the last good trees and prompts are kept: %s", problem)
                self.problem = problem
            return self.problem

    def _read(self) -> tuple[Mapping[str, str] | None, tuple[PromptSegment, ...]]:
        # Both before either is used: a run never gets new trees with old prompts.
        return self._sources(), load_segments(self._prompts, problem_of=self._problem_of)

    def _sources(self) -> Mapping[str, str] | None:
        if self._trees is None:
            return None
        from oracle.bt.wrappers.own_trees import trees_in_use

        for file in (self._trees, *self._trees.glob("*.lua")):
            if reason := self._problem_of(file):
                raise TreeFileError(f"not read: {reason}; move it elsewhere", file=str(file))
        sources, problems = trees_in_use(self._settings)
        for problem in problems:
            log.warning("%s", problem)
        return sources

    def _files_now(self) -> _Stamp:
        root = self._settings.root
        leaves = root / ".oracle" / "leaves" if root and self._trees else None
        folders = (self._prompts, self._trees, leaves)
        return tuple(entry for folder in folders if folder for entry in _entries(folder))


def _entries(folder: Path) -> Iterator[tuple[str, int, int, int]]:
    """What shows a change, without reading any file."""
    paths = [folder]
    # There may be no folder, or `trees.folder` names one file.
    with contextlib.suppress(OSError):
        paths += sorted(folder.iterdir())
    for path in paths:
        try:
            state = os.stat(path)
        except OSError:
            continue
        yield str(path), state.st_size, state.st_ino, max(state.st_mtime_ns, state.st_ctime_ns)


def _is_recent(stamp: _Stamp) -> bool:
    now = time.time_ns()
    return any(abs(now - changed) < _JUST_NOW_NS for *_, changed in stamp)
