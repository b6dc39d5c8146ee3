"""Confidence beside correctness, in bins."""

from oracle.evaluation.agent_runs import Outcome
from oracle.evaluation.calibration import calibration, calibrations_of, expected_error
from oracle.services.comparison.facts import LoopFacts


def test_bins_have_a_mean_confidence_and_an_accuracy():
    low, high = calibration([0.2, 0.9, 1.0], [False, True, False])
    assert (low.low, low.high, low.count, low.accuracy) == (0.2, 0.3, 1, 0.0)
    assert (high.count, high.confidence, high.accuracy) == (2, 0.95, 0.5)


def test_the_error_is_zero_for_a_model_that_knows_how_often_it_is_right():
    assert expected_error(calibration([0.5, 0.5], [True, False])) == 0.0
    assert expected_error(calibration([1.0, 1.0], [True, False])) == 0.5
    assert expected_error(()) == 0.0


def answer(confidence, *, right=True, loop="tree", question="a"):
    facts = LoopFacts(stop_reason="answered", answer="x")
    return Outcome(
        question=question,
        loop=loop,
        model="m",
        repeat=0,
        facts=facts,
        complete=1.0,
        is_right=right,
        confidence=confidence,
    )


def test_answers_without_a_signal_and_those_of_the_plain_loop_are_kept_apart():
    outcomes = [answer(0.8), answer(None, question="b"), answer(0.1, loop="baseline")]
    (found,) = calibrations_of(outcomes)
    assert (found.count, found.silent, round(found.error, 2)) == (1, 1, 0.2)
