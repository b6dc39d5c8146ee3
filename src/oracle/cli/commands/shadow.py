"""`oracle shadow`: compare the tree with a plain loop on the same questions."""

from __future__ import annotations

import os
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from oracle.cli.options import AllProjectsOption, JsonOption, ModelOption
from oracle.cli.project import project_listed, project_of, settings_with, with_database
from oracle.cli.terminal.output import counted, show_json
from oracle.cli.terminal.safe_text import printable
from oracle.cli.terminal.tables import Column, show_table
from oracle.errors import InputError, unless_full

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from oracle.models.session import StoredRun
    from oracle.services.comparison.comparing import Comparison, Row
    from oracle.services.storage.database import Database
    from oracle.settings import Settings

app = typer.Typer(help="Compare the tree with a plain loop on the same questions.")

TOO_FEW = 5
"""The exit code of a gate that cannot decide yet."""
BACKGROUND = 10
"""How nice a process is that nobody waits for."""
NOTHING_YET = (
    "no comparisons yet; `oracle shadow run` compares a run, and "
    "`oracle config set loop.use_bt shadow` compares each question that you ask"
)
MORE = "ask more with loop.use_bt = shadow, or compare recorded runs with `oracle shadow run`"
MEASURES = (
    Column("MEASURE", cut_to=16),
    Column("TREE", is_number=True),
    Column("PLAIN LOOP", is_number=True),
    Column("", drop=1),
)
LimitOption = Annotated[
    int | None,
    typer.Option("--limit", "-n", min=1, metavar="N", help="Only the newest N comparisons."),
]


@app.command("run")
def run_(
    run: Annotated[
        str, typer.Argument(metavar="RUN", help="The run's id, a unique start of it, or last.")
    ] = "last",
    model: ModelOption = None,
    json: JsonOption = False,
    background: Annotated[bool, typer.Option("--background", hidden=True)] = False,
) -> None:
    """Answer the question of a run again with the other loop, and compare the two.

    The results of the first run's tool calls are shared, calls that only read are run if they are
    new, and nothing is written. A paid model is paid again, up to loop.shadow_money.
    """
    from oracle.services.background import run_async

    if background and hasattr(os, "nice"):
        os.nice(BACKGROUND)
    settings = settings_with({"model.name": model})
    comparison = run_async(_compare(settings, _named(run)))
    if json:
        show_json(comparison.as_data())
    else:
        _show([comparison])


@app.command("report")
def report(
    limit: LimitOption = None,
    html: Annotated[
        Path | None,
        typer.Option("--html", metavar="FILE", help="Write a page with plots to this file."),
    ] = None,
    json: JsonOption = False,
    all_: AllProjectsOption = False,
) -> None:
    """Show what both loops did on the questions that were compared."""
    found = _newest(limit, all_)
    if json:
        show_json([comparison.as_data() for comparison in found])
    elif html is not None:
        _write(html, found)
    elif found:
        _show(found)
    else:
        print(NOTHING_YET, file=sys.stderr)


@app.command("gate")
def gate(
    runs: Annotated[
        int, typer.Option("--runs", min=1, metavar="N", help="How many comparisons are needed.")
    ] = 30,
    json: JsonOption = False,
    all_: AllProjectsOption = False,
) -> None:
    """Decide from the newest comparisons whether the tree can replace the plain loop.

    The exit code is 0 only if the tree is as good or better on every counted measure, and its
    median time is at most a tenth longer. It is 1 if not, and 5 if there are too few comparisons.
    """
    from oracle.services.comparison.comparing import is_passed, rows_of

    found = _newest(runs, all_)
    if len(found) < runs:
        have = counted(len(found), "comparison")
        print(f"oracle: {have} of the {runs} that are needed; {MORE}", file=sys.stderr)
        raise typer.Exit(TOO_FEW)
    passed = is_passed(found)
    if json:
        rows = [_row_data(row) for row in rows_of(found)]
        show_json({"passed": passed, "comparisons": len(found), "measures": rows})
    else:
        _show(found)
        worse = [row.measure.name for row in rows_of(found) if row.verdict == "worse"]
        print("passed" if passed else f"not passed: worse in {', '.join(worse)}")
    if not passed:
        raise typer.Exit(1)


def _named(typed: str) -> StoredRun:
    from oracle.services.storage.naming import Naming

    project = project_of(typed)
    return with_database(lambda database: Naming(database, project).run(typed))


def _newest(limit: int | None, every: bool) -> list[Comparison]:
    from oracle.services.storage.shadow_reports import ShadowReports

    project = project_listed(every)

    async def read(database: Database) -> list[Comparison]:
        return await ShadowReports(database).newest(limit, project=project)

    return with_database(read)


async def _compare(settings: Settings, run: StoredRun) -> Comparison:
    from oracle.bt.wrappers.project_agent import project_agent
    from oracle.bt.wrappers.run_store import open_store
    from oracle.bt.wrappers.shadow_mode import ShadowMode
    from oracle.services.storage.database import url_for_writing

    url = url_for_writing(settings)
    async with open_store(url, on_failure=settings.journal.failure) as store:
        setup = project_agent(settings, store=store).setup
        return await ShadowMode(setup, store, money=settings.loop.shadow_money).compare(run.id)


def _write(file: Path, found: Sequence[Comparison]) -> None:
    from oracle.services.comparison.page import page_of

    if not found:
        raise InputError(NOTHING_YET)
    try:
        file.write_text(page_of(found), encoding="utf-8")
    except OSError as problem:
        step = unless_full(problem, "name another")
        raise InputError(f"{file} cannot be written: {problem.strerror}; {step}") from None
    print(printable(f"wrote {file}"), file=sys.stderr)


def _show(found: Sequence[Comparison]) -> None:
    from oracle.services.comparison.comparing import rows_of

    print(printable(_summary(found)))
    show_table(MEASURES, _cells(rows_of(found)))


def _summary(found: Sequence[Comparison]) -> str:
    models = ", ".join(sorted({comparison.model for comparison in found}))
    words = sum(comparison.shared_words for comparison in found) / len(found)
    cited = sum(comparison.shared_citations for comparison in found) / len(found)
    return (
        f"{counted(len(found), 'question')}, model {models}; the answers share {words:.0%} of "
        f"their wording and {cited:.0%} of the cited files"
    )


def _cells(rows: Sequence[Row]) -> Iterator[tuple[str, str, str, str]]:
    for row in rows:
        tree, baseline = (f"{value:,.{row.measure.digits}f}" for value in (row.tree, row.baseline))
        yield row.measure.name, tree, baseline, row.verdict


def _row_data(row: Row) -> dict[str, Any]:
    data = {key: value for key, value in asdict(row).items() if key != "measure"}
    return {"measure": row.measure.name, **data, "verdict": row.verdict or None}
