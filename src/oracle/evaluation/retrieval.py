"""How well questions find the files that answer them, source by source, beside two baselines.

A source is this repository, or a package of the environment that runs it. Nothing is written into
either: the index lies in a folder of its own, which is gone afterwards.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final, Literal

import oracle
from oracle import evaluation
from oracle.evaluation.baselines import over_files, over_windows
from oracle.evaluation.labelled import Part
from oracle.services.index import Index
from oracle.services.index.reading import decode

DEPTH: Final = 10
Way = Literal["index", "windows", "files"]
WAYS: Final[tuple[Way, ...]] = ("index", "windows", "files")
Search = Callable[[str], Sequence[str]]


@dataclass(frozen=True, kw_only=True)
class LabelledQuestion:
    """`files` answer it, as paths below the source's root; any of them is a find."""

    source: str
    question: str
    files: frozenset[str]


@dataclass(frozen=True, kw_only=True)
class Measures:
    """`recall_at[k]`: the share of the right files among the first k, on average."""

    count: int
    recall_at: Mapping[int, float]
    mrr: float


@dataclass(frozen=True, kw_only=True)
class Miss:
    question: LabelledQuestion
    found: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class RetrievalReport:
    """`missing` names the sources that are not installed here."""

    sources: Mapping[str, Mapping[Way, Measures]]
    total: Mapping[Way, Measures]
    misses: tuple[Miss, ...]
    missing: tuple[str, ...]


def labelled_questions(part: Part) -> list[LabelledQuestion]:
    data = files(evaluation).joinpath("data", f"retrieval_{part}.jsonl")
    rows = map(json.loads, data.read_text("utf-8").splitlines())
    return [
        LabelledQuestion(
            source=row["source"], question=row["question"], files=frozenset(row["files"])
        )
        for row in rows
    ]


def root_of(source: str) -> Path | None:
    """Where a source lies; None when it is not here."""
    if source == "oracle":
        checkout = Path(oracle.__file__).parents[2]
        return checkout if (checkout / "pyproject.toml").is_file() else None
    spec = find_spec(source)
    return Path(spec.origin).parent if spec and spec.origin else None


def evaluate(questions: Iterable[LabelledQuestion]) -> RetrievalReport:
    by_source: dict[str, list[LabelledQuestion]] = {}
    for question in questions:
        by_source.setdefault(question.source, []).append(question)
    found: dict[str, dict[Way, list[_Outcome]]] = {}
    missing: list[str] = []
    for source, asked in by_source.items():
        root = root_of(source)
        if root is None:
            missing.append(source)
        else:
            found[source] = _outcomes(root, asked)
    return RetrievalReport(
        sources={
            source: {way: _measures(outcomes[way]) for way in WAYS}
            for source, outcomes in found.items()
        },
        total={
            way: _measures([each for ways in found.values() for each in ways[way]]) for way in WAYS
        },
        misses=tuple(_misses(found)),
        missing=tuple(missing),
    )


@dataclass(frozen=True, kw_only=True)
class _Outcome:
    question: LabelledQuestion
    found: tuple[str, ...]

    @property
    def first(self) -> int | None:
        ranks = (at for at, path in enumerate(self.found, 1) if path in self.question.files)
        return next(ranks, None)


def _outcomes(root: Path, asked: Sequence[LabelledQuestion]) -> dict[Way, list[_Outcome]]:
    with TemporaryDirectory() as folder, Index.open(root, folder=Path(folder)) as index:
        index.refresh()
        texts = {path: decode((root / path).read_bytes()) for path in index.paths()}
        searches: dict[Way, Search] = {
            "index": lambda question: [hit.path for hit in index.search(question, k=DEPTH)],
            "windows": partial(over_windows(texts).search, k=DEPTH),
            "files": partial(over_files(texts).search, k=DEPTH),
        }
        return {
            way: [_Outcome(question=each, found=tuple(search(each.question))) for each in asked]
            for way, search in searches.items()
        }


def _measures(outcomes: Sequence[_Outcome]) -> Measures:
    count = len(outcomes)
    return Measures(
        count=count,
        recall_at={
            k: sum(
                len(each.question.files.intersection(each.found[:k])) / len(each.question.files)
                for each in outcomes
            )
            / max(1, count)
            for k in (1, 5, 10)
        },
        mrr=sum(1 / each.first for each in outcomes if each.first) / max(1, count),
    )


def _misses(found: Mapping[str, Mapping[Way, Sequence[_Outcome]]]) -> Iterator[Miss]:
    for ways in found.values():
        for outcome in ways["index"]:
            if outcome.first is None:
                yield Miss(question=outcome.question, found=outcome.found[:3])
