"""The criteria that need no language model, and those that a scripted one is enough for."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory

from oracle.evaluation.classification import evaluate
from oracle.evaluation.criteria import WITHOUT_MODEL, Figure
from oracle.evaluation.intervals import share
from oracle.evaluation.labelled import broad_and_narrow, conversations, singles
from oracle.evaluation.logged_signals import figure_of_logging
from oracle.evaluation.own_time import figure_of_overhead, figure_of_parsing


async def modelless_figures() -> AsyncIterator[Figure]:
    for figure in figures_of_types():
        yield figure
    yield await figure_of_overhead()
    yield figure_of_parsing()
    yield await figure_of_logging()
    yield figure_of_prompts()


def figures_of_types() -> Iterator[Figure]:
    for name, rows in (
        ("single questions", singles("test")),
        ("conversations", conversations("test")),
        ("broad and narrow", broad_and_narrow("test")),
    ):
        found = evaluate(rows)
        yield Figure(
            measure="type",
            on=f"the classifier, {name}",
            command="oracle eval classify",
            count=found.count,
            value=share(found.accuracy * found.count, found.count),
        )


def figure_of_prompts() -> Figure:
    """Whether processes that hash and count time differently compose the same."""
    one, other = (
        _digests_in_a_process(PYTHONHASHSEED=seed, TZ=zone, LC_ALL=language)
        for seed, zone, language in (("1", "UTC", "C"), ("2", "Asia/Tokyo", "C.UTF-8"))
    )
    alike = sum(mine == theirs for mine, theirs in zip(one, other, strict=True))
    return Figure(
        measure="prompts",
        on="the composer",
        command=WITHOUT_MODEL,
        count=len(one),
        value=share(alike, len(one)),
    )


def _digests_in_a_process(**variables: str) -> list[str]:
    made = subprocess.run(
        [sys.executable, "-m", __name__],
        env={**os.environ, **variables},
        capture_output=True,
        check=True,
    )
    digests: list[str] = json.loads(made.stdout)
    return digests


def prompt_digests() -> list[str]:
    """Of the prompt for each labelled question of the test part."""
    from oracle.services.classification.classifier import classify_query
    from oracle.services.prompting.composer import compose_prompt
    from oracle.services.tools.project_tools import project_tools

    rows = [*singles("test"), *conversations("test"), *broad_and_narrow("test")]
    with TemporaryDirectory() as folder:
        tools = project_tools(Path(folder)).specs
    composed = (compose_prompt(classify_query(row.query, row.history), tools=tools) for row in rows)
    return [sha256(prompt.text.encode()).hexdigest() for prompt in composed]


if __name__ == "__main__":
    print(json.dumps(prompt_digests()))
