"""`oracle signals report`: how well models keep to the signal contract, and how far to trust it."""

from __future__ import annotations

import time
from contextlib import closing
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from oracle.cli.options import JsonOption
from oracle.cli.project import with_database
from oracle.cli.results import results_in
from oracle.cli.terminal.output import say, show_json
from oracle.cli.terminal.safe_text import printable
from oracle.cli.terminal.tables import Column, show_table
from oracle.cli.terminal.times import parse_moment
from oracle.errors import InputError, unless_full

if TYPE_CHECKING:
    from collections.abc import Sequence

    from oracle.evaluation.adherence import Adherence
    from oracle.evaluation.calibration import ModelCalibration
    from oracle.evaluation.signals_report import Section
    from oracle.services.storage.addresses import Address
    from oracle.services.storage.database import Database

app = typer.Typer(
    help="Report how well models signal, and how far to trust them.", no_args_is_help=True
)

NOTHING_YET = "no signals yet; ask a question with a language model (`oracle ask`), then try again"
NO_MATCH = "no runs match; `oracle signals report` without options takes all"
NO_RESULTS = (
    "no calibration: `oracle eval agent --results FILE` asks questions with known answers; "
    "then give --results FILE here"
)


@app.callback()
def _signals() -> None:
    """Report how well models signal, and how far to trust them."""


@app.command("report")
def report(
    model: Annotated[
        str | None,
        typer.Option("--model", "-m", metavar="NAME", help="Only this model; * for any text."),
    ] = None,
    since: Annotated[
        str | None,
        typer.Option(
            "--since", metavar="TIME", help="Only newer runs: an age (10m, 2h, 3d) or a time."
        ),
    ] = None,
    last: Annotated[
        int | None,
        typer.Option("--last", "-n", min=1, metavar="N", help="Only the newest N runs."),
    ] = None,
    results: Annotated[
        list[Path] | None,
        typer.Option(
            "--results",
            metavar="FILE",
            help="Results of `eval agent`, for the calibration. Can be repeated.",
        ),
    ] = None,
    html: Annotated[
        Path | None, typer.Option("--html", metavar="FILE", help="Write a page with plots.")
    ] = None,
    json: JsonOption = False,
) -> None:
    """Show for each model how often its signals are valid, what it gets wrong, and what the tree
    did about it.

    That comes from the event log of this project. With --results it also shows whether a model
    that says 0.9 is right nine times out of ten.

    Examples:
      oracle signals report --since 7d
      oracle signals report --model 'anthropic:*' --last 50
      oracle signals report --results sonnet.jsonl --html signals.html
    """
    try:
        adherence = _adherence(model, since, last)
    except InputError:
        # Results say enough for the calibration, also where nothing was ever asked.
        if not results or since is not None or last is not None:
            raise
        adherence = []
    calibrations = _calibrations(results or [], model)
    if json:
        models = [each.as_data() for each in adherence]
        show_json({"models": models, "calibration": [asdict(each) for each in calibrations]})
        return
    if not adherence and not calibrations:
        _say_none(is_filtered=any((model, since)), is_page=html is not None)
        return
    if html is not None:
        _write(html, adherence, calibrations)
        return
    _show(adherence, calibrations)
    if not results:
        say(NO_RESULTS)


def _adherence(model: str | None, since: str | None, last: int | None) -> list[Adherence]:
    from oracle.evaluation.adherence import adherence_in
    from oracle.services.ans.table import open_events

    async def address(database: Database) -> Address:
        return database.url

    begun = parse_moment(since, now=time.time()) if since else None
    with closing(open_events(with_database(address))) as table:
        return adherence_in(table, model=model, since=begun, last=last)


def _calibrations(files: Sequence[Path], model: str | None) -> list[ModelCalibration]:
    from fnmatch import fnmatchcase

    from oracle.evaluation.calibration import calibrations_of

    for file in files:
        if not file.is_file():
            raise InputError(f"there is no file {file}; `oracle eval agent --results` writes one")
    outcomes = [outcome for file in files for outcome in results_in(file).outcomes]
    found = calibrations_of(outcomes)
    return [each for each in found if model is None or fnmatchcase(each.model, model)]


def _say_none(*, is_filtered: bool, is_page: bool) -> None:
    said = NO_MATCH if is_filtered else NOTHING_YET
    if is_page:
        raise InputError(said)
    say(said)


def _write(
    file: Path, adherence: Sequence[Adherence], calibrations: Sequence[ModelCalibration]
) -> None:
    from oracle.evaluation.signals_page import signals_page

    try:
        file.write_text(signals_page(adherence, calibrations), encoding="utf-8")
    except OSError as problem:
        step = unless_full(problem, "name another")
        raise InputError(f"{file} cannot be written: {problem.strerror}; {step}") from None
    say(printable(f"wrote {file}"))


def _show(adherence: Sequence[Adherence], calibrations: Sequence[ModelCalibration]) -> None:
    from oracle.evaluation.signals_report import sections_of

    for place, section in enumerate(sections_of(adherence, calibrations)):
        if place:
            print()
        print(section.title)
        show_table(_columns(section), section.rows)


def _columns(section: Section) -> list[Column]:
    return [
        Column(heading.upper(), is_number=place >= section.texts, cut_to=12)
        if place < section.texts
        else Column(heading.upper(), is_number=True)
        for place, heading in enumerate(section.headings)
    ]
