"""Draws in its own thread, so that a slow terminal does not slow down the run."""

from __future__ import annotations

import contextlib
import queue
import threading
import time
from collections.abc import Callable
from typing import Final

from oracle.cli.terminal.progress import Line
from oracle.cli.terminal.screen import Screen
from oracle.cli.terminal.streams import check_reader
from oracle.models.stream_chunk import OracleStreamChunk
from oracle.services.own_code.prints import is_our_thread

FRAME_SECONDS: Final = 0.1

Job = Callable[[], object]


class ScreenThread:
    """Passes chunks to a screen in another thread, without waiting for it.

    When the screen fails, what `calls_on_failure` was given is called once. `close` raises the
    error.
    """

    def __init__(self, screen: Screen) -> None:
        self._on_failure: Callable[[], object] = lambda: None
        self._screen = screen
        self._failure: BaseException | None = None
        self._next_report = 0.0
        self._jobs: queue.SimpleQueue[Job | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._work, daemon=True, name="screen")
        self._thread.start()

    def calls_on_failure(self, callback: Callable[[], object]) -> None:
        """In the thread of the screen, or at once if it has failed already."""
        self._on_failure = callback
        if self._failure is not None:
            callback()

    def show(self, chunk: OracleStreamChunk) -> None:
        self._jobs.put(lambda: self._screen.show(chunk))

    def print_line(self, line: Line) -> None:
        self._jobs.put(lambda: self._screen.print_line(line))

    def indexing(self, done: int, total: int) -> None:
        """Report the progress of indexing. May be called from any thread, at any rate."""
        now = time.monotonic()
        # At most one job per frame: a large index would fill the queue faster than it is drawn.
        if now >= self._next_report or done == total:
            self._next_report = now + FRAME_SECONDS
            self._jobs.put(lambda: self._screen.indexing(done, total))

    def run_alone(self, job: Job) -> None:
        """Run a job that needs the terminal for itself, such as a question to the user."""

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
        """Run the jobs, and draw a frame whenever one is due."""
        is_our_thread()
        next_frame = 0.0
        while True:
            wait = next_frame - time.monotonic()
            if wait <= 0:
                self._try(self._frame)
                next_frame = time.monotonic() + FRAME_SECONDS
                continue
            try:
                job = self._jobs.get(timeout=wait)
            except queue.Empty:
                continue
            if job is None:
                self._try(self._screen.close)
                return
            self._try(job)

    def _frame(self) -> None:
        # In a pipe nothing is written before the end: nobody should pay for an answer until then.
        check_reader()
        self._screen.tick()

    def _try(self, job: Job) -> None:
        # After a failure the queue is still emptied, so that `close` ends and nothing is drawn.
        if self._failure is not None:
            return
        try:
            job()
        except BaseException as problem:
            self._failure = problem
            # The status line may be on another stream than the one that failed.
            with contextlib.suppress(Exception):
                self._screen.close()
            self._on_failure()
