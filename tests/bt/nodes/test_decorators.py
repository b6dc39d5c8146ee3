"""The truth tables of the decorators."""

import pytest

from oracle.bt.nodes import (
    AlwaysFail,
    AlwaysSucceed,
    Cooldown,
    Guard,
    Invert,
    Once,
    Repeat,
    Retry,
    Sequence,
    Timeout,
)
from oracle.bt.state.base import FAILURE, RUNNING, SKIPPED, SUCCESS
from oracle.errors import Failure, LeafError, StructureError, TimedOut
from oracle.testing import ScriptedNode
from tests.tables import each_row

S, F, R, K = SUCCESS, FAILURE, RUNNING, SKIPPED


@pytest.mark.parametrize(
    ("kind", "options", "script", "expected"),
    [
        (AlwaysSucceed, {}, [S, F, R, K], [S, S, R, K]),
        (AlwaysFail, {}, [S, F, R, K], [F, F, R, K]),
        (Invert, {}, [S, F, R, K], [F, S, R, K]),
        (Retry, {"attempts": 2}, [S], [S]),
        (Retry, {"attempts": 2}, [F, S], [R, S]),
        (Retry, {"attempts": 2}, [F, F], [R, F]),
        (Retry, {"attempts": 2}, [F, R, F], [R, R, F]),
        (Retry, {"attempts": 2}, [F, K, F, F], [R, K, R, F]),
        (Retry, {"attempts": 1}, [F], [F]),
        (Retry, {"attempts": 2}, [F, F, F, S], [R, F, R, S]),
        (Repeat, {"times": 2}, [S, S], [R, S]),
        (Repeat, {"times": 2}, [F], [F]),
        (Repeat, {"times": 2}, [S, F], [R, F]),
        (Repeat, {"times": 2}, [S, R, S], [R, R, S]),
        (Repeat, {"times": 2}, [S, K, S, S], [R, K, R, S]),
        (Repeat, {"times": 1}, [S], [S]),
        (Once, {}, [S], [S, K, K]),
        (Once, {}, [F], [F, K]),
        (Once, {}, [R, S], [R, S, K]),
        (Once, {}, [K, S], [K, S, K]),
        (Timeout, {"seconds": 5}, [S, F, R, K], [S, F, R, K]),
    ],
)
def test_truth_table(stage, kind, options, script, expected):
    child = ScriptedNode(*script)
    assert stage(kind(child, **options)).ticks(len(expected)) == expected
    child.check_played_out()


DECORATORS = [
    (AlwaysSucceed, {}),
    (AlwaysFail, {}),
    (Invert, {}),
    (Retry, {"attempts": 3}),
    (Repeat, {"times": 3}),
    (Once, {}),
    (Timeout, {"seconds": 1}),
    (Cooldown, {"seconds": 1}),
    (Guard, {"fn": lambda ctx: True}),
]


@pytest.mark.parametrize(("kind", "options"), DECORATORS)
def test_halting_reaches_the_child_once_and_leaves_the_way_open(stage, kind, options):
    child = ScriptedNode(R, K)
    on_stage = stage(kind(child, **options))
    assert on_stage.tick() is R
    on_stage.halt()
    on_stage.halt()
    assert (child.halts, on_stage.status(on_stage.node)) == (1, None)
    assert on_stage.tick() is K
    assert on_stage.run.deadlines == {} or kind is not Timeout


@pytest.mark.parametrize("kind", [Retry, Repeat])
def test_rounds_count_anew_after_a_halt(stage, kind):
    again, last = (F, F) if kind is Retry else (S, S)
    option = {"attempts": 2} if kind is Retry else {"times": 2}
    child = ScriptedNode(again, R, again, last)
    on_stage = stage(kind(child, **option))
    assert on_stage.ticks(2) == [R, R]
    on_stage.halt()
    assert on_stage.ticks(2) == [R, last]


def test_a_round_wakes_the_run_for_the_next(stage):
    on_stage = stage(Repeat(ScriptedNode(S, S), times=2))
    woken = []
    on_stage.run.context.wake = lambda: woken.append(1)
    on_stage.tick()
    assert woken == [1]
    on_stage.tick()
    assert woken == [1]


@pytest.mark.parametrize(
    ("answer", "expected"),
    [(True, S), (SUCCESS, S), (False, K), (FAILURE, K), (SKIPPED, K)],
)
def test_guard_takes_the_child_out_unless_the_test_holds(stage, answer, expected):
    child = ScriptedNode(S)
    assert stage(Guard(child, fn=lambda ctx: answer)).tick() is expected
    assert child.ticks == (expected is S)


def test_guard_stays_live_while_the_child_runs(stage):
    answers = iter([True, True, False, True])
    child = ScriptedNode(R, R, S)
    on_stage = stage(Guard(child, fn=lambda ctx: next(answers)))
    assert on_stage.ticks(4) == [R, R, K, S]
    assert child.halts == 1


@pytest.mark.parametrize("answer", [RUNNING, None, 1, "yes"])
def test_a_guard_that_does_not_know_is_an_error(stage, answer):
    with pytest.raises(LeafError, match="the test of a guard returned"):
        stage(Guard(ScriptedNode(S), fn=lambda ctx: answer)).tick()


def test_a_guard_whose_test_fails_is_closed_and_leaves_the_cause(stage):
    def broken(ctx):
        raise Failure("the sensor is gone")

    on_stage = stage(Guard(ScriptedNode(S), fn=broken))
    assert on_stage.tick() is K
    assert str(on_stage.run.context.failure) == "the sensor is gone"


def test_timeout_halts_a_child_that_still_runs_at_the_deadline(stage):
    child = ScriptedNode(R, R, R)
    on_stage = stage(Timeout(child, seconds=2, name="t"))
    assert [on_stage.tick(), on_stage.tick(1.9), on_stage.tick(0.1)] == [R, R, F]
    assert child.halts == 1
    assert isinstance(on_stage.run.context.failure, TimedOut)
    assert on_stage.run.deadlines == {}


def test_timeout_takes_a_result_that_comes_late(stage):
    on_stage = stage(Timeout(ScriptedNode(R, S), seconds=2))
    assert [on_stage.tick(), on_stage.tick(3)] == [R, S]


def test_timeout_counts_anew_each_time_it_starts(stage):
    on_stage = stage(Timeout(ScriptedNode(R, S, R, S), seconds=2))
    assert [on_stage.tick(t) for t in (0, 1.5, 1.5, 1.5)] == [R, S, R, S]


@pytest.mark.parametrize("ended", [S, F])
def test_cooldown_is_closed_for_its_time_after_the_child_has_ended(stage, ended):
    on_stage = stage(Cooldown(ScriptedNode(ended, ended), seconds=2))
    assert [on_stage.tick(t) for t in (0, 1.9, 0.1, 0)] == [ended, K, ended, K]


def test_cooldown_stays_open_while_the_child_runs_or_is_skipped(stage):
    on_stage = stage(Cooldown(ScriptedNode(R, K, S), seconds=2))
    assert on_stage.ticks(4) == [R, K, S, K]


@each_row(
    ("kind", "option", "value"),
    [
        (Retry, "attempts", 0),
        (Repeat, "times", -1),
        (Timeout, "seconds", 0),
        (Timeout, "seconds", float("nan")),
        (Cooldown, "seconds", float("inf")),
    ],
)
def test_a_senseless_option_is_refused_with_its_value(kind, option, value):
    with pytest.raises(StructureError, match=f"{option} is {value}; use"):
        kind(ScriptedNode(S), **{option: value})


@each_row("kind", [kind for kind, _ in DECORATORS])
def test_a_decorator_takes_exactly_one_child(kind):
    with pytest.raises(StructureError, match="takes 1 child, not 2"):
        kind.check_count(2)


def test_once_inside_a_sequence_lets_it_pass_the_second_time(stage):
    on_stage = stage(Sequence(Once(ScriptedNode(S)), ScriptedNode(S, S)))
    assert on_stage.ticks(2) == [S, S]
