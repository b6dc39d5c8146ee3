"""Parses files in processes of their own (`grammar_worker`), so that no file can harm this one.

A file that crashes or hangs its process has no outline. If no process can be started, files are
parsed in this process, one at a time: the parts of tree-sitter that are used are not thread-safe.
"""

from __future__ import annotations

import atexit
import marshal
import os
import select
import subprocess
import sys
import time
from pathlib import Path
from threading import Condition, Lock
from typing import Any, Final

from oracle.logs import logger_of
from oracle.services.search import grammar_worker
from oracle.services.search.grammar_worker import LENGTH, READY
from oracle.services.search.symbols import Outline, Symbol

log = logger_of(__name__)

MOST_WORKERS: Final = 2
"""One builds the index, the other is free for the tools."""
SECONDS_TO_START: Final = 30.0
SECONDS_TO_ANSWER: Final = 20.0
"""Far more than a worker's own limit of CPU time: a busy machine must not lose outlines."""
SECONDS_WITHOUT: Final = 60.0
"""How long no other start is tried after one that failed."""
_START: Final = "import sys; sys.path[:] = {!r}; from {} import serve; serve()"


def outline_by_grammar(source: bytes, language: str) -> Outline | None:
    """None if the source is too large or too deep, takes too long, or crashes the grammar."""
    found = _pool.run("outline", source, language)
    if found is None:
        return None
    symbols, remarks = found
    return Outline(
        symbols=[
            Symbol(name=name, kind=kind, start=start, end=end, parent=parent)
            for name, kind, start, end, parent in symbols
        ],
        remarks=remarks,
    )


def lines_that_use(source: bytes, language: str, name: str) -> list[int]:
    """The lines of code that use a name. A file that cannot be parsed has none."""
    return _pool.run("references", source, language, name) or []


class _Gone(Exception):  # noqa: N818 - it is an outcome, not a bug
    """The worker crashed, or did not answer in time."""


class _Worker:
    """One process. It serves one request at a time."""

    def __init__(self) -> None:
        if not sys.executable or getattr(sys, "frozen", False):
            raise OSError("there is no interpreter to start")
        here = str(Path(__file__).parents[3])
        paths = [path for path in sys.path if path and path != here]
        code = _START.format([here, *paths], grammar_worker.__name__)
        # Without `site` and the environment it starts in half the time.
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-S", "-B", "-c", code],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            bufsize=0,
            # A Ctrl-C is meant for this process, which decides what it ends.
            start_new_session=True,
        )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._requests = self._process.stdin.fileno()
        self._results = self._process.stdout.fileno()
        os.set_blocking(self._requests, False)
        try:
            is_ready = self._read(len(READY), time.monotonic() + SECONDS_TO_START) == READY
        except _Gone:
            is_ready = False
        if not is_ready:
            self.close()
            raise OSError(f"{sys.executable} does not start a process that parses")

    def ask(self, request: bytes) -> Any:
        until = time.monotonic() + SECONDS_TO_ANSWER
        self._write(LENGTH.pack(len(request)) + request, until)
        (length,) = LENGTH.unpack(self._read(LENGTH.size, until))
        return marshal.loads(self._read(length, until))

    def close(self) -> None:
        self._process.kill()
        self._process.wait()
        self.let_go()

    def let_go(self) -> None:
        """Close this process's ends of the pipes. A worker ends when all ends are closed."""
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                pipe.close()
        # Only the process that started it can wait for it. Else Python warns that nobody did.
        self._process.returncode = 0

    def _write(self, data: bytes, until: float) -> None:
        left = memoryview(data)
        while left:
            self._wait_for(self._requests, select.POLLOUT, until)
            try:
                left = left[os.write(self._requests, left) :]
            except BlockingIOError:
                continue
            except OSError as problem:
                raise _Gone from problem

    def _read(self, size: int, until: float) -> bytes:
        data = bytearray()
        while len(data) < size:
            self._wait_for(self._results, select.POLLIN, until)
            if not (piece := os.read(self._results, size - len(data))):
                raise _Gone
            data += piece
        return bytes(data)

    @staticmethod
    def _wait_for(descriptor: int, event: int, until: float) -> None:
        # Not `select`, which cannot wait for descriptors above 1023.
        poll = select.poll()
        poll.register(descriptor, event)
        if not poll.poll(max(0.0, until - time.monotonic()) * 1000):
            raise _Gone


class _Pool:
    """Lends workers to threads, at most `MOST_WORKERS` at once."""

    def __init__(self) -> None:
        self._workers: set[_Worker] = set()
        self._idle: list[_Worker] = []
        self._started = 0
        self._changed = Condition(Lock())
        self._alone = Lock()
        self._without_until = 0.0

    def run(self, task: str, *arguments: Any) -> Any:
        """The result of the task; None if no worker survives it."""
        request = marshal.dumps((task, *arguments))
        # Twice: a worker may also be ended by someone else, such as the system when memory is low.
        for _ in range(2):
            began = time.monotonic()
            worker = self._borrow()
            if worker is None:
                with self._alone:
                    return grammar_worker.TASKS[task](*arguments)
            try:
                result = worker.ask(request)
            except _Gone:
                self._give_up(worker)
                if time.monotonic() - began > grammar_worker.PARSE_SECONDS:
                    break
            except BaseException:
                # Such as a Ctrl-C: the next request would be answered with the result of this one.
                self._give_up(worker)
                raise
            else:
                with self._changed:
                    self._idle.append(worker)
                    self._changed.notify()
                return result
        log.warning("a source cannot be parsed (%d bytes): its grammar failed", len(request))
        return None

    def close(self) -> None:
        for worker in self._workers:
            worker.close()

    def forget(self) -> None:
        """After a fork, in the child: the workers answer to the parent."""
        for worker in self._workers:
            worker.let_go()
        # The locks too: a thread of the parent may have held them.
        self.__init__()

    def _borrow(self) -> _Worker | None:
        with self._changed:
            while True:
                if self._idle:
                    return self._idle.pop()
                if time.monotonic() < self._without_until:
                    return None
                if self._started < MOST_WORKERS:
                    break
                self._changed.wait()
            self._started += 1
        try:
            worker = _Worker()
        except OSError as problem:
            log.warning("files are parsed in this process: %s", problem)
            with self._changed:
                self._started -= 1
                self._without_until = time.monotonic() + SECONDS_WITHOUT
                self._changed.notify_all()
            return None
        self._workers.add(worker)
        return worker

    def _give_up(self, worker: _Worker) -> None:
        self._workers.discard(worker)
        worker.close()
        with self._changed:
            self._started -= 1
            self._changed.notify()


_pool: Final = _Pool()
atexit.register(_pool.close)
os.register_at_fork(after_in_child=_pool.forget)
