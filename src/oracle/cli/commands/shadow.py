"""`oracle shadow`: compare the tree with a plain loop on the same questions."""

from __future__ import annotations

import os
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from oracle.cli.options import AllProjectsOption, JsonOption, ModelOption
from oracle.cli.project import project_listed, project_of, settings_with, with_database
from oracle.cli.terminal.output import counted, say, show_json
from oracle.cli.terminal.safe_text import printable
from oracle.cli.terminal.tables import Column, show_table
from oracle.errors import InputError, unless_full

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from oracle.models.session import StoredRun
    from oracle.services.comparison.choosing import Chosen
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
    new, and nothing is written. A paid model is paid again, up to loop.shadow_money. The exit code
    is 5 if one of the loops broke down, so that nothing can be compared.
    """
    from oracle.services.background import run_async

    if background and hasattr(os, "nice"):
        os.nice(BACKGROUND)
    settings = settings_with({"model.name": model})
    comparison = run_async(_compare(settings, _named(run)))
    found = _chosen([comparison])
    if json:
        show_json(_data(comparison, found))
    elif found.counted:
        _show(found)
    _say_left_out(found)
    if not found.counted:
        raise typer.Exit(TOO_FEW)


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
    every = _newest(all_)
    found = _chosen(every).newest(limit)
    if json:
        show_json([_data(comparison, found) for comparison in every[:limit]])
    elif html is not None:
        _write(html, found)
        _say_left_out(found)
    elif found.counted:
        _show(found)
        _say_left_out(found)
    else:
        _say_left_out(found)
        say(NOTHING_YET)


@app.command("gate")
def gate(
    runs: Annotated[
        int,
        typer.Option("--runs", min=1, metavar="N", help="How many compared runs are needed."),
    ] = 30,
    json: JsonOption = False,
    all_: AllProjectsOption = False,
) -> None:
    """Decide from the newest comparisons whether the tree can replace the plain loop.

    Each run counts once, with its newest comparison. One in which a loop broke down, such as
    without a model, is named and left out.

    The exit code is 0 only if the tree is as good or better on every counted measure, and its
    median time is at most a tenth longer. It is 1 if not, and 5 if there are too few comparisons.
    """
    from oracle.services.comparison.comparing import is_passed, rows_of

    found = _chosen(_newest(all_)).newest(runs)
    _say_left_out(found)
    if len(found.counted) < runs:
        have = counted(len(found.counted), "comparison")
        say(f"{have} of the {runs} that are needed; {MORE}")
        raise typer.Exit(TOO_FEW)
    passed = is_passed(found.counted)
    rows = rows_of(found.counted)
    if json:
        counts = {"comparisons": len(found.counted), "questions": found.questions}
        left_out = {"left_out": found.left_out()}
        show_json({"passed": passed, **counts, **left_out, "measures": [*map(_row_data, rows)]})
    else:
        _show(found)
        worse = [row.measure.name for row in rows if row.verdict == "worse"]
        print("passed" if passed else f"not passed: worse in {', '.join(worse)}")
    if not passed:
        raise typer.Exit(1)


def _named(typed: str) -> StoredRun:
    from oracle.services.storage.naming import Naming

    project = project_of(typed)
    return with_database(lambda database: Naming(database, project).run(typed))


def _newest(every: bool) -> list[Comparison]:
    from oracle.services.storage.shadow_reports import ShadowReports

    project = project_listed(every)

    async def read(database: Database) -> list[Comparison]:
        return await ShadowReports(database).newest(project=project)

    return with_database(read)


def _chosen(newest_first: Sequence[Comparison]) -> Chosen:
    from oracle.services.comparison.choosing import chosen

    return chosen(newest_first)


def _data(comparison: Comparison, found: Chosen) -> dict[str, Any]:
    is_counted = any(comparison is each for each in found.counted)
    return {**comparison.as_data(), "is_counted": is_counted}


def _say_left_out(found: Chosen) -> None:
    """Each on a line: a model that was not there is not a loop that was worse."""
    from oracle.services.comparison.choosing import is_served_whole
    from oracle.services.story.words import stop_words

    for each in found.broken:
        ends = f"tree: {stop_words(each.tree.stop_reason)}, plain loop: "
        ends += stop_words(each.baseline.stop_reason)
        text = f"run {each.run_id} is not counted, because a loop broke down ({ends})"
        say(printable(text))
    if any(is_served_whole(each) for each in found.broken):
        say("`oracle shadow run RUN` compares a run again")


async def _compare(settings: Settings, run: StoredRun) -> Comparison:
    from oracle.bt.wrappers.project_agent import project_agent
    from oracle.bt.wrappers.run_store import open_store
    from oracle.bt.wrappers.shadow_mode import ShadowMode
    from oracle.services.storage.database import url_for_writing

    url = url_for_writing(settings)
    async with open_store(url, on_failure=settings.journal.failure) as store:
        setup = project_agent(settings, store=store).setup
        return await ShadowMode(setup, store, money=settings.loop.shadow_money).compare(run.id)


def _write(file: Path, found: Chosen) -> None:
    from oracle.services.comparison.page import page_of

    if not found.counted:
        raise InputError(NOTHING_YET)
    try:
        file.write_text(page_of(found), encoding="utf-8")
    except OSError as problem:
        step = unless_full(problem, "name another")
        raise InputError(f"{file} cannot be written: {problem.strerror}; {step}") from None
    say(printable(f"wrote {file}"))


def _show(found: Chosen) -> None:
    from oracle.services.comparison.comparing import rows_of

    print(printable(_summary(found)))
    show_table(MEASURES, _cells(rows_of(found.counted)))


def _summary(found: Chosen) -> str:
    pairs = found.counted
    models = ", ".join(sorted({comparison.model for comparison in pairs}))
    words = sum(comparison.shared_words for comparison in pairs) / len(pairs)
    cited = sum(comparison.shared_citations for comparison in pairs) / len(pairs)
    older = f", older comparisons of the same runs not counted: {found.older}"
    return (
        f"{found.words()}, model {models}{older if found.older else ''}; the answers share "
        f"{words:.0%} of their wording and {cited:.0%} of the cited files"
    )


def _cells(rows: Sequence[Row]) -> Iterator[tuple[str, str, str, str]]:
    for row in rows:
        tree, baseline = (f"{value:,.{row.measure.digits}f}" for value in (row.tree, row.baseline))
        yield row.measure.name, tree, baseline, row.verdict


def _row_data(row: Row) -> dict[str, Any]:
    data = {key: value for key, value in asdict(row).items() if key != "measure"}
    return {"measure": row.measure.name, **data, "verdict": row.verdict or None}
