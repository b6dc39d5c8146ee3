"""Recorded runs as commands know them: how one is named, and how it is read."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Annotated

import typer

from oracle.cli.completing import runs_beginning

if TYPE_CHECKING:
    from oracle.bt.wrappers.decisions.recording import Recording
    from oracle.services.storage.database import Database

RunArgument = Annotated[
    str,
    typer.Argument(
        metavar="RUN",
        help="The run's id, a unique start of it, or last.",
        autocompletion=runs_beginning,
    ),
]


def silence_the_engine() -> None:
    """A replay that reaches the end of its record is reported by the command, in one line."""
    logging.getLogger("oracle.bt.core.runtime").setLevel(logging.CRITICAL)


async def recording_in(database: Database, typed: str, project: str | None) -> Recording:
    from oracle.bt.wrappers.decisions.playing import recorded
    from oracle.bt.wrappers.run_store import RunStore
    from oracle.services.storage.naming import Naming

    run = await Naming(database, project).run(typed)
    return await recorded(*await RunStore(database).record_of(run.id))
