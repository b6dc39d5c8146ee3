"""Conditions, actions and subtrees."""

import asyncio

import pytest

from oracle.bt.core.context import TickContext
from oracle.bt.core.definition import TreeDefinition
from oracle.bt.core.runtime import TreeRun
from oracle.bt.nodes import Action, Condition, Guard, Sequence, Subtree
from oracle.bt.state.base import FAILURE, RUNNING, SKIPPED, SUCCESS, RunStatus
from oracle.bt.state.blackboard import TypedBlackboard
from oracle.bt.state.schema import Key
from oracle.errors import BlackboardError, Failure, LeafError, StructureError
from oracle.testing import ScriptedNode

S, F, R, K = SUCCESS, FAILURE, RUNNING, SKIPPED


def failing(ctx):
    raise Failure("no such file")


@pytest.mark.parametrize(
    ("answer", "expected"), [(True, S), (False, F), *((status, status) for status in RunStatus)]
)
def test_condition_takes_a_bool_or_a_status_for_what_it_is(stage, answer, expected):
    assert stage(Condition(fn=lambda ctx: answer)).tick() is expected


@pytest.mark.parametrize("answer", [None, 0, 1, "", "success", [], object()])
def test_condition_refuses_what_is_only_nearly_true_or_false(stage, answer):
    with pytest.raises(LeafError, match="use a bool or a RunStatus"):
        stage(Condition(fn=lambda ctx: answer)).tick()


@pytest.mark.parametrize("status", RunStatus)
def test_action_answers_what_its_function_answers(stage, status):
    assert stage(Action(fn=lambda ctx: status)).tick() is status


@pytest.mark.parametrize("answer", [None, True, False, "success"])
def test_action_must_answer_a_status(stage, answer):
    with pytest.raises(LeafError, match="return a RunStatus"):
        stage(Action(fn=lambda ctx: answer)).tick()


@pytest.mark.parametrize("kind", [Action, Condition])
def test_an_expected_failure_is_failure_with_its_cause(stage, kind):
    on_stage = stage(kind(fn=failing))
    assert on_stage.tick() is F
    assert str(on_stage.run.context.failure) == "no such file"


def test_fail_leaves_the_cause_that_the_leaf_gave(stage):
    on_stage = stage(Action(fn=lambda ctx: ctx.fail("rate limited")))
    assert on_stage.tick() is F
    assert str(on_stage.run.context.failure) == "rate limited"


@pytest.mark.parametrize("kind", [Action, Condition])
def test_an_unforeseen_exception_is_raised_with_the_path_of_the_leaf(stage, kind):
    on_stage = stage(kind(fn=lambda ctx: 1 / 0, name="divide"))
    with pytest.raises(LeafError, match=r"selector#1/divide: ZeroDivisionError: division by zero"):
        on_stage.tick()


def test_a_status_has_no_truth_value():
    with pytest.raises(TypeError, match="neither true nor false"):
        assert not RunStatus.FAILURE


async def later(ctx):
    return S


@pytest.mark.parametrize(
    "build", [lambda fn: Condition(fn=fn), lambda fn: Guard(ScriptedNode(), fn=fn)]
)
def test_a_condition_cannot_be_async(build):
    with pytest.raises(StructureError, match=r"later is async"):
        build(later)


async def test_an_async_action_runs_until_it_is_done_and_can_start_again():
    starts = []

    async def work(ctx):
        starts.append(ctx.node_path)
        await asyncio.sleep(0)
        return S

    definition = TreeDefinition(
        "t", Sequence(Action(fn=work, name="a"), Action(fn=work, name="b"), name="s")
    )
    for _ in range(2):
        outcome = await TreeRun(definition).settle()
        assert (outcome.status, outcome.stop) == (S, "settled")
    assert starts == ["s/a", "s/b"] * 2


async def test_an_async_action_that_fails_leaves_its_cause():
    async def work(ctx):
        raise Failure("the server hung up")

    run = TreeRun(TreeDefinition("t", Action(fn=work)))
    assert (await run.settle()).status is F
    assert str(run.context.failure) == "the server hung up"


async def test_an_async_action_can_leave_its_cause_by_fail_too():
    async def work(ctx):
        await asyncio.sleep(0)
        return ctx.fail("rate limited")

    run = TreeRun(TreeDefinition("t", Action(fn=work)))
    assert (await run.settle()).status is F
    assert str(run.context.failure) == "rate limited"


@pytest.mark.parametrize("answer", [None, True])
async def test_an_async_action_must_answer_a_status(answer):
    async def work(ctx):
        return answer

    outcome = await TreeRun(TreeDefinition("t", Action(fn=work, name="w"))).settle()
    assert outcome.stop == "internal_error"
    assert "w: an action returned" in str(outcome.error)


async def test_a_task_cancelled_from_outside_is_an_error_not_a_silence():
    async def work(ctx):
        raise asyncio.CancelledError

    outcome = await TreeRun(TreeDefinition("t", Action(fn=work, name="w"))).settle()
    assert "w: an action was cancelled from outside" in str(outcome.error)


def on_board(root, schema=None, **values):
    board = TypedBlackboard(scope_name="outer", schema=schema)
    for key, value in values.items():
        board.set(key, value)
    return TreeRun(TreeDefinition("t", root, schema=schema), TickContext(blackboard=board)), board


def test_a_subtree_sees_and_writes_the_keys_around_it():
    def double(ctx):
        ctx.blackboard.set("n", ctx.blackboard.get("n") * 2)
        return S

    run, board = on_board(Subtree(Action(fn=double), tree="inner"), n=4)
    assert run.tick() is S
    assert board.get("n") == 8


def test_the_keys_that_a_subtree_declares_start_anew_each_time():
    seen = []

    def count(ctx):
        seen.append(ctx.blackboard.get("count"))
        ctx.blackboard.set("count", seen[-1] + 1)
        return S

    schema = {"count": Key(int, 0)}
    run, board = on_board(Subtree(Action(fn=count), tree="inner", schema=schema))
    run.tick()
    run.tick()
    assert seen == [0, 0]
    assert "count" not in board


def test_a_scope_lasts_while_the_subtree_runs_and_ends_with_a_halt():
    def count(ctx):
        ctx.blackboard.set("count", ctx.blackboard.get("count") + 1)
        return R if ctx.blackboard.get("count") < 3 else S

    subtree = Subtree(Action(fn=count), tree="inner", schema={"count": Key(int, 0)})
    run, _ = on_board(subtree)
    assert [run.tick(), run.tick()] == [R, R]
    subtree.halt(run)
    assert [run.tick(), run.tick(), run.tick()] == [R, R, S]
    assert run.scopes == {}


def test_ports_isolate_a_subtree_from_all_other_keys():
    def answer(ctx):
        ctx.blackboard.set("out", ctx.blackboard.get("in") + "!")
        with pytest.raises(BlackboardError, match="no key 'secret' is declared"):
            ctx.blackboard.get("secret")
        return S

    subtree = Subtree(Action(fn=answer), tree="inner", ports={"in": "question", "out": "answer"})
    run, board = on_board(subtree, question="why", secret="x", answer="")
    assert run.tick() is S
    assert board.get("answer") == "why!"


def test_an_async_leaf_keeps_the_scope_of_its_subtree_while_others_are_ticked():
    async def work(ctx):
        await asyncio.sleep(0)
        return S if ctx.blackboard.scope_name == "inner" else F

    subtree = Subtree(Action(fn=work), tree="inner", schema={"x": Key()})
    run, _ = on_board(subtree)
    assert asyncio.run(run.settle()).status is S


def test_after_an_error_in_a_subtree_the_outer_scope_is_in_sight_again():
    subtree = Subtree(Action(fn=lambda ctx: 1 / 0), tree="inner", schema={"x": Key()})
    run, board = on_board(subtree)
    with pytest.raises(LeafError):
        run.tick()
    assert run.context.blackboard is board
