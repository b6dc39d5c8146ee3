"""Loop and exit."""

import pytest

from oracle.bt.core.definition import TreeDefinition
from oracle.bt.nodes import (
    AlwaysFail,
    Exit,
    Invert,
    Loop,
    Parallel,
    Retry,
    Selector,
    Sequence,
    Subtree,
    Timeout,
)
from oracle.bt.state.base import FAILURE, RUNNING, SKIPPED, SUCCESS
from oracle.bt.state.schema import Key
from oracle.errors import BoundReached, StructureError
from oracle.testing import ScriptedNode

S, F, R, K = SUCCESS, FAILURE, RUNNING, SKIPPED


@pytest.mark.parametrize(
    ("script", "expected"),
    [
        ([S, S, S], [R, R, F]),
        ([F], [F]),
        ([S, F], [R, F]),
        ([R, S, R, F], [R, R, R, F]),
        ([K], [K]),
        ([S, K, S, S, S], [R, K, R, R, F]),
    ],
)
def test_loop(stage, script, expected):
    child = ScriptedNode(*script)
    assert stage(Loop(child, max=3)).ticks(len(expected)) == expected
    child.check_played_out()


def test_the_bound_leaves_its_cause(stage):
    on_stage = stage(Loop(ScriptedNode(S), max=1, name="turns"))
    on_stage.tick()
    assert isinstance(on_stage.run.context.failure, BoundReached)
    assert "turns: not left after 1 rounds" in str(on_stage.run.context.failure)


def test_exit_ends_the_loop_with_success(stage):
    on_stage = stage(Loop(Selector(ScriptedNode(S, F), Exit(loop="l")), max=9, name="l"))
    assert on_stage.ticks(2) == [R, S]


@pytest.mark.parametrize(
    "wrap",
    [AlwaysFail, Invert, lambda child: Retry(child, attempts=5), lambda child: Parallel(child)],
)
def test_no_node_on_the_way_can_turn_an_exit_into_something_else(stage, wrap):
    assert stage(Loop(wrap(Exit(loop="l")), max=9, name="l")).tick() is S


def test_exit_halts_what_runs_beside_it(stage):
    slow = ScriptedNode(R, R)
    body = Parallel(slow, Sequence(ScriptedNode(R, S), Exit(loop="l")))
    on_stage = stage(Loop(body, max=9, name="l"))
    assert on_stage.ticks(2) == [R, S]
    assert slow.halts == 1
    assert on_stage.run.memory[body.index] is None


def test_exit_leaves_no_deadline_and_no_scope_of_the_nodes_that_it_passes(stage):
    inside = Timeout(
        Subtree(Exit(loop="l"), tree="inner", schema={"count": Key(int, 0)}), seconds=5
    )
    on_stage = stage(Loop(inside, max=9, name="l"))
    assert on_stage.tick() is S
    assert on_stage.run.deadlines == {}
    assert on_stage.run.scopes == {}


def test_exit_leaves_the_loop_that_it_names_not_the_nearest(stage):
    inner = Loop(Exit(loop="outer"), max=2, name="inner")
    on_stage = stage(Loop(Sequence(inner, ScriptedNode()), max=2, name="outer"))
    assert on_stage.tick() is S


def test_of_two_loops_with_one_name_the_nearest_is_left(stage):
    after = ScriptedNode(S, S)
    inner = Loop(Exit(loop="l"), max=2, name="l")
    on_stage = stage(Loop(Sequence(inner, after), max=2, name="l"))
    assert on_stage.ticks(2) == [R, F]
    assert after.ticks == 2


def test_a_loop_can_be_entered_again_after_it_was_left(stage):
    on_stage = stage(Loop(Sequence(ScriptedNode(R, S, S), Exit(loop="l")), max=1, name="l"))
    assert on_stage.ticks(3) == [R, S, S]


def test_the_nodes_on_the_way_out_are_seen_to_succeed(stage):
    inner = Sequence(ScriptedNode(F, S), Exit(loop="l"))
    on_stage = stage(Loop(Selector(inner, ScriptedNode(S)), max=3, name="l"))
    on_stage.ticks(2)
    assert on_stage.status(inner) is S


def test_exit_without_its_loop_is_refused():
    with pytest.raises(StructureError, match=r"'turn', .* did you mean 'turns'"):
        TreeDefinition("t", Loop(Exit(loop="turn"), max=2, name="turns"))


def test_a_loop_needs_a_bound_of_one_or_more():
    with pytest.raises(StructureError, match="max is 0; use 1 or more"):
        Loop(ScriptedNode(), max=0)
