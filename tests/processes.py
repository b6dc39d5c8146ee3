"""Start Python processes as `subprocess` does, only faster: as forks of `tests/fork_server.py`.

Use `subprocess` itself where a test is about how an interpreter starts or what it imports.
"""

import atexit
import json
import os
import select
import signal
import socket
import subprocess
import sys
import threading
import weakref
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import cache
from pathlib import Path
from subprocess import DEVNULL, PIPE, STDOUT, CompletedProcess, TimeoutExpired

from tests.fork_server import LENGTH, only_one
from tests.forked_workers import RUN

ORACLE = [sys.executable, "-c", "from oracle.cli.main import run; run()"]
SECONDS = 300
"""Nothing takes as long, also on a machine that does much else."""
SERVER = Path(__file__).with_name("fork_server.py")
RELAY = Path(__file__).with_name("relay.py")
_sending = threading.Lock()


class Process:
    """The part of `subprocess.Popen` that the tests use; `command` begins with `sys.executable`."""

    def __init__(
        self,
        command,
        *,
        stdin=None,
        stdout=None,
        stderr=None,
        text=False,
        cwd=None,
        env=None,
        owns_terminal=False,
    ):
        interpreter, *arguments = map(os.fspath, command)
        assert interpreter == sys.executable
        self.args = command
        self.returncode = None
        job = {
            "arguments": arguments,
            "cwd": os.fspath(cwd or os.getcwd()),
            "env": dict(os.environ if env is None else env),
            "owns_terminal": owns_terminal,
        }
        self._theirs = []
        self.stdin = self._stream(stdin, 0, text)
        self.stdout = self._stream(stdout, 1, text)
        self.stderr = self._stream(stderr, 2, text)
        ours, channel = socket.socketpair()
        streams = [handle for handle, _ in self._theirs]
        request = json.dumps(job).encode()
        # A test may start several at once, in threads: their requests must not get mixed.
        with _sending:
            server = _server()
            socket.send_fds(server, [LENGTH.pack(len(request))], [*streams, channel.fileno()])
            server.sendall(request)
        channel.close()
        for handle, is_to_close in self._theirs:
            if is_to_close:
                os.close(handle)
        self._channel = ours
        self._reports = ours.makefile("rb")
        started = self._reports.readline()
        assert started, "the fork server has ended; stderr says why"
        self.pid = int(started)
        # A test that fails leaves its process. Without this a later test would hear of it.
        weakref.finalize(
            self, _abandon, self.pid, ours, self._reports, self.stdin, self.stdout, self.stderr
        )

    def _stream(self, wanted, number, text):
        """Note their end of a stream; return ours, if there is one."""
        if wanted is None:
            self._theirs.append((number, False))
        elif wanted == DEVNULL:
            self._theirs.append((os.open(os.devnull, os.O_RDWR), True))
        elif wanted == STDOUT:
            self._theirs.append((self._theirs[1][0], False))
        elif wanted == PIPE:
            reading, writing = os.pipe()
            theirs, ours, mode = (writing, reading, "r") if number else (reading, writing, "w")
            self._theirs.append((theirs, True))
            return open(ours, mode, encoding="utf-8") if text else open(ours, f"{mode}b")
        else:
            handle = wanted if isinstance(wanted, int) else wanted.fileno()
            self._theirs.append((handle, False))
        return None

    def communicate(self, given=None, timeout=SECONDS):
        """Write, read to the end and wait. A process that takes too long is killed."""
        is_late = threading.Event()
        watch = threading.Timer(timeout, lambda: (is_late.set(), self.kill()))
        watch.start()
        try:
            with ThreadPoolExecutor(max_workers=3) as pool:
                pool.submit(self._write, given)
                reading = [pool.submit(_whole, stream) for stream in (self.stdout, self.stderr)]
                output, errors = (task.result() for task in reading)
            self.wait()
        finally:
            watch.cancel()
        if is_late.is_set():
            raise TimeoutExpired(self.args, timeout, output, errors)
        return output, errors

    def _write(self, given):
        if self.stdin is not None:
            with suppress(BrokenPipeError), self.stdin:
                if given:
                    self.stdin.write(given)

    def wait(self, timeout=SECONDS):
        if self.returncode is None:
            if not select.select([self._channel], [], [], timeout)[0]:
                raise TimeoutExpired(self.args, timeout)
            self.returncode = int(self._reports.readline())
            self._reports.close()
            self._channel.close()
        return self.returncode

    def send_signal(self, number):
        if self.returncode is None:
            with suppress(ProcessLookupError):
                os.kill(self.pid, number)

    def kill(self):
        self.send_signal(signal.SIGKILL)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for stream in (self.stdin, self.stdout, self.stderr):
            if stream is not None:
                stream.close()
        self.wait()


def _abandon(pid, channel, *streams):
    """End a process that nobody waited for, and close what belongs to it."""
    has_ended = channel.fileno() < 0 or select.select([channel], [], [], 0)[0]
    if not has_ended:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    for stream in (channel, *streams):
        if stream is not None:
            with suppress(OSError):
                stream.close()


def _whole(stream):
    if stream is None:
        return None
    with stream:
        return stream.read()


def run(command, *, input=None, timeout=SECONDS, capture_output=False, **options):  # noqa: A002
    """`subprocess.run`, for a command that begins with `sys.executable`."""
    if input is not None:
        options["stdin"] = PIPE
    if capture_output:
        options |= {"stdout": PIPE, "stderr": PIPE}
    process = Process(command, **options)
    output, errors = process.communicate(input, timeout)
    return CompletedProcess(process.args, process.returncode, output, errors)


def relayed(command):
    """The command for a program that starts it by itself; it begins with `sys.executable` too."""
    interpreter, *arguments = map(os.fspath, command)
    assert interpreter == sys.executable
    _server()
    return [interpreter, "-I", "-S", str(RELAY), _name(), *arguments]


def _name():
    names = (os.environ.get(name) for name in (RUN, "PYTEST_XDIST_TESTRUNUID"))
    run = next(filter(None, names), f"process {os.getpid()}")
    return f"forks for {run}"


@cache
def _server():
    """One for all workers of a test run, started by the first that needs it."""
    # A name that no file has: it is free again when the server has ended.
    address = f"\0{_name()}"
    with only_one():
        with socket.socket(socket.AF_UNIX) as listening:
            try:
                listening.bind(address)
            except OSError:
                """Another worker has started it."""
            else:
                listening.listen()
                atexit.register(_start(listening.fileno()).wait)
        ours = socket.socket(socket.AF_UNIX)
        ours.connect(address)
    # Last registered, first called: without it the server would wait for this worker, and it for
    # the server.
    atexit.register(ours.close)
    return ours


def _start(listening):
    return subprocess.Popen(
        # -P: no module of this folder may hide one of the same name elsewhere.
        [sys.executable, "-P", SERVER, str(listening)],
        pass_fds=[listening],
        # What the first test has set is not for all.
        env={k: v for k, v in os.environ.items() if not k.startswith("ORACLE_")},
        start_new_session=True,
    )
