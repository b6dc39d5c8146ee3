"""`oracle queue`: the runs that wait or are worked on."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Annotated, Any

import typer

from oracle.cli.lazy_commands import ListingGroup
from oracle.cli.options import JsonOption
from oracle.cli.project import project_listed, settings_with, with_database
from oracle.cli.terminal.output import say, show_json
from oracle.cli.terminal.tables import Column, show_table

if TYPE_CHECKING:
    from oracle.services.dispatch.protocol import Dispatcher
    from oracle.services.dispatch.queue import QueuedRun
    from oracle.services.storage.database import Database

app = typer.Typer(
    help="List the runs that wait or are worked on; retry, cancel or raise one.", cls=ListingGroup
)

RunArgument = Annotated[str, typer.Argument(metavar="RUN", help="Its id, or the beginning of it.")]


@app.command("list")
def list_(json: JsonOption = False) -> None:
    """List the runs of the project that are not done, oldest first.

    A run is waiting, running, or stuck: nobody could begin or resume it, three times in a row.
    """
    from oracle.services.dispatch.queue import Queue

    project = project_listed(False)
    found = with_database(lambda database: Queue(database, project).entries())
    if json:
        show_json([_data(entry) for entry in found])
        return
    if not found:
        say("no run waits for a worker, and none is worked on")
        return
    columns = tuple(map(Column, ("RUN", "STATE", "FOR", "HOLDER", "QUESTION", "PROBLEM")))
    show_table(columns, map(_row, found))


@app.command()
def retry(run: RunArgument) -> None:
    """Let a worker try a run again that is stuck."""
    from oracle.services.dispatch import control

    async def work(database: Database, dispatcher: Dispatcher) -> str:
        found = await _run(database, run)
        await control.retry(database, dispatcher, found)
        return found.id

    say(f"run {_with_queue(work)} waits for a worker again")


@app.command()
def cancel(run: RunArgument) -> None:
    """End a run, wherever it is worked on. It still ends with an answer from what it has."""
    from oracle.errors import InputError
    from oracle.services.dispatch import control

    async def work(database: Database, dispatcher: Dispatcher) -> str:
        found = await _run(database, run)
        if found.status == "done":
            raise InputError(f"run {found.id} has ended; `oracle run show {found.id}` says how")
        await control.cancel(database, dispatcher, found, "cancelled with `oracle queue cancel`")
        return found.id

    say(f"run {_with_queue(work)} is being cancelled")


@app.command("raise")
def raise_(
    run: RunArgument,
    turns: Annotated[
        int | None, typer.Option("--turns", metavar="N", help="Model requests.")
    ] = None,
    tokens: Annotated[int | None, typer.Option("--tokens", metavar="N", help="Tokens.")] = None,
    money: Annotated[float | None, typer.Option("--money", metavar="N", help="Cost.")] = None,
    seconds: Annotated[
        float | None, typer.Option("--seconds", metavar="N", help="Seconds since it began.")
    ] = None,
) -> None:
    """Let a run that is under way use more: in all, not in addition.

    A limit is never made smaller. What the run may cost is taken from the budgets at once.

    Examples:
      oracle queue raise 1a2b3c4d --money 2 --seconds 900
    """
    from oracle.bt.wrappers.spending import checked_raise
    from oracle.errors import InputError
    from oracle.services.dispatch import control
    from oracle.services.storage.budgets import budgets_from
    from oracle.services.storage.users import EVERYBODY

    given = {"turns": turns, "tokens": tokens, "money": money, "seconds": seconds}
    wanted = checked_raise(given)
    budgets = budgets_from(settings_with().spend)

    async def work(database: Database) -> str:
        everybody = database.seen_by(EVERYBODY)
        found = await _run(everybody, run)
        if found.status == "done":
            raise InputError(f"run {found.id} has ended; `oracle run show {found.id}` says how")
        await control.raise_limits(everybody, found, wanted, budgets)
        return found.id

    limits = ", ".join(f"{value:,} {name}" for name, value in wanted.items())
    say(f"run {with_database(work)} may use {limits}")


async def _run(database: Database, typed: str) -> Any:
    from oracle.services.storage.runs import Runs
    from oracle.services.storage.users import EVERYBODY

    return await Runs(database.seen_by(EVERYBODY)).get(typed)


def _with_queue(work: Any) -> str:
    from oracle.services.dispatch.opening import open_dispatcher
    from oracle.services.storage.users import EVERYBODY

    project = project_listed(False)

    async def run(database: Database) -> str:
        everybody = database.seen_by(EVERYBODY)
        async with open_dispatcher(everybody, project) as dispatcher:
            return await work(everybody, dispatcher)

    return with_database(run)


def _data(entry: QueuedRun) -> dict[str, Any]:
    run = entry.run
    return {
        "run_id": run.id,
        "state": entry.state,
        "since": run.started_at,
        "holder": run.lease_owner,
        "user_id": run.user_id,
        "question": run.question,
        "failures": entry.failures,
        "problem": entry.problem or None,
    }


def _row(entry: QueuedRun) -> list[str]:
    run = entry.run
    return [
        run.id[:8],
        entry.state,
        f"{max(0, time.time() - run.started_at):.0f} s",
        run.lease_owner if entry.state == "running" and run.lease_owner else "",
        run.question,
        entry.problem,
    ]
