"""Draws in a thread of its own: a slow terminal must not hold up a run."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable
from typing import Final

from oracle.cli.terminal.progress import Line
from oracle.cli.terminal.screen import Screen
from oracle.models.stream_chunk import OracleStreamChunk

SECONDS_A_FRAME: Final = 0.1

Job = Callable[[], object]


class ScreenThread:
    """Passes chunks to a screen. When the screen fails, `on_failure` is called once, in that
    thread; `close` raises the error.
    """

    def __init__(self, screen: Screen) -> None:
        self.on_failure: Callable[[], object] = lambda: None
        self._screen = screen
        self._failure: BaseException | None = None
        self._next_step = 0.0
        self._jobs: queue.SimpleQueue[Job | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._work, daemon=True, name="screen")
        self._thread.start()

    def show(self, chunk: OracleStreamChunk) -> None:
        self._jobs.put(lambda: self._screen.show(chunk))

    def tell(self, line: Line) -> None:
        """Print a line of progress."""
        self._jobs.put(lambda: self._screen.tell(line))

    def indexing(self, done: int, total: int) -> None:
        """How far the index is; may be called from any thread, as often as needed."""
        now = time.monotonic()
        if now >= self._next_step or done == total:
            self._next_step = now + SECONDS_A_FRAME
            self._jobs.put(lambda: self._screen.indexing(done, total))

    def between(self, job: Job) -> None:
        """Run a job that needs the terminal for itself."""

        def alone() -> None:
            self._screen.pause()
            job()

        self._jobs.put(alone)

    def close(self) -> None:
        """Wait until everything is shown."""
        self._jobs.put(None)
        self._thread.join()
        if self._failure is not None:
            raise self._failure

    def _work(self) -> None:
        """Draw a frame when it is due, and in between run the jobs."""
        next_frame = 0.0
        while True:
            wait = next_frame - time.monotonic()
            if wait <= 0:
                self._try(self._screen.tick)
                next_frame = time.monotonic() + SECONDS_A_FRAME
                continue
            try:
                job = self._jobs.get(timeout=wait)
            except queue.Empty:
                continue
            if job is None:
                self._try(self._screen.close)
                return
            self._try(job)

    def _try(self, job: Job) -> None:
        if self._failure is not None:
            return
        try:
            job()
        except BaseException as problem:
            self._failure = problem
            self.on_failure()
