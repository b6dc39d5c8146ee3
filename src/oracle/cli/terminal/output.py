"""What commands print: tables, JSON, a progress bar, and questions."""

from __future__ import annotations

import os
import sys
import traceback
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import typer

from oracle.cli.terminal.safe_text import printable
from oracle.errors import InputError, OracleError, SettingsError

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence

    from rich.console import RenderableType

    from oracle.services.search.records import Progress, ProgressListener

WIDTH_OF_A_PIPE: Final = 1_000
_LONGEST_BUG: Final = 300


def show(renderable: RenderableType, *, wraps: bool = True) -> None:
    """Draw on stdout: styled and cut to the width on a terminal, plain and whole in a pipe."""
    from oracle.cli.terminal.console import console_on, drawn

    console = console_on(sys.stdout)
    if not console.is_terminal:
        console.width = WIDTH_OF_A_PIPE
    print(drawn(console, renderable, wraps=wraps), file=console.file)


def show_sentence(text: str) -> None:
    """A line on stdout that says what was done; at a terminal it is broken between words."""
    from oracle.cli.terminal.tables import shown_width, wrapped

    for line in wrapped(text, shown_width()):
        print(line, flush=True)


def show_json(value: Any) -> None:
    import json

    print(json.dumps(value, indent=2))


@contextmanager
def indexing_bar() -> Generator[ProgressListener | None]:
    """The progress of indexing as a bar on stderr, erased at the end; None if not a terminal."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich import progress as rich

    from oracle.cli.terminal.console import console_on

    columns = (rich.TextColumn("indexing"), rich.BarColumn(), rich.MofNCompleteColumn())
    bar = rich.Progress(*columns, console=console_on(sys.stderr), transient=True)
    task = bar.add_task("indexing", total=None)

    def listen(step: Progress) -> None:
        # Started by the first step: an index that is up to date shows no bar.
        bar.start()
        bar.update(task, completed=step.done, total=step.total)

    try:
        yield listen
    finally:
        bar.stop()


def say_nothing_yet(what: str, project: str | None = None) -> None:
    """Say on stderr that a list is empty, and how to get the first entry."""
    from oracle.services.storage.naming import nothing_yet

    say(f"no {nothing_yet(what, project)}")


def more_than(limit: int, found: Sequence[object]) -> None:
    """At a terminal, say that a list has more entries than were shown."""
    if len(found) > limit and sys.stdout.isatty():
        say(f"first {limit}; -n {limit * 5} lists more")


def shown_error(error: OracleError) -> str:
    """The message on one line; of wrong settings, a line for each mistake."""
    lines = str(error).splitlines() if isinstance(error, SettingsError) else [str(error)]
    return "\n".join(map(printable, lines))


def shown_bug(error: Exception) -> str:
    """A mistake of ours on one line: what it was, and where."""
    frames = traceback.extract_tb(error.__traceback__)
    place = f" ({Path(frames[-1].filename).name}:{frames[-1].lineno})" if frames else ""
    text = printable(f"{type(error).__name__}: {error}")[:_LONGEST_BUG]
    return f"internal error: {text}{place}; please report it (PYTHONDEVMODE=1 shows the traceback)"


def show_traceback(error: Exception) -> None:
    """For developers only, who ask for it as the message about a bug says."""
    # Not only the flag: the script of an installed command may tell Python to ignore variables.
    if sys.flags.dev_mode or os.environ.get("PYTHONDEVMODE", "0") not in ("", "0"):
        traceback.print_exception(error, file=sys.stderr)


def rebuilt(reason: str) -> str:
    return f"the index was rebuilt: {printable(reason)}"


def confirm(question: str, *, yes: bool) -> None:
    """Continue only with a yes, from `--yes` or from the person at the terminal."""
    if yes:
        return
    from oracle.cli.terminal.approval import can_ask_a_person, says_yes

    if not (sys.stdin.isatty() and can_ask_a_person()):
        raise InputError("this needs a confirmation; give --yes to delete without being asked")
    try:
        is_yes = says_yes(printable(question))
    except KeyboardInterrupt:
        raise typer.Abort from None
    if not is_yes:
        raise typer.Abort


def say(text: str) -> None:
    """A message on stderr; at a terminal its lines end between words."""
    from oracle.cli.terminal.tables import wrapped

    prefix = "oracle: "
    for paragraph in text.splitlines() or [""]:
        for line in wrapped(paragraph, width_of_stderr(), first=prefix):
            print(line, file=sys.stderr)
        prefix = ""
    sys.stderr.flush()


def width_of_stderr() -> int | None:
    """None if it is not a terminal: what reads it there wants whole lines."""
    import shutil

    return shutil.get_terminal_size().columns if sys.stderr.isatty() else None


def counted(number: int, noun: str) -> str:
    """`1 file`, `2 files`."""
    return f"1 {noun}" if number == 1 else f"{number} {noun}s"
