"""Trees that nobody would write, run live and told again: always the same."""

import asyncio
import os
import random
from contextlib import aclosing

import pytest

from oracle.bt.core.leaves import LeafRegistry
from oracle.bt.state.base import FAILURE, SUCCESS
from oracle.bt.wrappers.recipe import Recipe
from oracle.bt.wrappers.recorded_tree import RecordedTree
from oracle.errors import Failure
from oracle.services.journal import MemorySink

SEEDS = int(os.environ.get("ORACLE_FUZZ_SEEDS", "500"))
leaves = LeafRegistry()


class World:
    def __init__(self, seed):
        self.random = random.Random(seed)

    async def wait(self):
        await asyncio.sleep(self.random.choice([0, 0, 0.001, 0.003]))

    async def ask(self):
        try:
            await self.wait()
        except asyncio.CancelledError:
            await self.linger()
            raise
        if self.random.random() < 0.15:
            raise Failure("no answer")
        return self.random.randrange(100)

    async def linger(self):
        """What is halted takes its time to close."""
        for _ in range(self.random.choice([0, 0, 1, 5])):
            await asyncio.sleep(0)

    async def recite(self, parts):
        try:
            for _ in range(parts):
                await self.wait()
                yield self.random.randrange(100)
        finally:
            await self.wait()


def log(ctx, *entry):
    ctx.blackboard.set("log", [*ctx.blackboard.get("log"), list(entry)])


@leaves.action(reads=["log"], writes=["log"])
async def ask(ctx, name, n):
    answer = 0
    for number in range(n):
        answer = await ctx.perform([name, number], lambda: ctx.services.ask())
        log(ctx, name, answer)
    return SUCCESS if answer % 3 else FAILURE


@leaves.action(reads=["log"], writes=["log"])
async def recite(ctx, name, n):
    async for part in ctx.stream(name, lambda: ctx.services.recite(n)):
        log(ctx, name, part)
    return SUCCESS


@leaves.action(reads=["log"], writes=["log"])
async def skim(ctx, name, n):
    try:
        async with aclosing(ctx.stream(name, lambda: ctx.services.recite(n))) as parts:
            log(ctx, name, await anext(parts))
    finally:
        log(ctx, name, "had enough")
    log(ctx, name, await ctx.perform([name, n], lambda: ctx.services.ask()))
    return SUCCESS


@leaves.action(reads=["log"], writes=["log"])
async def ask_at_once(ctx, name, n):
    async def chain(number):
        for link in range(2):
            log(
                ctx,
                name,
                number,
                await ctx.perform([name, number, link], lambda: ctx.services.ask()),
            )

    await asyncio.gather(*(chain(number) for number in range(n)), return_exceptions=True)
    return SUCCESS


@leaves.action(reads=["log"], writes=["log"])
async def tidy(ctx, name, n):
    try:
        log(ctx, name, await ctx.perform([name, n], lambda: ctx.services.ask()))
    except asyncio.CancelledError:
        log(ctx, name, "halted")
        raise
    return SUCCESS


@leaves.condition(reads=["log"])
def odd(ctx, k):
    return len(ctx.blackboard.get("log")) % k != 0


def grow(rng, depth, names):
    name = f"n{next(names)}"
    if depth == 0 or rng.random() < 0.2:
        leaf = rng.choice(["ask", "recite", "skim", "ask_at_once", "tidy"])
        arguments = f'{{ name = "{name}", n = {rng.randint(1, 3)} }}'
        return f'BT.action("{name}", {{ fn = "{__name__}.{leaf}", args = {arguments} }})'
    kind, options, most = rng.choice(
        [
            ("parallel", 'succeed = "one",', 4),
            ("parallel", "", 4),
            ("sequence", "", 3),
            ("selector", "", 3),
            ("timeout", f"seconds = {rng.choice([0.001, 0.002, 0.005])},", 1),
            ("guard", f'fn = "{__name__}.odd", args = {{ k = {rng.randint(2, 7)} }},', 1),
            ("loop", f"max = {rng.randint(1, 3)},", 1),
            ("retry", f"attempts = {rng.randint(1, 3)},", 1),
            ("invert", "", 1),
        ]
    )
    children = ", ".join(grow(rng, depth - 1, names) for _ in range(rng.randint(1, most)))
    return f'BT.{kind}("{name}", {{ {options} {children} }})'


def recipe(seed):
    tree = grow(random.Random(seed), 3, iter(range(10**6)))
    source = f"""BT.tree("t", {{
      blackboard = {{ log = {{ type = "list", default = {{}} }} }},
      root = BT.always_succeed("root", BT.sequence({{ {tree} }})),
    }})"""
    return Recipe(tree="t", sources={"t.lua": source}, board={})


async def played(run):
    seen = []
    run.tree_run.subscribe(lambda *change: seen.append(change))
    run.bus.subscribe(seen.append)
    return run.summary(await asyncio.wait_for(run.settle(), timeout=30)), seen


@pytest.mark.extra
async def test_replay_fuzz():
    for seed in range(1, SEEDS + 1):
        sink = MemorySink()
        live = RecordedTree(
            recipe(seed), sink, leaves=leaves, services=lambda _, seed=seed: World(seed)
        )
        if seed % 3 == 0:
            delay = random.Random(seed).random() * 0.01
            asyncio.get_running_loop().call_later(delay, live.cancel)
        told = await played(live)
        again = await played(RecordedTree.replay(sink.records, sink.contents, leaves=leaves))
        assert again == told, f"seed {seed}"
