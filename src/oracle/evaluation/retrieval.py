"""Measures how well the index finds the files that answer a question, next to three baselines.

A source is this repository, an installed package, or the notebook of an invented team. Nothing is
written there: the index is in a temporary folder.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final, Literal, TypeVar

import oracle
from oracle import evaluation
from oracle.evaluation.baselines import over_files, over_windows, over_windows_with_roles
from oracle.evaluation.labelled import Part
from oracle.services.search import Index
from oracle.services.search.intake import decode
from oracle.services.search.roles import kind_of

DEPTH: Final = 10
Way = Literal["index", "roles", "windows", "files"]
WAYS: Final[tuple[Way, ...]] = ("index", "roles", "windows", "files")
Kind = Literal["code", "vault", "threads"]
Search = Callable[[str], Sequence[str]]
WRITTEN_BY: Final[Mapping[Part, Mapping[str, str]]] = {
    "tuning": {"retrieval_tuning": "J"},
    "test": {"retrieval_test": "J", "retrieval_test_k": "K", "retrieval_test_notebook_k": "K"},
}
_Key = TypeVar("_Key")
_Item = TypeVar("_Item")


@dataclass(frozen=True, kw_only=True)
class LabelledQuestion:
    """`files` answer the question, as paths below the source's root.

    A question about notes or threads searches that kind only, in the baselines too. A question
    about code searches all files, because documents explain code.
    """

    source: str
    question: str
    files: frozenset[str]
    writer: str
    kind: Kind = "code"

    @property
    def asked_of(self) -> str:
        return self.source if self.kind == "code" else f"{self.source}, {self.kind}"

    @property
    def group(self) -> str:
        return f"{self.kind}, writer {self.writer}"


@dataclass(frozen=True, kw_only=True)
class Measures:
    """`recall_at[k]` is the mean share of the right files that are among the first k."""

    count: int
    recall_at: Mapping[int, float]
    mrr: float


@dataclass(frozen=True, kw_only=True)
class Miss:
    question: LabelledQuestion
    found: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class RetrievalReport:
    """`groups` are kinds and writers of questions. `missing` are sources that are not installed."""

    sources: Mapping[str, Mapping[Way, Measures]]
    groups: Mapping[str, Mapping[Way, Measures]]
    total: Mapping[Way, Measures]
    misses: tuple[Miss, ...]
    missing: tuple[str, ...]


def labelled_questions(part: Part) -> list[LabelledQuestion]:
    return [
        LabelledQuestion(
            source=row["source"],
            question=row["question"],
            files=frozenset(row["files"]),
            writer=writer,
            kind=row.get("kind", "code"),
        )
        for name, writer in WRITTEN_BY[part].items()
        for row in map(json.loads, _data(f"{name}.jsonl").read_text("utf-8").splitlines())
    ]


def _data(name: str) -> Path:
    return Path(evaluation.__file__).parent / "data" / name


def root_of(source: str) -> Path | None:
    """The folder of a source; None if it is not installed."""
    if source == "oracle":
        checkout = Path(oracle.__file__).parents[2]
        return checkout if (checkout / "pyproject.toml").is_file() else None
    if source == "notebook":
        return _data("notebook")
    spec = find_spec(source)
    return Path(spec.origin).parent if spec and spec.origin else None


def evaluate(questions: Iterable[LabelledQuestion]) -> RetrievalReport:
    outcomes: list[_Outcome] = []
    missing: list[str] = []
    for source, asked in _grouped(questions, lambda each: each.source).items():
        root = root_of(source)
        if root is None:
            missing.append(source)
        else:
            outcomes += _outcomes(root, asked)
    by_source = _grouped(outcomes, lambda each: each.question.asked_of)
    by_group = _grouped(outcomes, lambda each: each.question.group)
    return RetrievalReport(
        sources={source: _all_ways(some) for source, some in by_source.items()},
        groups={group: _all_ways(some) for group, some in by_group.items()},
        total=_all_ways(outcomes),
        misses=tuple(_misses(outcomes)),
        missing=tuple(missing),
    )


@dataclass(frozen=True, kw_only=True)
class _Outcome:
    question: LabelledQuestion
    found: Mapping[Way, tuple[str, ...]]

    def first(self, way: Way) -> int | None:
        ranks = (at for at, path in enumerate(self.found[way], 1) if path in self.question.files)
        return next(ranks, None)

    def share(self, way: Way, k: int) -> float:
        right = self.question.files
        return len(right.intersection(self.found[way][:k])) / len(right)


def _grouped(items: Iterable[_Item], key: Callable[[_Item], _Key]) -> dict[_Key, list[_Item]]:
    groups: dict[_Key, list[_Item]] = {}
    for item in items:
        groups.setdefault(key(item), []).append(item)
    return groups


def _outcomes(root: Path, asked: Sequence[LabelledQuestion]) -> Iterator[_Outcome]:
    with TemporaryDirectory() as folder, Index.open(root, folder=Path(folder)) as index:
        index.refresh()
        texts = {path: decode((root / path).read_bytes()) for path in index.paths()}
        by_kind: dict[Kind, list[LabelledQuestion]] = _grouped(asked, lambda each: each.kind)
        for kind, some in by_kind.items():
            searches = _searches(index, texts, kind)
            for question in some:
                yield _Outcome(
                    question=question,
                    found={way: tuple(searches[way](question.question)) for way in WAYS},
                )


def _searches(index: Index, texts: Mapping[str, str], kind: Kind) -> dict[Way, Search]:
    # The baselines search the same files as the index does for this kind.
    searched = {path: text for path, text in texts.items() if kind in ("code", kind_of(path))}
    return {
        "index": lambda question: [hit.path for hit in index.search(question, kind=kind, k=DEPTH)],
        "roles": partial(
            over_windows_with_roles(searched, with_roles=kind == "code").search, k=DEPTH
        ),
        "windows": partial(over_windows(searched).search, k=DEPTH),
        "files": partial(over_files(searched).search, k=DEPTH),
    }


def _all_ways(outcomes: Sequence[_Outcome]) -> dict[Way, Measures]:
    return {way: _measures(outcomes, way) for way in WAYS}


def _measures(outcomes: Sequence[_Outcome], way: Way) -> Measures:
    count = len(outcomes)
    firsts = [first for each in outcomes if (first := each.first(way))]
    return Measures(
        count=count,
        recall_at={
            k: sum(each.share(way, k) for each in outcomes) / max(1, count) for k in (1, 5, 10)
        },
        mrr=sum(1 / first for first in firsts) / max(1, count),
    )


def _misses(outcomes: Iterable[_Outcome]) -> Iterator[Miss]:
    for outcome in outcomes:
        if outcome.first("index") is None:
            yield Miss(question=outcome.question, found=outcome.found["index"][:3])
