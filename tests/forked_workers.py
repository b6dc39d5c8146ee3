"""`pytest -p tests.forked_workers --forks 3`: collect the tests once, and run them in forks.

With pytest-xdist each worker imports and collects everything for itself, 10 s of CPU time each,
and imports what tests need late once more. A fork has it all. The tests may be run with xdist as
well, on a system without `fork` too.

One process hands out tests and prints the reports; it runs none, so that a worker which dies can
be replaced by another fork.
"""

import atexit
import gc
import os
import sys
import threading
import traceback
import uuid
from collections import deque
from itertools import islice, takewhile
from multiprocessing import Pipe
from multiprocessing.connection import Connection, wait

import pytest

RUN = "TESTS_OF_THIS_RUN"
"""The variable that is the same in all workers of a run, and in no other run."""
MOST = 24
"""Tests that are handed out at once. Neighbours share fixtures of their module."""
FEW = 12
"""So many tests that are left of a module go along: other workers would make its fixtures again."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--forks", type=int, default=0, help="run the tests in so many forks")


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session: pytest.Session) -> bool | None:
    options = session.config.option
    if not options.forks or options.collectonly or session.testsfailed:
        return None
    os.environ[RUN] = uuid.uuid4().hex
    # Made, and emptied, once; each worker has a folder in it.
    session.config._tmp_path_factory.getbasetemp()
    Workers(session).run(options.forks)
    return True


class Worker:
    """A fork, seen from the process that hands out tests."""

    def __init__(self, session: pytest.Session, number: int, others: list["Worker"]) -> None:
        self.number = number
        self.to_do: deque[int] = deque()
        self.started: int | None = None
        self.connection, theirs = Pipe()
        sys.stdout.flush()
        sys.stderr.flush()
        self.pid = os.fork()
        if self.pid == 0:
            for worker in (self, *others):
                worker.connection.close()
            work(session, theirs, number)
        theirs.close()

    def end(self) -> int:
        self.connection.close()
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])


class Workers:
    def __init__(self, session: pytest.Session) -> None:
        self._session = session
        self._waiting = deque(range(len(session.items)))
        self._workers: dict[Connection, Worker] = {}
        self._started = 0

    def run(self, count: int) -> None:
        try:
            for _ in range(min(count, len(self._waiting))):
                self._start()
            while self._workers:
                for connection in wait([*self._workers]):
                    self._hear(self._workers[connection])
        finally:
            # Only after an interruption there are any. Without their connection they end.
            for worker in self._workers.values():
                worker.end()
        if self._session.shouldfail:
            raise self._session.Failed(self._session.shouldfail)
        if self._session.shouldstop:
            raise self._session.Interrupted(self._session.shouldstop)

    def _start(self) -> None:
        worker = Worker(self._session, self._started, [*self._workers.values()])
        self._workers[worker.connection] = worker
        self._started += 1

    def _hear(self, worker: Worker) -> None:
        try:
            kind, said = worker.connection.recv()
        except (EOFError, ConnectionResetError):
            self._has_ended(worker)
            return
        if kind == "more":
            given = self._next_tests()
            worker.to_do.extend(given)
            worker.connection.send(given)
        elif kind == "start":
            worker.started = worker.to_do.popleft()
        else:
            hook = self._session.config.hook
            report = hook.pytest_report_from_serializable(config=self._session.config, data=said)
            hook.pytest_runtest_logreport(report=report)
            if report.when == "teardown":
                worker.started = None
                hook.pytest_runtest_logfinish(nodeid=report.nodeid, location=report.location)

    def _next_tests(self) -> list[int]:
        """Fewer towards the end, so that all workers end at about the same time."""
        if self._session.shouldfail or self._session.shouldstop:
            self._waiting.clear()
        count = max(1, min(MOST, len(self._waiting) // (4 * len(self._workers))))
        given = [self._waiting.popleft() for _ in range(min(count, len(self._waiting)))]
        # What is handed out is run, so who wants to stop at a failure gets no more than that.
        if given and not self._session.config.option.maxfail:
            module = self._module(given[-1])
            rest = takewhile(lambda number: self._module(number) == module, self._waiting)
            last = [*islice(rest, FEW + 1)]
            if len(last) <= FEW:
                given += [self._waiting.popleft() for _ in last]
        return given

    def _module(self, number: int) -> str:
        return self._session.items[number].nodeid.partition("::")[0]

    def _has_ended(self, worker: Worker) -> None:
        del self._workers[worker.connection]
        code = worker.end()
        if worker.started is None and not worker.to_do and not code:
            return
        # It has died: its test has failed, and another worker takes the tests that it had left.
        if worker.started is not None:
            item = self._session.items[worker.started]
            text = f"the worker of this test has ended with {code}"
            report = pytest.TestReport(item.nodeid, item.location, {}, "failed", text, "call")
            self._session.config.hook.pytest_runtest_logreport(report=report)
        self._waiting.extendleft(reversed(worker.to_do))
        if self._waiting:
            self._start()


# -- in a fork -------------------------------------------------------------------------------------


def work(session: pytest.Session, connection: Connection, number: int) -> None:
    """Run what is handed out, report it, and end the process."""
    code = 1
    try:
        settle_in(session.config, connection, number)
        tests = given(session, connection)
        item = next(tests, None)
        while item is not None:
            following = next(tests, None)
            connection.send(("start", None))
            session.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
            item = following
        code = 0
    except Exception:
        traceback.print_exc(file=sys.__stderr__)
    finally:
        # As an interpreter ends, except that it takes no module apart: that would copy all memory
        # that the fork shares.
        threading._shutdown()
        atexit._run_exitfuncs()
        os._exit(code)


def settle_in(config: pytest.Config, connection: Connection, number: int) -> None:
    """Share no open file, no folder and nothing to do last with the other workers."""
    atexit._clear()
    gc.freeze()
    capture = config.pluginmanager.getplugin("capturemanager")
    capture.stop_global_capturing()
    capture.start_global_capturing()
    folders = config._tmp_path_factory
    folders._basetemp = folders.mktemp(f"worker{number}", numbered=False)
    # The other process prints.
    config.pluginmanager.unregister(name="terminalreporter")
    config.pluginmanager.register(Reporter(config, connection))


def given(session: pytest.Session, connection: Connection):
    while True:
        connection.send(("more", None))
        numbers = connection.recv()
        if not numbers:
            return
        yield from (session.items[number] for number in numbers)


class Reporter:
    def __init__(self, config: pytest.Config, connection: Connection) -> None:
        self._config = config
        self._connection = connection

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        hook = self._config.hook
        data = hook.pytest_report_to_serializable(config=self._config, report=report)
        self._connection.send(("report", data))
