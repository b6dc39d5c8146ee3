"""`oracle eval …`: measurements on the labelled sets that come with the package."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Final

import typer

from oracle.cli.commands.evaluate_agent import agent, compare
from oracle.cli.terminal.tables import Column, shown_width, table_lines
from oracle.models.query_classification import QueryType

if TYPE_CHECKING:
    from oracle.evaluation.classification import ClassificationReport
    from oracle.evaluation.embedded import EmbeddedReport
    from oracle.evaluation.labelled import Part
    from oracle.evaluation.retrieval import Measures, RetrievalReport, Way

app = typer.Typer(
    help="Measure classification, retrieval, the fallback and answers.", no_args_is_help=True
)
app.command("agent")(agent)
app.command("compare")(compare)

PartOption = Annotated[
    str,
    typer.Option(metavar="PART", help="test, or tuning: the part that the weights were chosen on."),
]
BertOption = Annotated[
    bool, typer.Option("--bert", help="Compare with BERT, alone and combined (needs the extra).")
]
SEARCHES: Final[Mapping[Way, str]] = {
    "index": "index",
    "roles": "BM25, 60 lines, paths and roles",
    "windows": "BM25, windows and paths",
    "files": "BM25, files",
}
"""Our index, and the baselines it is compared with."""


@app.command("classify")
def classify(
    part: PartOption = "test",
    mistakes: Annotated[
        bool, typer.Option("--mistakes", help="List misclassified questions.")
    ] = False,
    bert: BertOption = False,
) -> None:
    """Measure how well questions are classified, and how reliable the confidence is."""
    from oracle.evaluation.classification import evaluate
    from oracle.evaluation.labelled import broad_and_narrow, conversations, singles

    chosen = _part(part)
    if bert:
        from oracle.cli.commands.evaluate_bert import compare_classifiers

        compare_classifiers(chosen)
        return
    for title, rows in (
        ("single questions", singles(chosen)),
        ("conversations", conversations(chosen)),
        ("broad and narrow questions", broad_and_narrow(chosen)),
    ):
        typer.echo(render_report(f"{title}, {chosen} part", evaluate(rows), mistakes=mistakes))


@app.command("fallback")
def fallback(
    part: PartOption = "test",
    mistakes: Annotated[
        bool, typer.Option("--mistakes", help="List misjudged situations.")
    ] = False,
    bert: BertOption = False,
) -> None:
    """Measure how well the fallback judges what state a run is in."""
    from oracle.cli.commands.evaluate_bert import compare_fallbacks

    compare_fallbacks(_part(part), bert=bert, mistakes=mistakes)


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


@app.command("embedded")
def embedded(
    mistakes: Annotated[
        bool, typer.Option("--mistakes", help="List questions that were not answered right.")
    ] = False,
) -> None:
    """Measure how well questions are answered without a language model."""
    from oracle.evaluation.embedded import evaluate, newcomers_questions
    from oracle.services.background import run_async

    report = run_async(evaluate(newcomers_questions()))
    typer.echo(render_embedded(report, mistakes=mistakes))


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


def render_embedded(report: EmbeddedReport, *, mistakes: bool = False) -> str:
    from oracle.evaluation.embedded import VERDICTS

    asked = [each.question.is_answerable for each in report.judged]
    columns = (Column("QUESTIONS"), *_numbers("COUNT", *(name.upper() for name in VERDICTS)))
    rows = [
        (
            title,
            str(len(asked) if kind is None else asked.count(kind)),
            *(str(report.count(name, answerable=kind)) for name in VERDICTS),
        )
        for title, kind in (("answerable", True), ("unanswerable", False), ("all", None))
    ]
    blocks = [f"questions of new users: {len(asked)}", _table(columns, rows)]
    if report.missing:
        blocks.append(f"not installed: {', '.join(report.missing)}")
    wrong = [each for each in report.judged if each.verdict != "right"]
    if mistakes and wrong:
        blocks.append(
            "\n".join(
                f"{each.verdict} ({each.stop_reason}), {each.question.source}: "
                f"{each.question.question!r} lacks {'; '.join(each.lacks) or 'a refusal'}"
                for each in wrong
            )
        )
    return "\n\n".join(blocks) + "\n"


def _classes(report: ClassificationReport) -> str:
    columns = (Column("TYPE"), *_numbers("PRECISION", "RECALL", "F1", "COUNT"))
    rows = [
        (
            row.query_type,
            f"{row.precision:.2f}",
            f"{row.recall:.2f}",
            f"{row.f1:.2f}",
            str(row.count),
        )
        for row in report.classes
    ]
    return _table(columns, rows)


def _confusion(report: ClassificationReport) -> str:
    columns = (Column("LABELLED / GIVEN"), *_numbers(*(given[:6].upper() for given in QueryType)))
    rows = [
        (truth, *(str(report.confusion.get((truth, given), 0)) for given in QueryType))
        for truth in QueryType
    ]
    return _table(columns, rows)


def _calibration(report: ClassificationReport) -> str:
    columns = (Column("CONFIDENCE"), *_numbers("COUNT", "MEAN", "RIGHT"))
    rows = [
        (
            f"{row.low:.2f} to {row.high:.2f}",
            str(row.count),
            f"{row.confidence:.2f}",
            f"{row.accuracy:.2f}",
        )
        for row in report.calibration
    ]
    return _table(columns, rows)


def _numbers(*headings: str) -> list[Column]:
    return [Column(heading, is_number=True) for heading in headings]


def _table(columns: Sequence[Column], rows: Iterable[Sequence[str]]) -> str:
    return "\n".join(table_lines(columns, rows, width=shown_width()))


def _mistakes(report: ClassificationReport) -> str:
    return "\n".join(
        f"{mistake.row.query_type} taken for {mistake.given.query_type} "
        f"({mistake.given.confidence:.2f}): {mistake.row.query!r}"
        for mistake in report.mistakes
    )


def render_retrieval(title: str, report: RetrievalReport, *, misses: bool = False) -> str:
    columns = (
        Column("", cut_to=10),
        Column("SEARCH", cut_to=8),
        *_numbers("COUNT", "RECALL@1", "@5", "@10", "MRR"),
    )
    blocks = [
        f"{title}: {report.total['index'].count}",
        _table(columns, _rows(report.sources)),
        _table(columns, [*_rows(report.groups), *_rows({"all": report.total})]),
        "\n".join(_ratios(report.groups)),
    ]
    if report.missing:
        blocks.append(f"not installed: {', '.join(report.missing)}")
    if misses:
        blocks.append(_misses(report))
    return "\n\n".join(blocks) + "\n"


def _rows(rows: Mapping[str, Mapping[Way, Measures]]) -> Iterator[tuple[str, ...]]:
    """A row for each search; the first one has the name of the group."""
    for name, measures in rows.items():
        for way, title in SEARCHES.items():
            yield name if way == "index" else "", title, *_cells(measures[way])


def _ratios(groups: Mapping[str, Mapping[Way, Measures]]) -> Iterator[str]:
    for name, measures in groups.items():
        ours, theirs = measures["index"], measures["roles"]
        if theirs.mrr and theirs.recall_at[1]:
            yield (
                f"{name}, index to {SEARCHES['roles']}: MRR {ours.mrr / theirs.mrr:.2f} ×, "
                f"recall@1 {ours.recall_at[1] / theirs.recall_at[1]:.2f} ×"
            )


def _cells(measures: Measures) -> tuple[str, ...]:
    shares = (*(measures.recall_at[most] for most in (1, 5, 10)), measures.mrr)
    return (str(measures.count), *(f"{share:.3f}" for share in shares))


def _misses(report: RetrievalReport) -> str:
    return "\n".join(
        f"{miss.question.asked_of}: {miss.question.question!r} is answered by "
        f"{', '.join(sorted(miss.question.files))}; found {', '.join(miss.found) or 'nothing'}"
        for miss in report.misses
    )
