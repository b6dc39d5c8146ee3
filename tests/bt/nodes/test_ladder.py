"""Ladders and deferred tasks, as their truth tables say."""

import pytest

from oracle.bt.core.context import TickContext
from oracle.bt.core.definition import TreeDefinition
from oracle.bt.core.runtime import TreeRun
from oracle.bt.nodes import AlwaysSucceed, Deferred, Ladder, Later, Sequence
from oracle.bt.state.base import FAILURE, RUNNING, SKIPPED, SUCCESS
from oracle.bt.state.blackboard import TypedBlackboard
from oracle.errors import StructureError
from oracle.testing import ScriptedNode


def ladder(*rungs, restart=None):
    nodes = [ScriptedNode(*statuses) for statuses in rungs]
    tree = TreeDefinition("t", Ladder(*nodes, restart=restart))
    run = TreeRun(tree, TickContext(blackboard=TypedBlackboard()))
    return run, nodes


def test_each_tick_takes_the_next_rung():
    run, rungs = ladder([SUCCESS], [SUCCESS])
    assert [run.tick(), run.tick(), run.tick()] == [SUCCESS, SUCCESS, FAILURE]
    assert [rung.ticks for rung in rungs] == [1, 1]


@pytest.mark.parametrize("passed", [FAILURE, SKIPPED])
def test_a_rung_with_nothing_to_offer_makes_room_for_the_next(passed):
    run, rungs = ladder([passed], [SUCCESS], [SUCCESS])
    assert run.tick() is SUCCESS
    assert run.tick() is SUCCESS
    assert [rung.ticks for rung in rungs] == [1, 1, 1]


def test_a_running_rung_goes_on_at_the_next_tick():
    run, rungs = ladder([RUNNING, SUCCESS], [SUCCESS])
    assert [run.tick(), run.tick(), run.tick()] == [RUNNING, SUCCESS, SUCCESS]
    assert [rung.ticks for rung in rungs] == [2, 1]


def test_a_restart_begins_at_the_first_rung_again():
    restarts = iter([False, False, True])
    run, rungs = ladder([SUCCESS, SUCCESS], [SUCCESS], restart=lambda _: next(restarts))
    assert [run.tick(), run.tick(), run.tick()] == [SUCCESS, SUCCESS, SUCCESS]
    assert [rung.ticks for rung in rungs] == [2, 1]


def test_a_restart_does_not_interrupt_a_rung_that_is_running():
    restarts = iter([False])
    run, _ = ladder([RUNNING, SUCCESS], restart=lambda _: next(restarts))
    assert [run.tick(), run.tick()] == [RUNNING, SUCCESS]


def test_a_halted_rung_counts_as_not_taken():
    run, rungs = ladder([SUCCESS], [RUNNING, SUCCESS])
    assert [run.tick(), run.tick()] == [SUCCESS, RUNNING]
    run.definition.root.halt(run)
    assert run.tick() is SUCCESS
    assert [rung.ticks for rung in rungs] == [1, 2]


def test_a_ladder_of_skipped_rungs_is_skipped():
    skipped = Ladder(ScriptedNode(SKIPPED), ScriptedNode(SKIPPED))
    run = TreeRun(TreeDefinition("t", Sequence(skipped, ScriptedNode(SUCCESS))))
    assert run.tick() is SUCCESS
    assert run.statuses[skipped.index] is SKIPPED


def tasks(child, *asking):
    deferred = Deferred(child, task="work")
    return TreeRun(TreeDefinition("t", Sequence(Sequence(*asking, name="ask"), deferred)))


def test_a_deferred_task_waits_until_it_is_asked_for():
    child = ScriptedNode()
    assert tasks(child, ScriptedNode(SUCCESS)).tick() is SUCCESS
    assert child.ticks == 0


def test_asking_twice_is_asking_once():
    child = ScriptedNode(SUCCESS)
    run = tasks(child, Later(task="work"), Later(task="work", name="again"))
    assert run.tick() is SUCCESS
    assert child.ticks == 1


def test_a_task_that_is_done_waits_to_be_asked_for_again():
    child = ScriptedNode(SUCCESS)
    run = tasks(child, AlwaysSucceed(Ladder(Later(task="work"))))
    assert [run.tick(), run.tick()] == [SUCCESS, SUCCESS]
    assert child.ticks == 1


def test_a_halted_task_forgets_its_request():
    child = ScriptedNode(RUNNING)
    run = tasks(child, AlwaysSucceed(Ladder(Later(task="work"))))
    assert run.tick() is RUNNING
    run.definition.root.halt(run)
    assert run.tick() is SUCCESS
    assert child.ticks == 1


def test_a_running_task_goes_on():
    child = ScriptedNode(RUNNING, SUCCESS)
    run = tasks(child, Later(task="work"))
    assert [run.tick(), run.tick()] == [RUNNING, SUCCESS]


def test_a_task_that_nobody_does_is_refused():
    with pytest.raises(StructureError, match=r"no BT\.deferred has the task 'wrk'"):
        TreeDefinition("t", Later(task="wrk"))
