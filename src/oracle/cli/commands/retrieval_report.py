"""How the measures of retrieval are laid out: a line for each source and way of searching."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from oracle.evaluation.retrieval import WAYS, Measures, RetrievalReport, Way

TITLES: Mapping[Way, str] = {
    "index": "index",
    "windows": "BM25, windows and paths",
    "files": "BM25, files",
}


def render_retrieval(title: str, report: RetrievalReport, *, misses: bool = False) -> str:
    heading = f"{'':<19}{'':<25}{'count':>6}{'recall@1':>10}{'@5':>7}{'@10':>7}{'MRR':>7}"
    blocks = [
        f"{title}: {report.total['index'].count}",
        "\n".join([heading, *_lines(report.sources)]),
        "\n".join([heading, *_lines(report.groups), *_lines({"all": report.total})]),
    ]
    if report.missing:
        blocks.append(f"not installed here: {', '.join(report.missing)}")
    if misses:
        blocks.append(_misses(report))
    return "\n\n".join(blocks) + "\n"


def _lines(rows: Mapping[str, Mapping[Way, Measures]]) -> Iterator[str]:
    for name, ways in rows.items():
        yield from (_line(name if way == "index" else "", way, ways[way]) for way in WAYS)


def _line(name: str, way: Way, measures: Measures) -> str:
    at = measures.recall_at
    return (
        f"{name:<19}{TITLES[way]:<25}{measures.count:>6}{at[1]:>10.3f}{at[5]:>7.3f}{at[10]:>7.3f}"
        f"{measures.mrr:>7.3f}"
    )


def _misses(report: RetrievalReport) -> str:
    return "\n".join(
        f"{miss.question.asked_of}: {miss.question.question!r} is answered by "
        f"{', '.join(sorted(miss.question.files))}; found {', '.join(miss.found) or 'nothing'}"
        for miss in report.misses
    )
