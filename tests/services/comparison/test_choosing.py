"""One comparison counts for each run, and none in which a loop broke down."""

import pytest

from oracle.services.comparison.choosing import chosen
from oracle.services.comparison.comparing import Comparison
from oracle.services.comparison.facts import LoopFacts


def pair(run="a", *, question="What?", tree="answered", baseline="answered", shadow="s"):
    return Comparison(
        run_id=run,
        shadow_run_id=shadow,
        question=question,
        model="m",
        served="tree",
        tree=LoopFacts(stop_reason=tree),
        baseline=LoopFacts(stop_reason=baseline),
    )


@pytest.mark.parametrize("loop", ["tree", "baseline"])
@pytest.mark.parametrize("stop", ["model_unavailable", "internal_error", "cancelled", ""])
def test_a_pair_with_a_loop_that_broke_down_is_left_out_and_named(loop, stop):
    found = chosen([pair("a", **{loop: stop}), pair("b")])
    assert [each.run_id for each in found.counted] == ["b"]
    assert [(each["run_id"], each[loop]) for each in found.left_out()] == [("a", stop)]


@pytest.mark.parametrize("stop", ["partial_answer", "turn_limit", "time_limit", "no_progress"])
def test_a_loop_that_ended_by_its_own_control_counts(stop):
    assert chosen([pair(tree=stop)]).broken == []


def test_a_run_counts_once_with_its_newest_comparison():
    found = chosen([pair(shadow="3"), pair("b"), pair(shadow="2"), pair(shadow="1")])
    assert [(each.run_id, each.shadow_run_id) for each in found.counted] == [("a", "3"), ("b", "s")]
    assert found.older == 2


def test_a_run_that_was_compared_again_after_a_break_counts():
    found = chosen([pair(baseline="model_unavailable"), pair(shadow="whole")])
    assert [each.shadow_run_id for each in found.counted] == ["whole"]
    assert found.broken == []


def test_the_number_of_questions_is_that_of_different_texts():
    found = chosen([pair("a"), pair("b", question="what? "), pair("c", question="Who?")])
    assert (found.questions, found.words()) == (2, "3 runs of 2 questions")
    assert found.newest(1).words() == "1 question"
