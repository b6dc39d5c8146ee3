"""`oracle runs`, `oracle run` and `oracle replay`: what was recorded, and going on from it."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any, Final, cast

import typer

from oracle.cli.leaves import LeavesOption, import_leaves
from oracle.cli.terminal.terminal import counted, printable, show, show_json, when

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.table import Table

    from oracle.bt.core.runtime import Outcome
    from oracle.bt.state.base import RunStatus
    from oracle.models.run import Run
    from oracle.services.journal import Record
    from oracle.services.storage.database import Database

NOT_TAKEN_UP: Final = ("invalid_input", "held_elsewhere", "store_failed")
"""Why there is no answer to print, not even a part of one."""

app = typer.Typer(help="Show a run, or take it up again.", no_args_is_help=True)

RunArgument = Annotated[
    str, typer.Argument(metavar="RUN", help="The run's id, or as much of it as is unique.")
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON, for programs.")]


def runs(
    limit: Annotated[int, typer.Option(min=1, help="At most so many.")] = 20,
    json: JsonOption = False,
) -> None:
    """List the runs of this project, the last begun first."""
    from oracle.cli.store import with_database
    from oracle.services.storage.runs import Runs

    found = with_database(lambda database: Runs(database).newest(limit))
    if json:
        show_json([asdict(run) for run in found])
    elif found:
        show(run_table(found))
    else:
        typer.echo("no runs yet", err=True)


@app.command("show")
def show_(run: RunArgument, json: JsonOption = False) -> None:
    """Show what happened in a run, turn by turn, with the places in the tree."""
    from oracle.bt.wrappers.stored_run import RunArchive
    from oracle.cli.store import with_database

    records, _ = with_database(lambda database: RunArchive(database).record_of(run))
    if json:
        show_json([asdict(record) for record in records])
    else:
        typer.echo("\n".join(record_lines(records)) or "nothing was recorded: it died at once")


@app.command()
def resume(run: RunArgument, leaves: LeavesOption = None) -> None:
    """Go on with a run whose process died; what it has done is not done a second time."""
    from oracle.bt.wrappers.agent_recipe import TREE
    from oracle.cli.store import with_database
    from oracle.services.storage.runs import Runs

    import_leaves(leaves or [])
    found = with_database(lambda database: Runs(database).get(run))
    if found.tree == TREE:
        _resume_question(found.id)
    else:
        outcome = with_database(lambda database: _resumed(database, found.id))
        typer.echo(f"{outcome.stop}: {outcome.status.value}")


def replay(
    run: RunArgument,
    trace: Annotated[bool, typer.Option("--trace", help="Print each change of status.")] = False,
    leaves: LeavesOption = None,
) -> None:
    """Run a recorded run again, from its record alone, and compare how it ends."""
    from oracle.cli.store import with_database

    import_leaves(leaves or [])
    verdict, same = with_database(lambda database: _replayed(database, run, trace))
    typer.echo(verdict)
    if not same:
        raise typer.Exit(1)


def _resume_question(run_id: str) -> None:
    """The answer goes to stdout; why it is not whole, to stderr."""
    import asyncio

    from oracle.agent import Oracle, answer_from
    from oracle.cli.terminal.endings import exit_code_of

    answer = asyncio.run(answer_from(Oracle().resume(run_id)))
    if answer.stop_reason in NOT_TAKEN_UP:
        typer.echo(f"oracle: {answer.detail}", err=True)
    else:
        typer.echo(answer.text)
        if not answer.is_whole:
            typer.echo(f"oracle: {answer.stop_reason}: {answer.detail}", err=True)
    if code := exit_code_of(answer.stop_reason):
        raise typer.Exit(code)


async def _resumed(database: Database, run: str) -> Outcome:
    from oracle.bt.wrappers.stored_run import RunStore
    from oracle.services.ans.writer import recording
    from oracle.services.journal.writer import journal_writer
    from oracle.settings import load_settings

    writer = journal_writer(database.url, on_failure=load_settings().journal.failure)
    try:
        with recording(database.url):
            stored = await RunStore(database, writer).resume(run)
            return await stored.settle()
    finally:
        writer.close()


async def _replayed(database: Database, run: str, trace: bool) -> tuple[str, bool]:
    from oracle.bt.wrappers.agent_recipe import services_from
    from oracle.bt.wrappers.stored_run import RunArchive

    replayed = await RunArchive(database).replay(run, services=services_from)
    if trace:
        replayed.tree_run.subscribe(_print_change)
    summary = replayed.summary(await replayed.settle())
    return verdict_on(summary, replayed.records)


def _print_change(time: float, path: str, old: RunStatus | None, new: RunStatus | None) -> None:
    typer.echo(f"{time:12.3f}  {'halted' if new is None else new.value:8} {path}")


def verdict_on(summary: dict[str, Any], records: Sequence[Record]) -> tuple[str, bool]:
    """Say whether a replay came to the same end as the record, and where it did not."""
    told = f"{counted(len(records), 'record')}, {counted(summary['ticks'], 'tick')}"
    if records[-1].kind != "end":
        return f"{told}: the record ends before the run does", True
    recorded: dict[str, Any] = records[-1].body
    differing = [name for name, value in recorded.items() if summary.get(name) != value]
    if not differing:
        return f"{told}: the same", True
    return f"{told}: not the same in {', '.join(differing)}; has a leaf changed?", False


def run_table(found: Sequence[Run]) -> Table:
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    for column in ("run", "begun", "state", "tree", "question"):
        table.add_column(column, no_wrap=True)
    for run in found:
        state = run.stop_reason or run.status
        question = printable(run.question)
        table.add_row(run.id[:8], when(run.started_at), state, printable(run.tree), question)
    return table


def record_lines(records: Sequence[Record]) -> list[str]:
    lines: list[str] = []
    turn = 0
    for record in records:
        if record.place.turn != turn:
            turn = record.place.turn
            lines.append(f"turn {turn}")
        where = record.place.node_path or "-"
        lines.append(f"{record.seq:5}  {record.kind:8} {where}  {_shortened(record)}".rstrip())
    return lines


def _part_text(part: Any) -> str:
    """What a model said, as it said it; anything else as it is recorded."""
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
