"""Measures the success criteria, and writes them to docs/evaluation.json and docs/evaluation.md.

    python scripts/make_evaluation.py [keep-small-model]

The simulated models are asked by one process for each core. Their outcomes are kept in `build/`
until all are there: a run that was interrupted goes on, unless a file of the package has changed.
The small real model is asked a few questions within small limits; where it is not installed, its
stored figures stay.
"""

import asyncio
import os
import sys
import time
from collections.abc import Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from functools import partial
from hashlib import sha256
from itertools import repeat
from multiprocessing import get_context
from pathlib import Path

import oracle
from oracle.evaluation.agent_report import append_outcome, read_outcomes
from oracle.evaluation.agent_runs import Examined, Outcome
from oracle.evaluation.criteria import (
    HELD_OUT,
    ON_MISBEHAVING,
    Figure,
    command_for,
    figures_of,
    not_measured,
)
from oracle.evaluation.criteria_table import criterion_rows
from oracle.evaluation.harbour import questions
from oracle.evaluation.modelless import modelless_figures
from oracle.evaluation.plan import CONTROL, Part, Simulated, ask_parts, simulated_parts
from oracle.evaluation.stored_figures import (
    EVERY,
    EVERY_HELD_OUT,
    StoredFigures,
    digests,
    sample_parts,
    sampled,
)
from oracle.services.control.ledger import Limits
from oracle.testing import small_model

DOCS = Path(__file__).parents[1] / "docs"
STORED, PAGE = DOCS / "evaluation.json", DOCS / "evaluation.md"
KEPT, PACKAGE = DOCS.parent / "build", Path(oracle.__file__).parent
PORTIONS = 6
"""In how many portions each process gets its models: few, as each portion builds an index."""
SMALL_QUESTIONS = ("talk-01", "code-01", "absent-01", "note-01")
SMALL = Examined(limits=Limits(turns=3, seconds=90))
SMALL_OUTPUT = 160
SECONDS_FOR_SMALL = 360
"""After this no further question is put to the small model."""
COMMANDS = {
    **{
        on: f"{command_for(on)} --every {every}"
        for on, every in (
            (ON_MISBEHAVING, EVERY),
            (ON_MISBEHAVING + HELD_OUT, EVERY_HELD_OUT),
        )
    },
    small_model.NAME: "make eval",
}


def main() -> None:
    began = time.monotonic()
    keep = "keep-small-model" in sys.argv[1:]
    outcomes = simulated_outcomes()
    say(f"asked the simulated models ({len(outcomes)} runs)", began)
    figures = [*figures_of(outcomes, COMMANDS), *small_figures(keep=keep)]
    say("asked the small model", began)
    figures += asyncio.run(without_model())
    figures += not_measured(figures)
    stored = StoredFigures(
        figures=figures, depends_on=digests(), sample=[*map(sampled, in_sample(outcomes))]
    )
    stored.write(STORED)
    PAGE.write_text(stored.written_into(PAGE.read_text("utf-8")), "utf-8")
    for row in criterion_rows(figures):
        print("\t".join(row))
    say(f"wrote {STORED.name} and {PAGE.name}", began)


def simulated_outcomes() -> list[Outcome]:
    misbehaving = (*misbehaving_parts(held_out=False), *misbehaving_parts(held_out=True))
    return outcomes_of([*misbehaving, *competent_parts(), *sample_parts()])


def competent_parts() -> list[Part]:
    """The control is asked everything, the others every so many questions."""
    return thin_slices((*simulated_parts(CONTROL, 1), *simulated_parts(CONTROL, 1, held_out=True)))


def misbehaving_parts(*, held_out: bool) -> list[Part]:
    every = EVERY_HELD_OUT if held_out else EVERY
    family = simulated_parts("all", every, held_out=held_out)
    return [part for part in family if not is_control(part)]


def outcomes_of(parts: Sequence[Part]) -> list[Outcome]:
    jobs = os.cpu_count() or 1
    portions = [parts[start :: jobs * PORTIONS] for start in range(jobs * PORTIONS)]
    KEPT.mkdir(exist_ok=True)
    name = f"evaluation-{digest_of_the_package()}"
    kept = [each for file in KEPT.glob(f"{name}-*.jsonl") for each in read_outcomes(file)]
    known = frozenset(each.key for each in kept)
    # A file for each process: what two write into one could get mixed up.
    files = [KEPT / f"{name}-{number}.jsonl" for number in range(len(portions))]
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
        asking = [*map(partial(pool.submit, ask_portion), portions, files, repeat(known))]
        found = [*kept, *(outcome for done in as_completed(asking) for outcome in done.result())]
    for file in KEPT.glob("evaluation-*.jsonl"):
        file.unlink()
    return sorted({each.key: each for each in found}.values(), key=lambda each: each.key)


def digest_of_the_package() -> str:
    """Of all its files: an outcome of other code must not be kept."""
    total = sha256()
    for file in sorted(PACKAGE.rglob("*")):
        if file.is_file() and file.suffix != ".pyc":
            total.update(f"{file.relative_to(PACKAGE)}\0".encode() + file.read_bytes())
    return total.hexdigest()[:12]


def is_control(part: Part) -> bool:
    return isinstance(part.make_model, Simulated) and part.make_model.character == CONTROL


def thin_slices(parts: Iterable[Part]) -> list[Part]:
    """The questions of a part in slices, so that one process does not get all of them."""
    return [
        Part(make_model=part.make_model, asked=part.asked[start::EVERY])
        for part in parts
        for start in range(EVERY)
    ]


def ask_portion(
    parts: Sequence[Part], file: Path, known: frozenset[tuple[str, str, str, int]]
) -> list[Outcome]:
    async def ask() -> list[Outcome]:
        outcomes: list[Outcome] = []
        async for outcome in ask_parts(parts, done=known):
            append_outcome(file, outcome)
            outcomes.append(outcome)
        return outcomes

    return asyncio.run(ask())


def in_sample(outcomes: Sequence[Outcome]) -> list[Outcome]:
    wanted = {(part.make_model(0).name, part.asked[0].id) for part in sample_parts()}
    return [each for each in outcomes if (each.model, each.question) in wanted]


def small_figures(*, keep: bool) -> list[Figure]:
    if small_model.is_installed() and not keep:
        return [*figures_of(asyncio.run(small_outcomes()), COMMANDS)]
    print("the small model is not installed (make .venv/.extra) or not asked", file=sys.stderr)
    stored = StoredFigures.read(STORED).figures if STORED.exists() else ()
    kept = [figure for figure in stored if figure.on == small_model.NAME]
    print(f"its {len(kept)} stored figures stay", file=sys.stderr)
    return kept


async def small_outcomes() -> list[Outcome]:
    known = {question.id: question for question in questions()}
    outcomes: list[Outcome] = []
    deadline = time.monotonic() + SECONDS_FOR_SMALL
    with small_model.serving() as url:
        model = small_model.small_model(
            url, longest_output=SMALL_OUTPUT, stall_seconds=SMALL.limits.seconds
        )
        for name in SMALL_QUESTIONS:
            if time.monotonic() < deadline:
                part = Part(make_model=lambda _: model, asked=[known[name]])
                outcomes += [each async for each in ask_parts([part], examined=SMALL)]
    return outcomes


async def without_model() -> list[Figure]:
    return [figure async for figure in modelless_figures()]


def say(text: str, began: float) -> None:
    print(f"{time.monotonic() - began:5.0f} s  {text}", file=sys.stderr)


if __name__ == "__main__":
    main()
