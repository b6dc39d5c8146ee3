"""The held-out questions: another project, other seeds, and figures of their own."""

from dataclasses import replace

from oracle.evaluation.criteria import command_for, figures_of
from oracle.evaluation.harbour import DATA, questions
from oracle.evaluation.held_out import GROUP, SEED, held_out_questions, is_held_out
from oracle.evaluation.plan import ask_parts, simulated_parts


def test_each_asks_for_a_file_that_is_there():
    for question in held_out_questions():
        assert all((DATA / GROUP / file).is_file() for file in question.cites[0])
    assert not any(is_held_out(question.id) for question in questions())


async def test_they_are_asked_of_models_with_other_seeds_and_measured_apart():
    (part,) = simulated_parts("competent", 70, held_out=True)
    assert part.make_model.first_seed == SEED
    outcomes = [outcome async for outcome in ask_parts([part])]
    ours = [replace(each, question="code-01") for each in outcomes]
    on = dict.fromkeys(figure.on for figure in figures_of([*outcomes, *ours]))
    assert list(on) == ["simulated: competent", "simulated: competent, held out"]


def test_their_command_says_so():
    on = "simulated: misbehaving, held out"
    assert command_for(on) == "oracle eval agent --criteria --simulated all --held-out"
