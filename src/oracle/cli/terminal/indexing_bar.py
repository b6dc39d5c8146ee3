"""The progress of indexing as a bar that is erased at the end, and the message of a rebuild."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from oracle.cli.terminal.terminal import printable

if TYPE_CHECKING:
    from collections.abc import Generator
    from contextlib import AbstractContextManager

    from oracle.services.search.records import ProgressListener


def rebuilt(reason: str) -> str:
    return f"the index was built anew: {printable(reason)}"


def bar() -> AbstractContextManager[ProgressListener | None]:
    """On stderr, and only if that is a terminal."""
    from contextlib import nullcontext

    return _drawn_bar() if sys.stderr.isatty() else nullcontext()


def _drawn_bar() -> AbstractContextManager[ProgressListener]:
    from contextlib import contextmanager

    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    from oracle.services.search.records import Progress as Step

    @contextmanager
    def drawn() -> Generator[ProgressListener]:
        columns = (TextColumn("indexing"), BarColumn(), MofNCompleteColumn())
        bar = Progress(*columns, console=Console(stderr=True), transient=True)
        task = bar.add_task("indexing", total=None)

        def listen(step: Step) -> None:
            bar.start()
            bar.update(task, completed=step.done, total=step.total)

        try:
            yield listen
        finally:
            bar.stop()

    return drawn()
