"""`oracle runs`, `oracle run` and `oracle replay`: list, show, resume and replay runs."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from oracle.cli.options import (
    AllProjectsOption,
    ChunksOption,
    DryRunOption,
    JsonOption,
    LeavesOption,
    QuietOption,
    TraceOption,
    VerboseOption,
    YesOption,
    ask_options,
    settings_for,
)
from oracle.cli.project import import_leaves, project_listed, with_database
from oracle.cli.terminal.output import counted, show, show_json, table
from oracle.cli.terminal.safe_text import printable
from oracle.cli.terminal.times import shown_time

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.table import Table

    from oracle.bt.state.base import RunStatus
    from oracle.cli.terminal.screen import AskOptions
    from oracle.models.session import StoredRun
    from oracle.services.journal import Record
    from oracle.services.storage.database import Database
    from oracle.settings import Settings

app = typer.Typer(help="Show a run, or resume one.", no_args_is_help=True)

RunArgument = Annotated[
    str, typer.Argument(metavar="RUN", help="The run's id, or a unique start of it.")
]


def runs(
    limit: Annotated[int, typer.Option(min=1, help="Maximum number to list.")] = 20,
    json: JsonOption = False,
    all_: AllProjectsOption = False,
) -> None:
    """List the runs of this project, newest first."""
    from oracle.services.storage.runs import Runs

    project = project_listed(all_)
    found = with_database(lambda database: Runs(database).newest(limit, project=project))
    if json:
        show_json([asdict(run) for run in found])
    elif found:
        show(run_table(found))
    else:
        typer.echo("no runs yet", err=True)


@app.command("show")
def show_(run: RunArgument, json: JsonOption = False) -> None:
    """Show what a run recorded, turn by turn, with the path of each node."""
    from oracle.bt.wrappers.run_store import RunStore

    records, _ = with_database(lambda database: RunStore(database).record_of(run))
    if json:
        show_json([asdict(record) for record in records])
    else:
        typer.echo("\n".join(record_lines(records)) or "nothing was recorded")


@app.command()
def resume(
    run: RunArgument,
    json: ChunksOption = False,
    trace: TraceOption = False,
    dry_run: DryRunOption = False,
    yes: YesOption = False,
    quiet: QuietOption = False,
    verbose: VerboseOption = 0,
    leaves: LeavesOption = None,
) -> None:
    """Resume a run whose process died.

    What the run has already done is read from its record and not done again.
    """
    from oracle.bt.wrappers.recipe import TREE
    from oracle.services.background import run_async
    from oracle.services.storage.runs import Runs

    import_leaves(leaves or [])
    settings = settings_for()
    options = ask_options(
        json=json, trace=trace, dry_run=dry_run, yes=yes, quiet=quiet, verbose=verbose
    )
    found = with_database(lambda database: Runs(database).get(run))
    if found.tree != TREE:
        typer.echo(run_async(_resume_other_tree(settings, found.id)))
    elif code := run_async(_resume(settings, options, found.id)):
        raise typer.Exit(code)


def replay(
    run: RunArgument,
    trace: Annotated[
        bool, typer.Option("--trace", help="Print each status change in the tree.")
    ] = False,
    leaves: LeavesOption = None,
) -> None:
    """Replay a recorded run and check that it ends the same way.

    Everything is read from the record: no model is asked, no tool runs, nothing is written.

    Examples:
      oracle runs                   list the runs with their ids
      oracle replay 3f9a
      oracle replay 3f9a --trace
    """

    import_leaves(leaves or [])
    verdict, same = with_database(lambda database: _replayed(database, run, trace))
    typer.echo(verdict)
    if not same:
        raise typer.Exit(1)


async def _resume(settings: Settings, options: AskOptions, run_id: str) -> int:
    from oracle.cli.terminal.conversation import open_conversation

    async with open_conversation(settings, options) as conversation:
        return await conversation.resume(run_id)


async def _resume_other_tree(settings: Settings, run_id: str) -> str:
    """Only the agent's tree answers a question. For any other tree, print how the run ended."""
    from oracle.bt.wrappers.run_store import open_store
    from oracle.services.storage.database import url_for_writing

    url = url_for_writing(settings)
    async with open_store(url, on_failure=settings.journal.failure) as store:
        outcome = await (await store.resume(run_id)).settle()
    return printable(f"{outcome.stop}: {outcome.status.value}")


async def _replayed(database: Database, run: str, trace: bool) -> tuple[str, bool]:
    from oracle.bt.wrappers.recipe import services_from
    from oracle.bt.wrappers.run_store import RunStore

    replayed = await RunStore(database).replay(run, services=services_from)
    if trace:
        replayed.tree_run.subscribe(_print_change)
    summary = replayed.summary(await replayed.settle())
    return verdict_on(summary, replayed.records)


def _print_change(time: float, path: str, old: RunStatus | None, new: RunStatus | None) -> None:
    typer.echo(f"{time:12.3f}  {'halted' if new is None else new.value:8} {printable(path)}")


def verdict_on(summary: dict[str, Any], records: Sequence[Record]) -> tuple[str, bool]:
    """Say whether the replay ended like the record; if not, name what differs."""
    counts = f"{counted(len(records), 'record')}, {counted(summary['ticks'], 'tick')}"
    if records[-1].kind != "end":
        return f"{counts}: the same up to the end of the record; the run did not finish", True
    recorded: dict[str, Any] = records[-1].body
    differing = [name for name, value in recorded.items() if summary.get(name) != value]
    if not differing:
        return f"{counts}: the same", True
    return f"{counts}: different in {printable(', '.join(differing))}; has a leaf changed?", False


def run_table(found: Sequence[StoredRun]) -> Table:
    return table(("run", "begun", "state", "tree", "question"), map(_run_row, found))


def _run_row(run: StoredRun) -> tuple[str, ...]:
    state = run.stop_reason or run.status
    return run.id[:8], shown_time(run.started_at), state, run.tree, run.question


def record_lines(records: Sequence[Record]) -> list[str]:
    """A line for each record, below the heading of its turn."""
    lines: list[str] = []
    turn = 0
    for record in records:
        # The end of a run belongs to no turn: its number is 0, and it needs no heading.
        if record.place.turn not in (0, turn):
            turn = record.place.turn
            lines.append(f"turn {turn}")
        kind, where = printable(record.kind), printable(record.place.node_path) or "-"
        lines.append(f"{record.seq:5}  {kind:8} {where}  {_shortened(record)}".rstrip())
    return lines


def _part_text(part: Any) -> str:
    """The text that a model wrote; any other part as it was recorded."""
    if isinstance(part, dict) and "text" in part:
        return str(cast("dict[str, Any]", part)["text"])
    return str(cast("object", part))


def _shortened(record: Record) -> str:
    if record.kind == "parts":
        text = "".join(_part_text(part) for part in record.body)
    elif record.kind == "answer":
        text = f"{record.body['request']} -> {record.body.get('value', 'streamed')}"
    elif record.kind == "failure":
        text = f"{record.body['request']} -> {record.body['error']}: {record.body['message']}"
    elif record.kind == "end":
        text = f"{record.body['stop']}: {record.body['status']} {record.body['detail']}"
    else:
        text = "" if record.body is None else str(record.body)
    text = printable(text)
    return text if len(text) <= 120 else f"{text[:119]}…"
