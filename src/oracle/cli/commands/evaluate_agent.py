"""`oracle eval agent` and `oracle eval compare`: both loops on questions with known answers."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from oracle.cli.options import ModelOption
from oracle.cli.project import settings_with
from oracle.cli.terminal.safe_text import printable
from oracle.cli.terminal.tables import Column, show_table
from oracle.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from oracle.evaluation.agent_report import AgentRow, Interval
    from oracle.evaluation.agent_runs import MakeModel, Outcome
    from oracle.services.llm.protocol import Model
    from oracle.settings import Settings

COLUMNS = (
    Column("MODEL", cut_to=12),
    Column("MEASURE", cut_to=12),
    Column("TREE", is_number=True),
    Column("PLAIN LOOP", is_number=True),
)
SIMULATED = "simulated:"


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
        int, typer.Option("--every", min=1, metavar="N", help="Ask every Nth question only.")
    ] = 1,
    repeats: Annotated[
        int, typer.Option("--repeats", min=1, metavar="N", help="Ask each question N times.")
    ] = 1,
    max_cost: Annotated[
        float | None,
        typer.Option("--max-cost", min=0, metavar="N", help="Stop when so much is spent."),
    ] = None,
    results: Annotated[
        Path | None,
        typer.Option(
            "--results", metavar="FILE", help="Keep the results, and go on with those it has."
        ),
    ] = None,
) -> None:
    """Ask both loops questions about a made-up project, and measure their answers.

    Each question says what a right answer contains and cites. Nothing is written, and the web is a
    server on this machine.
    """
    from oracle.evaluation.agent_report import read_outcomes, rows_of
    from oracle.services.background import run_async

    settings = settings_with({"model.name": model})
    done = [] if results is None else read_outcomes(results)
    models = _models(settings, simulated or [])
    found = run_async(_ask(models, every, repeats, max_cost, done, results))
    if not found:
        raise InputError("no question was asked; raise --max-cost")
    show_table(COLUMNS, _cells([*rows_of(found)]))


def compare(
    before: Annotated[Path, typer.Argument(metavar="BEFORE", help="Results of `eval agent`.")],
    after: Annotated[Path, typer.Argument(metavar="AFTER", help="Later results.")],
) -> None:
    """Compare the results of two evaluations, question by question."""
    from oracle.evaluation.agent_report import changes, read_outcomes

    for file in (before, after):
        if not file.is_file():
            raise InputError(f"there is no file {file}; `oracle eval agent --results` writes one")
    found = changes(read_outcomes(before), read_outcomes(after))
    if not found:
        print("no answer is more or less complete", file=sys.stderr)
        return
    columns = (Column("QUESTION"), Column("LOOP"), Column("MODEL", cut_to=12))
    numbers = (Column("BEFORE", is_number=True), Column("AFTER", is_number=True))
    rows = [(c.question, c.loop, c.model, f"{c.before:.2f}", f"{c.after:.2f}") for c in found]
    show_table((*columns, *numbers), rows)


def _models(settings: Settings, simulated: Sequence[str]) -> list[MakeModel]:
    if simulated:
        return [make for name in simulated for make in _simulated(name)]
    import os

    from oracle.bt.wrappers.project_agent import model_of

    chosen = model_of(settings, os.environ)
    return [lambda _: chosen]


def _simulated(typed: str) -> Iterator[MakeModel]:
    from oracle.testing.simulated import CHARACTERS, STRENGTHS, simulated_model

    name, _, strength = typed.removeprefix(SIMULATED).partition("/")
    names = [*CHARACTERS] if name == "all" else [name]
    for each in names:
        for strong in STRENGTHS if name == "all" and not strength else (strength or "marked",):
            simulated_model(each, strong)  # says at once if there is no such one

            def make(seed: int, each: str = each, strong: str = strong) -> Model:
                return simulated_model(each, strong, seed=seed)

            yield make


async def _ask(
    models: Sequence[MakeModel],
    every: int,
    repeats: int,
    max_cost: float | None,
    done: Sequence[Outcome],
    results: Path | None,
) -> list[Outcome]:
    from oracle.evaluation.agent_report import append_outcome
    from oracle.evaluation.agent_runs import ask_all
    from oracle.evaluation.harbour import harbour, questions
    from oracle.services.control.ledger import Limits

    found = [*done]
    known = frozenset(each.key for each in done)
    spent = sum(each.facts.money or 0.0 for each in done)
    limits = Limits()
    async with harbour() as world, world.index.at_hand():
        for make_model in models:
            asked = questions()[::every]
            async for outcome in ask_all(
                world, asked, make_model=make_model, repeats=repeats, limits=limits, done=known
            ):
                found.append(outcome)
                spent += outcome.facts.money or 0.0
                if results is not None:
                    append_outcome(results, outcome)
                if max_cost is not None and spent >= max_cost:
                    text = f"stopped at a cost of {spent:.2f}; --results lets it go on later"
                    print(printable(f"oracle: {text}"), file=sys.stderr)
                    return found
    return found


def _cells(rows: Sequence[AgentRow]) -> Iterator[tuple[str, ...]]:
    last = ""
    for row in rows:
        shown = (_figure(each, row.measure.digits) for each in (row.tree, row.baseline))
        yield row.model if row.model != last else "", row.measure.name, *shown
        last = row.model


def _figure(each: Interval, digits: int) -> str:
    mean, low, high = (f"{value:,.{digits}f}" for value in (each.mean, each.low, each.high))
    return mean if low == high else f"{mean} ({low}–{high})"
