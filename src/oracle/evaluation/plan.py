"""Which models are asked which questions."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from oracle.evaluation.agent_runs import Examined, MakeModel, Outcome, ask_all
from oracle.evaluation.harbour import Question, harbour, questions
from oracle.evaluation.held_out import SEED, held_out_questions, is_held_out, notebook
from oracle.evaluation.purse import Purse
from oracle.services.llm.protocol import Model
from oracle.testing.simulated import CHARACTERS, STRENGTHS, simulated_model

SIMULATED: Final = "simulated:"
CONTROL: Final = "competent"
"""The simulated model that does not misbehave."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Part:
    """One model and what it is asked."""

    make_model: MakeModel
    asked: Sequence[Question]

    def has(self, outcome: Outcome, repeats: int) -> bool:
        """Whether this part asks for it."""
        names = {self.make_model(repeat).name for repeat in range(repeats)}
        is_asked = any(question.id == outcome.question for question in self.asked)
        return is_asked and outcome.model in names and outcome.repeat < repeats


@dataclass(frozen=True, slots=True)
class Simulated:
    """A simulated model, made anew for each repeat. It can be sent to another process."""

    character: str
    strength: str
    first_seed: int = 0

    def __call__(self, seed: int) -> Model:
        return simulated_model(self.character, self.strength, seed=self.first_seed + seed)


def simulated_parts(typed: str, every: int, *, held_out: bool = False) -> Iterator[Part]:
    """`gatherer/extreme`, `gatherer` (marked), `all`, or `all/mild`.

    Of `all`, each model begins with another question, so together they are asked all of them.
    `held_out` means other questions, about another project, and other seeds.
    """
    asked = held_out_questions() if held_out else questions()
    seed = SEED if held_out else 0
    name, _, strength = typed.removeprefix(SIMULATED).partition("/")
    if name != "all":
        simulated_model(name, strength or "marked")  # says at once if there is no such one
        yield Part(make_model=Simulated(name, strength or "marked", seed), asked=asked[::every])
        return
    strengths = (strength,) if strength else STRENGTHS
    models = [Simulated(each, strong, seed) for each in CHARACTERS for strong in strengths]
    for place, model in enumerate(models):
        yield Part(make_model=model, asked=asked[place % every :: every])


async def ask_parts(
    parts: Sequence[Part],
    *,
    repeats: int = 1,
    examined: Examined | None = None,
    done: frozenset[tuple[str, str, str, int]] = frozenset(),
    purse: Purse | None = None,
) -> AsyncGenerator[Outcome]:
    """Both loops on each part, in one copy of its project. Those that are `done` are left out."""
    apart = [part for part in parts if any(is_held_out(each.id) for each in part.asked)]
    ours = [part for part in parts if part not in apart]
    for project, own in ((harbour, ours), (notebook, apart)):
        if own:
            async with project() as world, world.index.at_hand():
                for part in own:
                    async for outcome in ask_all(
                        world,
                        part.asked,
                        make_model=part.make_model,
                        repeats=repeats,
                        examined=examined or Examined(),
                        done=done,
                        purse=purse,
                    ):
                        yield outcome
