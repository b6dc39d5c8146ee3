"""`oracle purge`: forget what is old."""

from __future__ import annotations

import time
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from oracle.cli.terminal.durations import seconds_of
from oracle.cli.terminal.terminal import confirm, counted, show_json

if TYPE_CHECKING:
    from oracle.services.storage.purge import Forgotten


def purge(
    older_than: Annotated[
        str, typer.Option(metavar="SPAN", help="Hours, days or weeks: 12h, 30d, 2w.")
    ],
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print JSON, for programs.")] = False,
) -> None:
    """Forget sessions, runs and events that are older than a span of time, for good."""
    before = time.time() - seconds_of(older_than)
    from oracle.cli.store import with_database
    from oracle.services.storage.purge import forget

    if not yes:
        would_go = with_database(lambda database: forget(database, before=before, pretend=True))
        confirm(f"Forget {summary(would_go)} for good?", yes=yes)
    gone = with_database(lambda database: forget(database, before=before))
    if json:
        show_json(asdict(gone))
    else:
        print(f"forgot {summary(gone)}")


def summary(forgotten: Forgotten) -> str:
    counts = [counted(number, noun[:-1]) for noun, number in asdict(forgotten).items()]
    return f"{', '.join(counts[:-1])} and {counts[-1]}"
