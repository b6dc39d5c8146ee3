"""`oracle eval agent` and `oracle eval compare`: both loops on questions with known answers."""

from __future__ import annotations

from contextlib import aclosing
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from oracle.cli.options import ModelOption
from oracle.cli.project import settings_with
from oracle.cli.results import results_in
from oracle.cli.terminal.output import say
from oracle.cli.terminal.safe_text import printable
from oracle.cli.terminal.tables import Column, show_table
from oracle.errors import InputError, ModelError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from oracle.evaluation.agent_report import AgentRow
    from oracle.evaluation.agent_runs import Examined, Outcome
    from oracle.evaluation.intervals import Interval
    from oracle.evaluation.plan import Part
    from oracle.evaluation.purse import Purse
    from oracle.settings import Settings

NOT_WHOLE = 3
"""The exit code of an evaluation that has not asked everything."""
COLUMNS = (
    Column("MODEL", cut_to=12),
    Column("MEASURE", cut_to=12),
    Column("TREE", is_number=True),
    Column("PLAIN LOOP", is_number=True),
    Column("N", is_number=True, drop=1),
)
CRITERIA = (
    Column("CRITERION"),
    Column("MEASURED", cut_to=20),
    Column("FIGURE"),
    Column("GOAL", drop=3),
    Column("MET"),
    Column("ON", cut_to=12),
    Column("N", is_number=True, drop=2),
    Column("COMMAND", drop=1),
)


def agent(
    model: ModelOption = None,
    simulated: Annotated[
        list[str] | None,
        typer.Option(
            "--simulated",
            metavar="NAME[/STRENGTH]",
            help="A simulated model instead, such as gatherer/extreme; all for every one.",
        ),
    ] = None,
    every: Annotated[
        int,
        typer.Option(
            "--every",
            min=1,
            metavar="N",
            help="Ask every Nth question only; of all simulated models, each begins with another.",
        ),
    ] = 1,
    held_out: Annotated[
        bool,
        typer.Option(
            "--held-out", help="Ask about another project instead, which nothing was tuned on."
        ),
    ] = False,
    repeats: Annotated[
        int, typer.Option("--repeats", min=1, metavar="N", help="Ask each question N times.")
    ] = 1,
    max_cost: Annotated[
        float | None,
        typer.Option(
            "--max-cost",
            min=0,
            metavar="N",
            help="Spend at most so much, with what --results has; the exit code is 3 then.",
        ),
    ] = None,
    results: Annotated[
        Path | None,
        typer.Option(
            "--results", metavar="FILE", help="Keep the results, and go on with those it has."
        ),
    ] = None,
    criteria: Annotated[
        bool,
        typer.Option("--criteria", help="Print the success criteria SC-001 to SC-010 as well."),
    ] = False,
) -> None:
    """Ask both loops questions about a made-up project, and measure their answers.

    Each question says what a right answer contains and cites. Nothing is written, and the web is a
    server on this machine. The trees, prompts and limits are those of the settings here, so a
    change of them can be measured.

    Examples:
      oracle eval agent --model sonnet --every 4 --max-cost 2 \\
        --results sonnet.jsonl --criteria
      oracle eval agent --simulated competent
      oracle eval agent --simulated all --every 12
    """
    from oracle.bt.wrappers.definitions import ProjectDefinitions
    from oracle.evaluation.agent_report import Results, rows_of
    from oracle.evaluation.agent_runs import Examined
    from oracle.evaluation.purse import Purse
    from oracle.services.background import run_async

    settings = settings_with({"model.name": model})
    parts = _parts(settings, simulated or [], every, held_out=held_out)
    examined = Examined(limits=settings.limits, definitions=ProjectDefinitions(settings))
    kept = Results() if results is None else results_in(results, examined.digest())
    purse = Purse(max_cost, kept.spent)
    for part in parts:
        purse.check(part.make_model(0))
    every_one = run_async(_ask(parts, examined, repeats, purse, kept.outcomes, results))
    found = [each for each in every_one if any(part.has(each, repeats) for part in parts)]
    if found:
        show_table(COLUMNS, _cells([*rows_of(found)]))
    if found and criteria:
        print()
        run_async(_show_criteria(found))
    if not (found or purse.is_empty):
        raise ModelError("no question was answered; check the model with `oracle doctor`")
    if purse.is_empty:
        text = f"stopped at a cost of {purse.spent:.4f}; raise --max-cost to ask the rest"
        more = "" if results else ", with --results to keep what was asked"
        say(printable(f"{text}{more}"))
        raise typer.Exit(NOT_WHOLE)


def compare(
    before: Annotated[Path, typer.Argument(metavar="BEFORE", help="Results of `eval agent`.")],
    after: Annotated[Path, typer.Argument(metavar="AFTER", help="Later results.")],
) -> None:
    """Compare the results of two evaluations: the means of the questions that both have, then the
    questions whose answers got more or less complete.
    """
    from oracle.evaluation.agent_report import changes, totals

    for file in (before, after):
        if not file.is_file():
            raise InputError(f"there is no file {file}; `oracle eval agent --results` writes one")
    old, new = results_in(before).outcomes, results_in(after).outcomes
    if {each.key for each in old}.isdisjoint(each.key for each in new):
        raise InputError(
            f"{before} and {after} have no question in common, asked of the same model; "
            "name results of the same evaluation"
        )
    numbers = (Column("BEFORE", is_number=True), Column("AFTER", is_number=True))
    means = [
        (t.measure.name, t.loop, *(f"{m:,.{t.measure.digits}f}" for m in (t.before, t.after)))
        for t in totals(old, new)
    ]
    show_table((Column("MEAN OF"), Column("LOOP"), *numbers), means)
    print()
    found = changes(old, new)
    if not found:
        say("no answer is more or less complete")
        return
    columns = (Column("QUESTION"), Column("LOOP"), Column("MODEL", cut_to=12))
    rows = [(c.question, c.loop, c.model, f"{c.before:.2f}", f"{c.after:.2f}") for c in found]
    show_table((*columns, *numbers), rows)


def _parts(
    settings: Settings, simulated: Sequence[str], every: int, *, held_out: bool
) -> list[Part]:
    import os

    from oracle.bt.wrappers.project_agent import model_of
    from oracle.evaluation.harbour import questions
    from oracle.evaluation.held_out import held_out_questions
    from oracle.evaluation.plan import Part, simulated_parts

    if simulated:
        return [
            part for typed in simulated for part in simulated_parts(typed, every, held_out=held_out)
        ]
    chosen = model_of(settings, os.environ)
    asked = held_out_questions() if held_out else questions()
    return [Part(make_model=lambda _: chosen, asked=asked[::every])]


async def _ask(
    parts: Sequence[Part],
    examined: Examined,
    repeats: int,
    purse: Purse,
    done: Sequence[Outcome],
    results: Path | None,
) -> list[Outcome]:
    from oracle.evaluation.agent_report import append_outcome
    from oracle.evaluation.plan import ask_parts

    found = [*done]
    known = frozenset(each.key for each in done)
    asking = ask_parts(parts, examined=examined, repeats=repeats, done=known, purse=purse)
    async with aclosing(asking):
        async for asked in asking:
            # Asked again by the next call: it says nothing about the loop.
            is_gone = asked.facts.stop_reason == "model_unavailable"
            outcome = replace(asked, is_cut=True) if is_gone else asked
            if is_gone:
                text = f"{outcome.question} ({outcome.loop}) does not count: no model answered"
                say(printable(text))
            found += [] if outcome.is_cut else [outcome]
            if results is not None:
                append_outcome(results, outcome)
    return found


async def _show_criteria(found: Sequence[Outcome]) -> None:
    from oracle.evaluation.criteria import figures_of, not_measured
    from oracle.evaluation.criteria_table import criterion_rows
    from oracle.evaluation.modelless import modelless_figures

    figures = [*figures_of(found), *[each async for each in modelless_figures()]]
    figures += not_measured(figures)
    show_table(CRITERIA, criterion_rows(figures))


def _cells(rows: Sequence[AgentRow]) -> Iterator[tuple[str, ...]]:
    last = ""
    for row in rows:
        shown = (_figure(each, row.measure.digits) for each in (row.tree, row.baseline))
        yield row.model if row.model != last else "", row.measure.name, *shown, f"{row.count}"
        last = row.model


def _figure(each: Interval, digits: int) -> str:
    mean, low, high = (f"{value:,.{digits}f}" for value in (each.mean, each.low, each.high))
    return mean if low == high else f"{mean} ({low}–{high})"
