"""A run as JSON, and a run that goes on from there."""

import asyncio
import json

import pytest

from oracle.bt.core.context import TickContext
from oracle.bt.core.definition import TreeDefinition
from oracle.bt.core.runtime import Outcome, TreeRun
from oracle.bt.core.snapshot import restore_run, take_snapshot
from oracle.bt.nodes import Action, Cooldown, Parallel, Repeat, Sequence, Subtree, Timeout
from oracle.bt.state.base import RUNNING, SUCCESS
from oracle.bt.state.schema import Key
from oracle.errors import StructureError
from oracle.testing import ManualClock
from tests.tables import each_row

S, R = SUCCESS, RUNNING


def count(ctx):
    ctx.blackboard.set("n", ctx.blackboard.get("n") + 1)
    return S if ctx.blackboard.get("n") % 2 == 0 else R


def tree():
    counted = Subtree(Action(fn=count), tree="counted", schema={"n": Key(int, 0)})
    return TreeDefinition(
        "t",
        Sequence(
            Repeat(Timeout(counted, seconds=9), times=3),
            Cooldown(Action(fn=lambda ctx: S), seconds=5),
            name="s",
        ),
    )


def ticks(run, clock, count):
    answers = []
    for _ in range(count):
        clock.advance(1)
        answers.append(run.tick())
    return answers


@each_row("taken_after", range(7))
def test_a_run_restored_at_any_tick_goes_on_as_if_nothing_had_happened(taken_after):
    clock = ManualClock()
    whole = ticks(TreeRun(tree(), TickContext(clock=clock)), clock, 8)

    clock = ManualClock()
    run = TreeRun(tree(), TickContext(clock=clock))
    before = ticks(run, clock, taken_after)
    written = json.loads(json.dumps(take_snapshot(run)))
    restored = restore_run(tree(), written, TickContext(clock=clock))
    assert take_snapshot(restored) == written
    assert before + ticks(restored, clock, 8 - taken_after) == whole


async def test_an_async_leaf_that_was_at_work_starts_anew():
    starts = []
    opened = asyncio.Event()

    async def work(ctx):
        starts.append(1)
        await opened.wait()
        return S

    def build():
        return TreeDefinition("t", Parallel(Action(fn=work), Action(fn=lambda ctx: S)))

    run = TreeRun(build())
    run.tick()
    snapshot = take_snapshot(run)
    run.definition.root.halt(run)
    opened.set()
    assert (await restore_run(build(), snapshot, TickContext()).settle()).status is S
    assert len(starts) == 1


@pytest.mark.parametrize("name", ["u", "t"])
def test_a_snapshot_of_another_tree_is_refused(name):
    snapshot = take_snapshot(TreeRun(tree()))
    with pytest.raises(StructureError, match=f"a snapshot of 't' does not fit '{name}'"):
        restore_run(TreeDefinition(name, Action(fn=count)), snapshot, TickContext())


async def test_a_run_restored_in_its_finish_branch_does_not_play_the_root_again():
    calls = []

    def build():
        def note(name, status):
            return Action(fn=lambda ctx: calls.append(name) or status, name=name)

        finish = Sequence(note("one", S), Repeat(note("two", S), times=2), name="finish")
        return TreeDefinition("t", note("root", S), finish=finish)

    run = TreeRun(build())
    run.tick()
    run.context.outcome = Outcome(status=S, stop="settled")
    run.branch = run.definition.finish
    run.tick()
    restored = restore_run(build(), json.loads(json.dumps(take_snapshot(run))), TickContext())
    assert (await restored.settle()).status is S
    assert calls == ["root", "one", "two", "two"]
