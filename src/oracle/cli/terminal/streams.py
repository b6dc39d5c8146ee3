"""The standard streams of a command: all text on them is safe, and a failing one does no harm.

`guard_streams` replaces `sys.stdout` and `sys.stderr`. From then on no command, library or
traceback can print a control character. Only `SafeConsole`, which cleans each piece of text before
it adds styles, writes to the stream below.
"""

from __future__ import annotations

import errno
import importlib
import io
import os
import select
import stat
import sys
from collections.abc import Iterable
from types import ModuleType
from typing import TYPE_CHECKING, Any, Final, TextIO, cast

import typer

from oracle.cli.terminal.safe_text import safe_text
from oracle.cli.terminal.terminal_state import STATE

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

STDIN: Final = 0
STDOUT: Final = 1
STDERR: Final = 2


class SafeStream:
    """A text stream that makes everything safe. `styled` is the stream below."""

    def __init__(self, styled: TextIO, replaced: TextIO | None = None) -> None:
        self.styled = styled
        # Kept, because a stream that is not used any more closes its descriptor.
        self._replaced = replaced

    def write(self, text: str) -> int:
        self.styled.write(safe_text(text))
        return len(text)

    def writelines(self, lines: Iterable[str]) -> None:
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        # Bytes would go around `write`. click looks for the buffer if the encoding is ASCII.
        if name in ("buffer", "detach"):
            raise AttributeError(name)
        return getattr(self.styled, name)


def terminal_file(stream: Any) -> Any:
    """The stream for a library that draws by itself, and shows control characters as `^X`."""
    return getattr(stream, "styled", stream)


class _OptionalFile(io.FileIO):
    """A file in which a failure to write only silences the stream."""

    def write(self, data: ReadableBuffer, /) -> int:
        try:
            return super().write(data)
        except OSError:
            return memoryview(data).nbytes


class _Text(io.TextIOWrapper):
    """Waits where another program that shares the pipe made it non-blocking, and it is full."""

    def write(self, text: str, /) -> int:
        erase_starting()
        # Asked each time, because the other program may do so at any time.
        if not self.closed and not os.get_blocking(self.fileno()):
            os.set_blocking(self.fileno(), True)
        return super().write(text)


_is_starting = False


def show_starting() -> None:
    """Show at once that something goes on: what draws the status line takes time to import.

    Whatever is written next, to stdout or stderr, erases it. Until something else is drawn or
    asked, keys are not echoed: they would stay on the screen beside it.
    """
    global _is_starting
    if sys.stderr.isatty() and os.environ.get("TERM", "dumb") != "dumb":
        is_unicode = sys.stderr.encoding.lower().startswith("utf")
        # Imported here: only a terminal needs it.
        from oracle.cli.terminal.interrupts import leave_well

        leave_well()
        STATE.hide_keys()
        sys.stderr.write("⠋ starting…" if is_unicode else "starting...")
        sys.stderr.flush()
        _is_starting = True


def erase_starting() -> None:
    global _is_starting
    if _is_starting:
        _is_starting = False
        os.write(STDERR, b"\r\x1b[K")


def guard_streams() -> None:
    """Replace the standard streams. To be called before any file is opened."""
    _fill_closed_descriptors()
    if sys.stdin is None:
        sys.stdin = open(STDIN)  # noqa: SIM115
    sys.stdout = _guarded(STDOUT, sys.stdout, optional=False)
    # An answer must not be lost because its progress cannot be shown.
    sys.stderr = _guarded(STDERR, sys.stderr, optional=True)
    _drop_unusable_sizes()
    _guard_typer()


def _fill_closed_descriptors() -> None:
    """Open something harmless where the shell closed a stream (`>&-`).

    Otherwise the next file to be opened, such as the database, would become that stream.
    """
    for number in (STDIN, STDOUT, STDERR):
        try:
            os.fstat(number)
        except OSError as problem:
            if problem.errno != errno.EBADF:
                raise
            # Opened for reading only: writing an answer to a closed stdout must fail.
            os.open(os.devnull, os.O_RDONLY)


def _guarded(number: int, like: TextIO | None, *, optional: bool) -> TextIO:
    # The answer is not written by Python code: a Ctrl-C right after the write would raise there,
    # and the buffer would write the same text once more.
    file = (_OptionalFile if optional else io.FileIO)(number, "wb", closefd=False)
    text = _Text(
        io.BufferedWriter(file),
        encoding=getattr(like, "encoding", None) or "utf-8",
        # A character that the encoding lacks is printed as its escape, not an error.
        errors="backslashreplace",
        line_buffering=getattr(like, "line_buffering", True),
        write_through=getattr(like, "write_through", False),
    )
    return cast("TextIO", SafeStream(text, replaced=like))


def check_reader() -> None:
    """Raise `BrokenPipeError` if the reader of stdout has closed the pipe.

    Writing would raise it too, but the next text may come late or never.
    """
    try:
        descriptor = sys.stdout.fileno()
        if not stat.S_ISFIFO(os.fstat(descriptor).st_mode):
            return
    except (OSError, ValueError):  # it has no descriptor, as in a test
        return
    poller = select.poll()
    poller.register(descriptor, 0)
    if any(state & select.POLLERR for _, state in poller.poll(0)):
        raise BrokenPipeError


def keep_stdout() -> None:
    """From now on only `sys.stdout` leads to stdout. Its descriptor leads to stderr.

    Own code may start programs that write to the descriptor, and stdout is for the answer only.
    """
    if sys.stdout.fileno() != STDOUT:
        return
    sys.stdout.flush()
    real = os.dup(STDOUT)
    os.dup2(STDERR, STDOUT)
    sys.stdout = _guarded(real, sys.stdout, optional=False)


def keep_stdin() -> None:
    """From now on only `sys.stdin` leads to a pipe or file on stdin. Its descriptor is empty.

    Own code may start programs that read, and the lines are the user's questions. To be called
    before anything is read. A terminal stays: an editor that the user opens needs it.
    """
    try:
        if sys.stdin.isatty() or sys.stdin.fileno() != STDIN:
            return
    except (OSError, ValueError):  # it has no descriptor, as in a test
        return
    like, real = sys.stdin, os.dup(STDIN)
    empty = os.open(os.devnull, os.O_RDONLY)
    os.dup2(empty, STDIN)
    os.close(empty)
    sys.stdin = open(real, encoding=like.encoding, errors=like.errors)  # noqa: SIM115


def _drop_unusable_sizes() -> None:
    """rich and typer read the size of the terminal from variables, and fail on odd values."""
    for name in ("COLUMNS", "LINES", "TERMINAL_WIDTH"):
        value = os.environ.get(name, "1")
        is_number = value.isascii() and value.isdecimal() and len(value) < 5
        if not is_number or int(value) == 0:
            del os.environ[name]


def _guard_typer() -> None:
    """Make typer draw help and usage errors on safe consoles.

    Without this they would be safe too, but without colours: `SafeStream` removes them.
    """

    def rich_utils(name: str) -> Any:
        if name != "rich_utils":
            raise AttributeError(f"module 'typer' has no attribute {name!r}")
        from oracle.cli.terminal.console import SafeConsole

        module = _help_of_typer()
        module.__dict__["Console"] = SafeConsole
        return module

    if "typer.rich_utils" in sys.modules:
        rich_utils("rich_utils")
    else:
        # typer imports it when it draws. rich takes too long to import for every command.
        typer.__dict__["__getattr__"] = rich_utils


def _help_of_typer() -> ModuleType:
    """Import `typer.rich_utils` without Markdown and tracebacks, a third of its cost.

    Help has no Markdown here, and typer draws no tracebacks (`pretty_exceptions_enable`).
    """
    unused = {"rich.markdown": "Markdown", "rich.traceback": "Traceback"}
    stand_ins = {name: ModuleType(name) for name in unused if name not in sys.modules}
    for name, stand_in in stand_ins.items():
        setattr(stand_in, unused[name], type(unused[name], (), {}))
    sys.modules.update(stand_ins)
    try:
        return importlib.import_module("typer.rich_utils")
    finally:
        # Who needs the real modules must get them.
        for name in stand_ins:
            del sys.modules[name]
