"""The real command in a process of its own: on pipes, and on a pseudo-terminal."""

import asyncio
import codecs
import fcntl
import os
import pty
import re
import select
import struct
import termios
import threading
import time
from contextlib import contextmanager

from oracle.testing import signal
from oracle.testing.servers import Reply, ScriptedServer, openai
from tests.processes import DEVNULL, ORACLE, PIPE, SECONDS, Process, run

STYLES = re.compile(r"\x1b\[[0-9;?]*[a-zA-Z]")
QUESTION = "When does a session expire in session.py?"
SOURCE = "MAX_IDLE = 1800  # a session expires after this\n"


def make_project(folder):
    (folder / "oracle.toml").touch()
    (folder / "session.py").write_text(SOURCE)
    return folder


def says(*pieces, type_="context_sufficient", calls=(), **fields):
    """A model's response: text, tool calls, a signal."""
    fields = fields or {"sources_found": 1}
    blocks = [openai.tool_call(f"c{n}", name, given) for n, (name, given) in enumerate(calls)]
    return Reply(body=openai.stream(openai.text(*pieces, signal(type_, **fields)), *blocks))


def searches(*pieces):
    calls = [("search_code", '{"query": "session expires"}')]
    return says(*pieces, type_="need_turn", reason="find the place", calls=calls)


@contextmanager
def model_serving(*replies):
    """A scripted model for other processes: yields the variables that name it, and the server."""
    loop = asyncio.new_event_loop()
    server = ScriptedServer(*replies)
    thread = threading.Thread(target=loop.run_forever)
    thread.start()

    def do(work):
        return asyncio.run_coroutine_threadsafe(work, loop).result(SECONDS)

    try:
        do(server.__aenter__())
        address = f"{server.url}/v1"
        yield {"ORACLE_MODEL_NAME": "openai:test", "ORACLE_MODEL_BASE_URL": address}, server
        do(server.__aexit__(None, None, None))
        # A request too many is answered with an error, and the process would try again for seconds.
        assert len(server.requests) <= len(replies), f"asked {len(server.requests)} times"
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


def oracle(*arguments, stdin=DEVNULL, env=None, **options):
    """On pipes; `stdin` is bytes or something open."""
    given = {"input": stdin} if isinstance(stdin, bytes) else {"stdin": stdin}
    options = {"stdout": PIPE, "stderr": PIPE, **options}
    return run([*ORACLE, *arguments], env={**os.environ, **(env or {})}, **given, **options)


class Terminal:
    """A process whose stdin, stdout and stderr are a terminal. `shown` is all that it wrote."""

    def __init__(self, *arguments, columns=80, env=None, **options):
        self._ours, theirs = pty.openpty()
        fcntl.ioctl(self._ours, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        plain = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "COLUMNS", "LINES")}
        env = {**plain, "TERM": "xterm-256color", **(env or {})}
        streams = {"stdin": theirs, "stdout": theirs, "stderr": theirs, **options}
        self._process = Process([*ORACLE, *arguments], env=env, owns_terminal=True, **streams)
        os.close(theirs)
        self._decode = codecs.getincrementaldecoder("utf-8")("replace").decode
        self.raw = ""
        self._at = 0

    @property
    def shown(self):
        return STYLES.sub("", self.raw).replace("\r", "")

    def until(self, text):
        """Read on until it shows `text`, behind what was waited for before."""
        assert self.reaches(text), self.shown
        return self

    def reaches(self, text):
        """Whether it shows `text` before it ends."""
        deadline = time.monotonic() + SECONDS
        while (found := self.shown.find(text, self._at)) < 0:
            assert time.monotonic() < deadline, self.shown
            if not self._read():
                return False
        self._at = found + len(text)
        return True

    def type(self, keys):
        os.write(self._ours, keys.encode())
        return self

    def insist(self, keys):
        """Type until something happens: a signal between a prompt and the wait behind it is seen
        only with the next key.
        """
        self.type(keys)
        while not select.select([self._ours], [], [], 1.0)[0]:
            self.type(keys)
        return self

    @property
    def descriptor(self):
        return self._ours

    @property
    def pid(self):
        return self._process.pid

    def until_keys_are_signals(self):
        """Wait until Ctrl-C is a signal again, and not a key that an editor reads."""
        deadline = time.monotonic() + SECONDS
        while not termios.tcgetattr(self._ours)[3] & termios.ISIG:
            assert time.monotonic() < deadline, self.shown
            time.sleep(0.01)
        return self

    def read_all(self):
        while self._read():
            pass

    def leave(self):
        """Type Ctrl-D until it ends, for an editor. One that comes while none reads is lost."""
        self.type("\x04")
        while True:
            if not select.select([self._ours], [], [], 1.0)[0]:
                self.type("\x04")
            elif not self._read():
                return self.end()

    def end(self):
        """Read to the end, and answer the exit code. `output` is what went to a pipe instead."""
        self.read_all()
        os.close(self._ours)
        self.output, _ = self._process.communicate(timeout=SECONDS)
        return self._process.returncode

    def _read(self):
        ready, _, _ = select.select([self._ours], [], [], SECONDS)
        assert ready, f"silent for {SECONDS} s: {self.shown}"
        try:
            piece = os.read(self._ours, 65_536)
        except OSError:
            return False
        self.raw += self._decode(piece)
        return bool(piece)
