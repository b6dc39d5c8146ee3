"""What commands print: tables, JSON, a progress bar, and text that is safe for a terminal."""

from __future__ import annotations

import json
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

import typer

from oracle.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Generator

    from rich.console import RenderableType

    from oracle.services.search.records import Progress, ProgressListener

WIDTH_OF_A_PIPE: Final = 1_000


def show(renderable: RenderableType) -> None:
    """Draw on stdout: styled and cut to the width on a terminal, plain and whole in a pipe."""
    from rich.console import Console

    console = Console(highlight=False, markup=False, emoji=False)
    if not console.is_terminal:
        console.width = WIDTH_OF_A_PIPE
    # Captured, because rich pads lines, and raises for characters that stdout cannot encode.
    with console.capture() as capture:
        console.print(renderable)
    drawn = "\n".join(line.rstrip() for line in capture.get().splitlines())
    print(drawn.encode(console.encoding, "replace").decode(console.encoding))


def show_json(value: Any) -> None:
    print(json.dumps(value, indent=2))


@contextmanager
def indexing_bar() -> Generator[ProgressListener | None]:
    """The progress of indexing as a bar on stderr, erased at the end; None if not a terminal."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich import progress as rich
    from rich.console import Console

    columns = (rich.TextColumn("indexing"), rich.BarColumn(), rich.MofNCompleteColumn())
    bar = rich.Progress(*columns, console=Console(stderr=True), transient=True)
    task = bar.add_task("indexing", total=None)

    def listen(step: Progress) -> None:
        # Started by the first step: an index that is up to date shows no bar.
        bar.start()
        bar.update(task, completed=step.done, total=step.total)

    try:
        yield listen
    finally:
        bar.stop()


def rebuilt(reason: str) -> str:
    return f"the index was rebuilt: {printable(reason)}"


def printable(text: str) -> str:
    """The text on one line, without characters that could control the terminal.

    Models, files and file names are not trusted to leave the terminal alone.
    """
    return "".join(letter for letter in " ".join(text.split()) if letter.isprintable())


def confirm(question: str, *, yes: bool) -> None:
    """Continue only with a yes, from `--yes` or from the person at the terminal."""
    if yes:
        return
    if not sys.stdin.isatty():
        raise InputError("this needs a confirmation; give --yes to delete without being asked")
    typer.confirm(question, abort=True, err=True)


def counted(number: int, noun: str) -> str:
    """`1 file`, `2 files`."""
    return f"1 {noun}" if number == 1 else f"{number} {noun}s"
