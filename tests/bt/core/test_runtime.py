"""Running a tree to its end: waiting, halting, limits, finishing."""

import asyncio
import gc
import logging

import pytest

from oracle.bt.core.context import TickContext
from oracle.bt.core.definition import TreeDefinition
from oracle.bt.core.node import Decorator
from oracle.bt.core.runtime import TreeRun
from oracle.bt.nodes import (
    Action,
    Condition,
    Guard,
    Loop,
    Parallel,
    ReactiveSequence,
    Selector,
    Sequence,
    Timeout,
)
from oracle.bt.state.base import FAILURE, RUNNING, SUCCESS
from oracle.errors import LeafError, NoProgress, StructureError, TickBudgetSpent
from oracle.testing import ManualClock, ScriptedNode

S, F, R = SUCCESS, FAILURE, RUNNING


class Door:
    """An async leaf that waits until the test opens it, and notes what happened to it."""

    def __init__(self, status=S):
        self.status = status
        self.opened = asyncio.Event()
        self.entered = 0
        self.cancelled = 0
        self.closed = 0

    async def __call__(self, ctx):
        self.entered += 1
        try:
            await self.opened.wait()
        except asyncio.CancelledError:
            self.cancelled += 1
            await asyncio.sleep(0)
            raise
        finally:
            self.closed += 1
        return self.status

    def node(self, name="door"):
        async def wait(ctx):
            return await self(ctx)

        return Action(fn=wait, name=name)


async def idle(rounds=10):
    for _ in range(rounds):
        await asyncio.sleep(0)


def tasks_besides_this():
    return asyncio.all_tasks() - {asyncio.current_task()}


async def test_a_waiting_run_is_not_ticked_until_something_happens():
    door = Door()
    run = TreeRun(TreeDefinition("t", door.node()))
    settling = asyncio.create_task(run.settle())
    await idle(50)
    assert run.context.ticks == 1
    door.opened.set()
    assert (await settling).status is S
    assert run.context.ticks == 2


async def test_wake_ticks_a_waiting_run_once():
    door = Door()
    run = TreeRun(TreeDefinition("t", door.node()))
    settling = asyncio.create_task(run.settle())
    await idle()
    run.context.wake()
    run.context.wake()
    await idle()
    assert run.context.ticks == 2
    door.opened.set()
    await settling


async def test_a_guard_halts_an_async_leaf_in_the_middle():
    door, allowed = Door(), [True]
    guarded = Selector(Guard(door.node(), fn=lambda ctx: allowed[0]), ScriptedNode(S))
    run = TreeRun(TreeDefinition("t", guarded))
    settling = asyncio.create_task(run.settle())
    await idle()
    allowed[0] = False
    run.wake()
    assert (await settling).status is S
    assert (door.cancelled, door.closed) == (1, 1)
    assert tasks_besides_this() == set()


async def test_a_failing_condition_under_a_reactive_sequence_halts_the_leaf():
    door, allowed = Door(), [True]
    root = ReactiveSequence(Condition(fn=lambda ctx: allowed[0]), door.node())
    run = TreeRun(TreeDefinition("t", root))
    settling = asyncio.create_task(run.settle())
    await idle()
    allowed[0] = False
    run.wake()
    assert (await settling).status is F
    assert door.closed == 1


async def test_what_was_halted_is_closed_before_the_next_tick():
    """The clean-up of a cancelled leaf takes a while; the tree must not go on meanwhile."""
    order = []

    async def slow_to_close(ctx):
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0.01)
            order.append("closed")

    async def next_leaf(ctx):
        order.append("next")
        return S

    clock = ManualClock()
    root = Selector(
        Timeout(Action(fn=slow_to_close), seconds=1),
        Sequence(ScriptedNode(R, S), Action(fn=next_leaf)),
    )
    run = TreeRun(TreeDefinition("t", root), TickContext(clock=clock))
    settling = asyncio.create_task(run.settle())
    await idle()
    clock.advance(1)
    await idle(3)
    run.wake()
    assert (await settling).status is S
    assert order == ["closed", "next"]


async def test_a_leaf_that_refuses_to_close_is_reported_and_left_behind(caplog):
    release = asyncio.Event()

    async def stubborn(ctx):
        while not release.is_set():
            try:
                await release.wait()
            except asyncio.CancelledError:
                continue
        return S

    run = TreeRun(TreeDefinition("t", Action(fn=stubborn, name="mule")), clean_up_seconds=0.01)
    settling = asyncio.create_task(run.settle())
    await idle()
    run.cancel()
    assert (await settling).stop == "cancelled"
    assert "mule: not closed after 0.01 s" in caplog.text
    release.set()
    await idle()


async def test_a_leaf_that_fails_while_closing_is_reported(caplog):
    async def breaks(ctx):
        try:
            await asyncio.Event().wait()
        finally:
            raise OSError("disk full")

    run = TreeRun(TreeDefinition("t", Action(fn=breaks, name="writer")))
    settling = asyncio.create_task(run.settle())
    await idle()
    run.cancel()
    await settling
    assert "writer: failed while closing: disk full" in caplog.text


async def test_parallel_leaves_really_run_at_the_same_time():
    doors = [Door() for _ in range(3)]
    run = TreeRun(TreeDefinition("t", Parallel(*(d.node(f"d{i}") for i, d in enumerate(doors)))))
    settling = asyncio.create_task(run.settle())
    await idle()
    assert [door.entered for door in doors] == [1, 1, 1]
    for door in reversed(doors):
        door.opened.set()
    assert (await settling).status is S


async def test_results_are_delivered_one_a_tick_in_the_order_in_which_they_came():
    doors = [Door() for _ in range(3)]
    run = TreeRun(TreeDefinition("t", Parallel(*(d.node(f"d{i}") for i, d in enumerate(doors)))))
    seen = []
    run.subscribe(lambda time, path, old, new: seen.append((run.context.ticks, path[-2:], new)))
    settling = asyncio.create_task(run.settle())
    await idle()
    for index in (2, 0, 1):
        doors[index].opened.set()
    await settling
    assert [entry for entry in seen if entry[2] is S] == [
        (2, "d2", S),
        (3, "d0", S),
        (4, "d1", S),
        (4, "#1", S),
    ]


async def test_a_result_that_comes_with_a_halt_is_dropped_without_a_trace(caplog):
    """Both leaves are done before the next tick; the first one's failure ends the parallel."""

    async def fails(ctx):
        return F

    async def raises(ctx):
        raise ValueError("nobody hears this")

    run = TreeRun(TreeDefinition("t", Parallel(Action(fn=fails), Action(fn=raises))))
    assert (await run.settle()).status is F
    gc.collect()
    await idle()
    assert caplog.text == ""


async def test_cancel_halts_at_once_and_plays_the_finish_branch():
    door, seen = Door(), []

    def finish(ctx):
        seen.append((ctx.outcome.stop, ctx.outcome.detail))
        return S

    run = TreeRun(TreeDefinition("t", door.node(), finish=Action(fn=finish, name="finish")))
    settling = asyncio.create_task(run.settle())
    await idle()
    run.cancel("ctrl-c")
    outcome = await settling
    assert (outcome.status, outcome.stop, outcome.detail) == (F, "cancelled", "ctrl-c")
    assert seen == [("cancelled", "ctrl-c")]
    assert door.closed == 1


async def test_cancel_before_the_start_starts_nothing():
    door = Door()
    run = TreeRun(TreeDefinition("t", door.node()))
    run.cancel()
    assert (await run.settle()).stop == "cancelled"
    assert door.entered == 0


@pytest.mark.parametrize("ending", [S, F])
async def test_the_finish_branch_is_played_after_every_end(ending):
    finish = ScriptedNode(R, S, name="finish")
    run = TreeRun(TreeDefinition("t", ScriptedNode(ending, name="root"), finish=finish))
    settling = asyncio.create_task(run.settle())
    await idle()
    run.wake()
    assert (await settling).status is ending
    finish.check_played_out()


async def test_a_developers_mistake_ends_the_run_through_the_finish_branch():
    def mistake(ctx):
        return ctx.blackboard.get("tpyo")

    finish = ScriptedNode(S, name="finish")
    root = Selector(Action(fn=mistake, name="bad"), ScriptedNode(), name="root")
    outcome = await TreeRun(TreeDefinition("t", root, finish=finish, schema={})).settle()
    assert outcome.stop == "internal_error"
    assert isinstance(outcome.error, LeafError)
    assert str(outcome.error).startswith("root/bad: no key 'tpyo' is declared")
    finish.check_played_out()


async def test_a_mistake_in_the_finish_branch_is_told_too():
    finish = Action(fn=lambda ctx: 1 / 0, name="finish")
    outcome = await TreeRun(TreeDefinition("t", ScriptedNode(S), finish=finish)).settle()
    assert str(outcome.error) == "finish: ZeroDivisionError: division by zero"


async def test_a_mistake_halts_what_runs_beside_it():
    door = Door()
    root = Parallel(door.node(), Sequence(ScriptedNode(R, S), Action(fn=lambda ctx: 1 / 0)))
    run = TreeRun(TreeDefinition("t", root))
    settling = asyncio.create_task(run.settle())
    await idle()
    run.wake()
    assert (await settling).stop == "internal_error"
    assert door.closed == 1
    assert tasks_besides_this() == set()


async def test_a_mistake_in_the_very_first_tick_leaves_no_task_behind():
    door = Door()
    run = TreeRun(TreeDefinition("t", Parallel(door.node(), Action(fn=lambda ctx: 1 / 0))))
    assert (await run.settle()).stop == "internal_error"
    assert tasks_besides_this() == set()


async def test_cancelling_the_surrounding_task_closes_the_leaves_and_goes_on():
    door = Door()
    run = TreeRun(TreeDefinition("t", door.node(), finish=ScriptedNode(name="finish")))
    settling = asyncio.create_task(run.settle())
    await idle()
    settling.cancel()
    with pytest.raises(asyncio.CancelledError):
        await settling
    assert (door.closed, tasks_besides_this()) == (1, set())


async def test_a_skipped_root_is_an_error():
    outcome = await TreeRun(
        TreeDefinition("t", Guard(ScriptedNode(), fn=lambda ctx: False))
    ).settle()
    assert isinstance(outcome.error, StructureError)
    assert "the root of a run was skipped" in outcome.detail


async def test_the_tick_budget_bounds_a_tree_that_never_settles():
    root = Loop(Action(fn=lambda ctx: S, name="spin"), max=10**9, name="l")
    outcome = await TreeRun(TreeDefinition("t", root), TickContext(tick_budget=100)).settle()
    assert outcome.stop == "tick_budget"
    assert isinstance(outcome.error, TickBudgetSpent)
    assert str(outcome.error) == "not settled after 100 ticks; running: l"


async def test_a_run_without_progress_is_halted_with_the_name_of_the_node():
    clock, door = ManualClock(), Door()
    run = TreeRun(
        TreeDefinition("t", Sequence(door.node("stuck"), name="s")),
        TickContext(clock=clock),
        progress_limit=30,
    )
    settling = asyncio.create_task(run.settle())
    await idle()
    clock.advance(29)
    await idle()
    assert not settling.done()
    clock.advance(1)
    outcome = await settling
    assert outcome.stop == "no_progress"
    assert isinstance(outcome.error, NoProgress)
    assert str(outcome.error) == "no progress for 30 s; running: s/stuck"
    assert door.closed == 1


async def test_progress_that_a_leaf_marks_between_ticks_keeps_the_run_alive():
    clock, contexts, opened = ManualClock(), [], asyncio.Event()

    async def streaming(ctx):
        contexts.append(ctx)
        await opened.wait()
        return S

    run = TreeRun(
        TreeDefinition("t", Action(fn=streaming)), TickContext(clock=clock), progress_limit=10
    )
    settling = asyncio.create_task(run.settle())
    for _ in range(5):
        await idle()
        contexts[0].mark_progress()
        clock.advance(10)
    await idle()
    opened.set()
    assert (await settling).status is S


async def test_a_deadline_wakes_the_run_by_the_clock_of_the_run():
    clock, door = ManualClock(), Door()
    run = TreeRun(TreeDefinition("t", Timeout(door.node(), seconds=60)), TickContext(clock=clock))
    settling = asyncio.create_task(run.settle())
    await idle()
    assert clock.pending == [60]
    clock.advance(60)
    assert (await settling).status is F
    assert (door.closed, clock.pending) == (1, [])


@pytest.mark.extra
async def test_ten_thousand_runs_of_one_definition_live_in_one_process():
    """60 nodes each, all waiting at the same time, all ending well."""
    opened = asyncio.Event()

    async def wait(ctx):
        await opened.wait()
        return S

    quick = [Sequence(*(Action(fn=lambda ctx: S) for _ in range(8))) for _ in range(6)]
    definition = TreeDefinition(
        "t",
        Sequence(*quick, Sequence(*(Action(fn=lambda ctx: S) for _ in range(3))), Action(fn=wait)),
    )
    assert len(definition) == 60
    runs = [TreeRun(definition) for _ in range(10_000)]
    settling = [asyncio.create_task(run.settle()) for run in runs]
    await idle(3)
    assert all(run.statuses[0] is R for run in runs)
    opened.set()
    outcomes = await asyncio.gather(*settling)
    assert {outcome.status for outcome in outcomes} == {S}
    assert tasks_besides_this() == set()


def test_subscribers_see_time_path_previous_and_new_status():
    clock, seen = ManualClock(5.0), []
    root = Sequence(ScriptedNode(S, name="a"), ScriptedNode(R, S, name="b"), name="s")
    run = TreeRun(TreeDefinition("t", root), TickContext(clock=clock))
    run.subscribe(lambda *change: seen.append(change))
    run.tick()
    clock.advance(1)
    run.tick()
    assert seen == [
        (5.0, "s/a", None, S),
        (5.0, "s/b", None, R),
        (5.0, "s", None, R),
        (6.0, "s/b", R, S),
        (6.0, "s", R, S),
    ]


def test_a_leaf_that_answers_the_same_again_is_seen_again_but_not_one_that_still_runs():
    seen = []
    run = TreeRun(TreeDefinition("t", ScriptedNode(S, S, R, R, name="n")))
    run.subscribe(lambda time, path, old, new: seen.append((old, new)))
    for _ in range(4):
        run.tick()
    assert seen == [(None, S), (S, S), (S, R)]


def test_a_halt_is_seen_as_the_loss_of_a_status():
    seen = []
    run = TreeRun(TreeDefinition("t", ScriptedNode(R, name="n")))
    run.subscribe(lambda time, path, old, new: seen.append((old, new)))
    run.tick()
    run.definition.root.halt(run)
    assert seen[-1] == (R, None)


def test_a_subscriber_that_fails_is_dropped_and_the_run_goes_on(caplog):
    heard = []

    def broken(*change):
        raise RuntimeError("no screen")

    run = TreeRun(TreeDefinition("t", ScriptedNode(S, S, name="n")))
    run.subscribe(broken)
    run.subscribe(lambda *change: heard.append(change))
    run.tick()
    run.tick()
    assert len(heard) == 2
    assert caplog.text.count("hears no more of this run") == 1


def test_without_subscribers_statuses_are_a_plain_list():
    assert type(TreeRun(TreeDefinition("t", ScriptedNode())).statuses) is list


async def test_the_trace_says_who_read_and_wrote_what():
    async def ask(ctx):
        await asyncio.sleep(0)
        ctx.blackboard.set("answer", ctx.blackboard.get("question") + "!")
        return S

    root = Sequence(
        Condition(fn=lambda ctx: ctx.blackboard.get("question") == "why", name="asked"),
        Action(fn=ask, name="ask"),
        name="s",
    )
    run = TreeRun(TreeDefinition("t", root))
    run.context.blackboard.set("question", "why")
    trace = run.trace()
    await run.settle()
    assert [(a.node_path, a.verb, a.key) for a in trace] == [
        ("s/asked", "read", "question"),
        ("s/ask", "read", "question"),
        ("s/ask", "write", "answer"),
    ]


async def test_a_run_logs_why_it_ended_badly(caplog):
    with caplog.at_level(logging.ERROR):
        await TreeRun(TreeDefinition("agent", Action(fn=lambda ctx: 1 / 0, name="bad"))).settle()
    assert "run of agent ended: bad: ZeroDivisionError" in caplog.text


async def test_a_finished_leaf_that_was_not_ticked_is_delivered_by_the_next_tick():
    class Now(Decorator):
        """Ticks its child only when it is told to."""

        open = True

        def tick(self, run):
            if not self.open:
                return R
            run.statuses[self.child.index] = status = self.child.tick(run)
            return status

    door = Door()
    shutter = Now(door.node())
    run = TreeRun(TreeDefinition("t", shutter))
    settling = asyncio.create_task(run.settle())
    await idle()
    shutter.open = False
    door.opened.set()
    await idle()
    shutter.open = True
    run.wake()
    assert (await asyncio.wait_for(settling, timeout=5)).status is S


async def test_a_skipped_finish_branch_is_no_error():
    finish = Guard(ScriptedNode(), fn=lambda ctx: False, name="finish")
    outcome = await TreeRun(TreeDefinition("t", ScriptedNode(S), finish=finish)).settle()
    assert (outcome.status, outcome.stop) == (S, "settled")


async def test_a_run_is_settled_once():
    run = TreeRun(TreeDefinition("t", ScriptedNode(S)))
    await run.settle()
    with pytest.raises(StructureError, match="a run is settled once"):
        await run.settle()


async def test_a_timeout_does_not_throw_away_what_was_done_in_time():
    """Both leaves are done at five seconds, but the tree is ticked again only after ten."""
    clock, doors = ManualClock(), [Door(), Door()]
    root = Parallel(doors[1].node("b"), Timeout(doors[0].node("a"), seconds=10))
    run = TreeRun(TreeDefinition("t", root), TickContext(clock=clock))
    settling = asyncio.create_task(run.settle())
    await idle()
    clock._now = 11.0
    doors[1].opened.set()
    doors[0].opened.set()
    assert (await settling).status is S


def test_an_error_is_blamed_on_the_node_whose_code_it_was():
    class Bad(Decorator):
        def tick(self, run):
            raise ValueError("x")

    root = Sequence(
        Action(fn=lambda ctx: S, name="innocent"), Bad(ScriptedNode(), name="bad"), name="s"
    )
    with pytest.raises(LeafError, match=r"^s/bad: ValueError: x$"):
        TreeRun(TreeDefinition("t", root)).tick()


async def test_an_async_leaf_sees_the_time_and_the_turn_of_the_run_as_they_are_now():
    clock, seen, opened = ManualClock(), [], asyncio.Event()

    async def leaf(ctx):
        ctx.turn += 1
        await opened.wait()
        seen.append((ctx.now, ctx.turn))
        return S

    run = TreeRun(TreeDefinition("t", Action(fn=leaf)), TickContext(clock=clock))
    settling = asyncio.create_task(run.settle())
    await idle()
    assert run.context.turn == 1
    clock.advance(50)
    run.wake()
    await idle()
    opened.set()
    await settling
    assert seen == [(50.0, 1)]


def test_a_failure_without_a_cause_does_not_inherit_an_older_one():
    root = Selector(Action(fn=lambda ctx: ctx.fail("A")), Action(fn=lambda ctx: F))
    run = TreeRun(TreeDefinition("t", root))
    run.tick()
    assert run.context.failure is None


def test_the_cause_of_a_failure_lasts_until_somebody_has_dealt_with_it():
    root = Selector(Action(fn=lambda ctx: ctx.fail("A")), Action(fn=lambda ctx: S))
    run = TreeRun(TreeDefinition("t", root))
    run.tick()
    assert str(run.context.failure) == "A"
