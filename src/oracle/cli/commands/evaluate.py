"""`oracle eval …`: measurements on the labelled sets that come with the package."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Annotated, Final

import typer

from oracle.models.query_classification import QueryType

if TYPE_CHECKING:
    from oracle.evaluation.classification import ClassificationReport
    from oracle.evaluation.labelled import Part
    from oracle.evaluation.retrieval import Measures, RetrievalReport, Way

app = typer.Typer(help="Measure classification and retrieval.", no_args_is_help=True)

PartOption = Annotated[
    str, typer.Option(help="test, or tuning: the part that the weights were chosen on.")
]
SEARCHES: Final[Mapping[Way, str]] = {
    "index": "index",
    "windows": "BM25, windows and paths",
    "files": "BM25, files",
}
"""Our index, and the two baselines it is compared with."""


@app.command("classify")
def classify(
    part: PartOption = "test",
    mistakes: Annotated[
        bool, typer.Option("--mistakes", help="List misclassified questions.")
    ] = False,
) -> None:
    """Measure how well questions are classified, and how reliable the confidence is."""
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
    part: PartOption = "test",
    misses: Annotated[
        bool, typer.Option("--misses", help="List questions whose files were not found.")
    ] = False,
) -> None:
    """Measure how well the index finds the files that answer a question."""
    from oracle.evaluation.retrieval import evaluate, labelled_questions

    chosen = _part(part)
    report = evaluate(labelled_questions(chosen))
    typer.echo(render_retrieval(f"questions, {chosen} part", report, misses=misses))


def _part(name: str) -> Part:
    match name:
        case "test" | "tuning":
            return name
        case _:
            raise typer.BadParameter(f"{name!r} is not a part; use test or tuning")


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


def render_retrieval(title: str, report: RetrievalReport, *, misses: bool = False) -> str:
    heading = f"{'':<19}{'':<25}{'count':>6}{'recall@1':>10}{'@5':>7}{'@10':>7}{'MRR':>7}"
    blocks = [
        f"{title}: {report.total['index'].count}",
        "\n".join([heading, *_lines(report.sources)]),
        "\n".join([heading, *_lines(report.groups), *_lines({"all": report.total})]),
    ]
    if report.missing:
        blocks.append(f"not installed: {', '.join(report.missing)}")
    if misses:
        blocks.append(_misses(report))
    return "\n\n".join(blocks) + "\n"


def _lines(rows: Mapping[str, Mapping[Way, Measures]]) -> Iterator[str]:
    """A line for each search; the first one has the name of the row."""
    for name, measures in rows.items():
        for way, title in SEARCHES.items():
            yield _line(name if way == "index" else "", title, measures[way])


def _line(name: str, search: str, measures: Measures) -> str:
    at = measures.recall_at
    return (
        f"{name:<19}{search:<25}{measures.count:>6}{at[1]:>10.3f}{at[5]:>7.3f}{at[10]:>7.3f}"
        f"{measures.mrr:>7.3f}"
    )


def _misses(report: RetrievalReport) -> str:
    return "\n".join(
        f"{miss.question.asked_of}: {miss.question.question!r} is answered by "
        f"{', '.join(sorted(miss.question.files))}; found {', '.join(miss.found) or 'nothing'}"
        for miss in report.misses
    )
