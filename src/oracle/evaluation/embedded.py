"""Measures how well `embedded` answers new users' questions, and how often it is wrongly sure.

A source is an installed package, laid out as a project in a temporary folder: its code, its
description as a README, its metadata and its licence.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final, Literal

from oracle import evaluation
from oracle.agent import Answer, Oracle
from oracle.services.embedded.model import EmbeddedModel

Verdict = Literal["right", "partly", "not found", "wrongly sure"]
"""What an answer comes to.

| verdict | the question can be answered | it cannot |
| --- | --- | --- |
| right | cites a right place and has what it must | is not `answered` |
| partly | is not `answered`, but has some of it | |
| not found | is not `answered`, and has nothing of it | |
| wrongly sure | is `answered`, and lacks a place or a text | is `answered` |
"""
VERDICTS: Final[tuple[Verdict, ...]] = ("right", "partly", "not found", "wrongly sure")
_CODE: Final = ("*.pyc", "__pycache__", "tests", "_vendor")


@dataclass(frozen=True, kw_only=True)
class NewcomersQuestion:
    """`cite`: the answer must cite one of these, by the beginning of a path. `contain`: it must
    match all of these patterns.
    """

    source: str
    question: str
    is_answerable: bool
    cite: tuple[str, ...] = ()
    contain: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Judged:
    question: NewcomersQuestion
    verdict: Verdict
    stop_reason: str
    lacks: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class EmbeddedReport:
    """`missing` are packages that are not installed."""

    judged: tuple[Judged, ...]
    missing: tuple[str, ...] = ()

    def count(self, verdict: Verdict, *, answerable: bool | None = None) -> int:
        return sum(
            each.verdict == verdict and answerable in (None, each.question.is_answerable)
            for each in self.judged
        )


def newcomers_questions() -> list[NewcomersQuestion]:
    path = Path(evaluation.__file__).parent / "data" / "embedded_questions.jsonl"
    return [_question(json.loads(line)) for line in path.read_text("utf-8").splitlines()]


def _question(row: Mapping[str, Any]) -> NewcomersQuestion:
    return NewcomersQuestion(
        source=row["source"],
        question=row["question"],
        is_answerable=row.get("answerable", True),
        cite=tuple(row.get("cite", ())),
        contain=tuple(row.get("contain", ())),
    )


async def evaluate(questions: Iterable[NewcomersQuestion]) -> EmbeddedReport:
    by_source: dict[str, list[NewcomersQuestion]] = {}
    for question in questions:
        by_source.setdefault(question.source, []).append(question)
    judged: list[Judged] = []
    missing: list[str] = []
    for source, asked in by_source.items():
        try:
            package = distribution(source)
        except PackageNotFoundError:
            missing.append(source)
            continue
        with TemporaryDirectory() as folder:
            root = laid_out(package, Path(folder) / source)
            async with Oracle(project=root, model=EmbeddedModel(), remembers=False) as oracle:
                judged += [judge(each, await oracle.ask(each.question)) for each in asked]
    return EmbeddedReport(judged=tuple(judged), missing=tuple(missing))


def laid_out(package: Distribution, root: Path) -> Path:
    """The package as a project: code, README, PKG-INFO and licence."""
    root.mkdir(parents=True)
    for name in _folders(package):
        shutil.copytree(
            str(package.locate_file(name)), root / name, ignore=shutil.ignore_patterns(*_CODE)
        )
    # Its metadata is a head like that of a mail, a blank line, and the description.
    head, _, about = (package.read_text("METADATA") or "").partition("\n\n")
    is_markdown = "Description-Content-Type: text/markdown" in head
    (root / ("README.md" if is_markdown else "README.rst")).write_text(about, "utf-8")
    (root / "PKG-INFO").write_text(f"{head}\n", "utf-8")
    for file in package.files or ():
        if ".dist-info" in file.parts[0] and file.name.upper().startswith(("LICENSE", "AUTHORS")):
            (root / file.name).write_bytes(file.read_binary())
    return root


def _folders(package: Distribution) -> list[str]:
    found = (file.parts[0] for file in package.files or () if file.name == "__init__.py")
    return [name for name in dict.fromkeys(found) if not name.startswith(("..", "_"))]


def judge(question: NewcomersQuestion, answer: Answer) -> Judged:
    lacks = tuple(_lacks(question, answer.text)) if question.is_answerable else ()
    return Judged(
        question=question,
        verdict=_verdict(question, answer, lacks),
        stop_reason=answer.stop_reason,
        lacks=lacks,
    )


def _verdict(question: NewcomersQuestion, answer: Answer, lacks: Sequence[str]) -> Verdict:
    if not question.is_answerable:
        return "wrongly sure" if answer.is_whole else "right"
    if not lacks:
        return "right"
    if answer.is_whole:
        return "wrongly sure"
    wanted = bool(question.cite) + len(question.contain)
    return "partly" if len(lacks) < wanted else "not found"


def _lacks(question: NewcomersQuestion, text: str) -> Iterator[str]:
    if question.cite and not any(re.search(rf"`{re.escape(path)}", text) for path in question.cite):
        yield f"a citation of {' or '.join(question.cite)}"
    yield from (pattern for pattern in question.contain if not re.search(pattern, text))
