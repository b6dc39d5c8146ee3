"""`oracle worker` and `oracle workers`: answer the questions of front ends, and see who does."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Annotated, Any

import typer

from oracle.cli.options import JsonOption
from oracle.cli.project import settings_with, with_database
from oracle.cli.terminal.output import say, show_json
from oracle.cli.terminal.tables import Column, show_table

if TYPE_CHECKING:
    from oracle.services.dispatch.workers import WorkerRow
    from oracle.settings import Settings

MOST_RUNS = 8


def worker(
    concurrency: Annotated[
        int,
        typer.Option("--concurrency", "-c", min=1, metavar="N", help="Runs worked on at once."),
    ] = MOST_RUNS,
    model: Annotated[str | None, typer.Option("--model", "-m", help="Ask this model.")] = None,
    drain: Annotated[
        float,
        typer.Option(
            "--drain",
            min=0,
            metavar="SECONDS",
            help="How long runs may go on after a signal to stop. A run is handed over to another "
            "worker when one of its turns ends, or when the time is over.",
        ),
    ] = 20.0,
) -> None:
    """Answer the questions that `oracle serve --workers 0` takes.

    Any number of workers may share a PostgreSQL database, on any machines. Each needs the files of
    the project and the same settings. If a worker dies, another one goes on with its runs.

    Examples:
      oracle worker
      oracle worker --concurrency 16 --drain 60
    """
    from oracle.services.background import run_async

    run_async(_work(settings_with({"model.name": model}), concurrency, drain), _new_loop())


def _new_loop() -> Any:
    try:
        import uvloop
    except ImportError:
        # It comes with the extra for the server, and only saves time.
        return None
    return uvloop.new_event_loop


async def _work(settings: Settings, concurrency: int, drain: float) -> None:
    import asyncio
    import signal

    from oracle.api.workers.opening import opened_worker
    from oracle.services.project.root import here

    root = settings.root or here()
    async with opened_worker(settings, root, most_runs=concurrency) as working:
        loop, draining = asyncio.get_running_loop(), set[asyncio.Task[None]]()

        def stop() -> None:
            # A second signal hands everything over at once.
            seconds = 0.0 if draining else drain
            draining.add(loop.create_task(working.drain(seconds)))

        for each in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(each, stop)
        say(f"worker {working.id} is ready (stop with Ctrl-C)")
        await working.work()
        await asyncio.wait(draining)


def workers(json: JsonOption = False) -> None:
    """List the workers, and what each of them works on.

    Examples:
      oracle workers
      oracle workers --json
    """
    from dataclasses import asdict

    from oracle.services.dispatch.workers import Workers

    found = with_database(lambda database: Workers(database).all())
    if json:
        show_json([asdict(each) for each in found])
        return
    if not found:
        say("there are no workers; `oracle worker` starts one")
        return
    columns = tuple(map(Column, ("WORKER", "STATE", "RUNS", "OF", "PROJECT", "VERSION", "SEEN")))
    show_table(columns, map(_row, found))


def _row(row: WorkerRow) -> list[str]:
    return [
        row.id,
        row.state if row.is_alive else "dead",
        " ".join(run_id[:8] for run_id in row.run_ids) or "none",
        str(row.concurrency),
        row.project or "",
        row.version,
        f"{max(0, time.time() - row.seen_at):.0f} s ago",
    ]
