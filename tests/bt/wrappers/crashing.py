"""A process of its own that works on a run and dies where it is told to; a test starts it."""

import asyncio
import os
import signal
import sys
from pathlib import Path

from oracle.bt.core.effects import Writing
from oracle.bt.core.leaves import action
from oracle.bt.state.base import SUCCESS
from oracle.bt.wrappers.recipe import Recipe
from oracle.bt.wrappers.run_store import RunStore
from oracle.services.ans.writer import recording
from oracle.services.journal.writer import Hold, RunSink, journal_writer
from oracle.services.storage.database import Database, as_url

TREE = """
local function step(n)
  local args = { n = n }
  return BT.sequence("step " .. n, {
    BT.action("look", { fn = "crashing.look", args = args }),
    BT.retry({ attempts = 2, BT.action("tell", { fn = "crashing.tell", args = args }) }),
  })
end
BT.tree("t", {
  blackboard = { log = { type = "list", default = {} } },
  root = BT.sequence("s", {
    step(1), step(2), BT.action("write", { fn = "crashing.write" }), step(3),
  }),
})
"""


def note(line):
    """What the world has seen, beside the database: it survives the process."""
    with Path("world.txt").open("a") as world:
        world.write(f"{line}\n")


def world():
    return Path("world.txt").read_text().splitlines()


def log(ctx, *entries):
    ctx.blackboard.set("log", [*ctx.blackboard.get("log"), *entries])
    return SUCCESS


@action(reads=["log"], writes=["log"])
async def look(ctx, n):
    async def see():
        note(f"look {n}")
        return n

    return log(ctx, await ctx.perform(f"look {n}", see))


@action(reads=["log"], writes=["log"])
async def tell(ctx, n):
    async def recite():
        for part in ("a", "b"):
            yield f"{part}{n}"

    return log(ctx, *[part async for part in ctx.stream(f"tell {n}", recite)])


@action(reads=["log"], writes=["log"])
async def write(ctx):
    async def save():
        note("write")
        return "saved"

    async def was_saved(mark):
        return "saved" if "write" in world() else None

    return log(ctx, await ctx.perform("write", save, writes=Writing(recover=was_saved)))


class DyingSink(RunSink):
    """Kills the process as soon as so many records are on disk."""

    left = 10**9

    def append(self, record):
        super().append(record)
        DyingSink.left -= 1
        if DyingSink.left == 0:
            self._writer.close()
            os.kill(os.getpid(), signal.SIGKILL)


async def main(command: str, url: str, argument: str) -> None:
    async with await Database.open(as_url(url)) as database:
        writer = journal_writer(database.url, on_failure="stop")
        writer.sink = lambda run_id, owner: DyingSink(writer, Hold(run_id, owner))
        store = RunStore(database, writer)
        if command == "begin":
            DyingSink.left = int(argument)
            question = "does it survive?"
            recipe = Recipe(tree="t", sources={"t.lua": TREE}, board={}, question=question)
            run = await store.begin(recipe)
        else:
            run = await store.resume(argument)
        print("holding", flush=True)
        with recording(database.url):
            outcome = await run.settle()
        print(outcome.stop, outcome.status.value, run.board.get("log"))
        writer.close()


if __name__ == "__main__":
    import crashing

    asyncio.run(crashing.main(*sys.argv[1:]))
