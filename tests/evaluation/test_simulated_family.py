"""The family of simulated models, with the tree and with the plain loop.

On a fixed sample: at least 70 % fewer needless calls than the plain loop, every run ends within its
limits with an answer, and fewer answers are wrongly called whole. test_stored_figures.py looks at
the whole family.
"""

from collections.abc import Sequence

import pytest

from oracle.evaluation.agent_runs import LIMIT_STOPS, Outcome, ask
from oracle.evaluation.harbour import harbour, questions
from oracle.services.control.ledger import Limits
from oracle.testing.simulated import CHARACTERS, simulated_model

pytestmark = pytest.mark.extra

FEWER = 0.3
GATHERERS = ("gatherer", "flooder", "contradictory", "failing_caller")
"""They make most of the needless calls, so they weigh most in the sum."""


async def asked(world, question, model, loop):
    return await ask(world, question, model=model, loop=loop, repeat=0, limits=Limits())


async def outcomes(characters: Sequence[str], strengths: Sequence[str], every: int, first: int = 0):
    found: list[Outcome] = []
    async with harbour() as world, world.index.at_hand():
        for character in characters:
            for strength in strengths:
                model = simulated_model(character, strength)
                some = questions()[first::every]
                pairs = [(question, loop) for question in some for loop in ("tree", "baseline")]
                found += [await asked(world, question, model, loop) for question, loop in pairs]
    return found


def check(found: Sequence[Outcome]) -> None:
    tree = [each for each in found if each.loop == "tree"]
    plain = [each for each in found if each.loop == "baseline"]
    needless = [sum(each.facts.needless_calls for each in loop) for loop in (tree, plain)]
    assert needless[0] <= FEWER * needless[1]
    assert all(each.facts.answer.strip() for each in tree)
    assert not [each for each in tree if each.facts.stop_reason in LIMIT_STOPS]
    wrong = [sum(each.is_wrongly_whole for each in loop) for loop in (tree, plain)]
    assert wrong[0] < wrong[1]


async def test_those_who_gather_too_much_are_held_back_and_answer():
    check(await outcomes(GATHERERS, ["marked"], every=40, first=4))


@pytest.mark.parametrize("character", CHARACTERS)
async def test_every_run_of_every_character_ends_with_an_answer_within_its_limits(character):
    (question,) = questions()[34:35]
    async with harbour() as world, world.index.at_hand():
        model = simulated_model(character, "extreme")
        outcome = await asked(world, question, model, "tree")
    assert outcome.facts.answer.strip()
    assert outcome.facts.stop_reason not in LIMIT_STOPS
    assert outcome.facts.needless_calls <= 8
