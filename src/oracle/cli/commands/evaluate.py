"""`oracle eval …`: the measures on the labelled sets that ship with the package."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from oracle.models.query_classification import QueryType

if TYPE_CHECKING:
    from oracle.evaluation.classification import ClassificationReport
    from oracle.evaluation.labelled import Part

app = typer.Typer(help="Measure the parts on labelled sets.", no_args_is_help=True)


@app.command("classify")
def classify(
    part: Annotated[
        str, typer.Option(help="`test`, or `tuning`, which the weights have seen.")
    ] = "test",
    mistakes: Annotated[bool, typer.Option("--mistakes", help="List what was got wrong.")] = False,
) -> None:
    """How well queries are classified, and whether the confidence can be trusted."""
    from oracle.evaluation.classification import evaluate
    from oracle.evaluation.labelled import broad_and_narrow, conversations, singles

    chosen = _part(part)
    for title, rows in (
        ("single questions", singles(chosen)),
        ("conversations", conversations(chosen)),
        ("broad and narrow questions", broad_and_narrow(chosen)),
    ):
        typer.echo(render_report(f"{title}, {chosen} part", evaluate(rows), mistakes=mistakes))


@app.command("retrieval")
def retrieval(
    part: Annotated[
        str, typer.Option(help="`test`, or `tuning`, which the weights were chosen on.")
    ] = "test",
    misses: Annotated[
        bool, typer.Option("--misses", help="List the questions whose answer was not found.")
    ] = False,
) -> None:
    """How well questions find the files that answer them, beside two baselines."""
    from oracle.cli.commands.retrieval_report import render_retrieval
    from oracle.evaluation.retrieval import evaluate, labelled_questions

    chosen = _part(part)
    report = evaluate(labelled_questions(chosen))
    typer.echo(render_retrieval(f"questions, {chosen} part", report, misses=misses))


def _part(name: str) -> Part:
    match name:
        case "test" | "tuning":
            return name
        case _:
            raise typer.BadParameter(f"{name!r} is not a part; choose test or tuning")


def render_report(title: str, report: ClassificationReport, *, mistakes: bool = False) -> str:
    from oracle.evaluation.classification import BROAD_FROM

    blocks = [
        f"{title}: {report.count}, accuracy {report.accuracy:.1%}, macro-F1 {report.macro_f1:.3f}",
        _classes(report),
        _confusion(report),
        _calibration(report),
        f"breadth from {BROAD_FROM} on: precision {report.broad_precision:.2f}, "
        f"recall {report.broad_recall:.2f}",
    ]
    if mistakes:
        blocks.append(_mistakes(report))
    return "\n\n".join(blocks) + "\n"


def _classes(report: ClassificationReport) -> str:
    lines = [f"{'':<15}{'precision':>10}{'recall':>8}{'f1':>7}{'count':>7}"]
    lines += [
        f"{row.query_type:<15}{row.precision:>10.2f}{row.recall:>8.2f}{row.f1:>7.2f}{row.count:>7}"
        for row in report.classes
    ]
    return "\n".join(lines)


def _confusion(report: ClassificationReport) -> str:
    lines = [f"{'labelled / given':<17}" + "".join(f"{given[:6]:>8}" for given in QueryType)]
    for truth in QueryType:
        counts = "".join(f"{report.confusion.get((truth, given), 0):>8}" for given in QueryType)
        lines.append(f"{truth:<17}{counts}")
    return "\n".join(lines)


def _calibration(report: ClassificationReport) -> str:
    lines = ["confidence      count   mean   right"]
    lines += [
        f"{row.low:.2f} to {row.high:.2f}{row.count:>9}{row.confidence:>7.2f}{row.accuracy:>8.2f}"
        for row in report.calibration
    ]
    return "\n".join(lines)


def _mistakes(report: ClassificationReport) -> str:
    return "\n".join(
        f"{mistake.row.query_type} taken for {mistake.given.query_type} "
        f"({mistake.given.confidence:.2f}): {mistake.row.query!r}"
        for mistake in report.mistakes
    )
