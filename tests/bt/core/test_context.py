"""What a leaf sees, and the port to the world."""

import asyncio

from oracle.bt.core.context import TickContext
from oracle.bt.core.definition import TreeDefinition
from oracle.bt.core.effects import EffectKey, SystemClock
from oracle.bt.core.runtime import TreeRun
from oracle.bt.nodes import Action
from oracle.bt.state.base import SUCCESS
from oracle.bt.state.blackboard import TypedBlackboard


class Recorder:
    """Effects that note each key and request before they perform it."""

    def __init__(self):
        self.seen = []

    async def perform(self, key, request, effect, **options):
        self.seen.append((key, request))
        return await effect()


async def answer():
    return 42


async def test_effects_are_keyed_by_path_and_turn():
    effects = Recorder()

    async def ask(ctx):
        assert await ctx.perform({"n": 1}, answer) == 42
        await ctx.perform({"n": 2}, answer)
        return SUCCESS

    context = TickContext(effects=effects)
    context.turn = 3
    await TreeRun(TreeDefinition("t", Action(fn=ask, name="ask")), context).settle()
    assert effects.seen == [
        (EffectKey("ask", 3), {"n": 1}),
        (EffectKey("ask", 3), {"n": 2}),
    ]


def test_a_context_stands_on_its_own_for_a_test_of_a_leaf():
    board = TypedBlackboard(scope_name="test")
    ctx = TickContext(blackboard=board, tick_budget=100)
    ctx.mark_progress()
    ctx.wake()
    assert (ctx.blackboard, ctx.tick_budget, ctx.node_path) == (board, 100, "")


async def test_the_system_clock_goes_forward_and_calls_back():
    clock, called = SystemClock(), asyncio.Event()
    before = clock.now()
    clock.call_at(before + 0.001, called.set)
    await called.wait()
    assert clock.now() > before
