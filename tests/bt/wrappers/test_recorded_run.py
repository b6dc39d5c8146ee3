"""Runs with a journal: replayed exactly, and taken up again wherever they were broken off."""

import asyncio
import random

import pytest

from oracle.bt.core.leaves import LeafRegistry
from oracle.bt.state.base import SUCCESS
from oracle.bt.wrappers.recorded_run import Recipe, RecordedRun
from oracle.errors import JournalError, ReplayDiverged
from oracle.services.journal import MemorySink

leaves = LeafRegistry()
HERE = __name__


class World:
    """Answers by what it is asked, after a while, and counts how often it was asked."""

    def __init__(self, seed=0, longest_wait=0.0):
        self.random = random.Random(seed)
        self.longest_wait = longest_wait
        self.asked = []

    async def wait(self):
        await asyncio.sleep(self.random.random() * self.longest_wait)

    async def ask(self, question):
        self.asked.append(question)
        await self.wait()
        return {"answer": question, "dice": self.random.random()}

    async def recite(self, question, parts):
        self.asked.append(question)
        for part in range(parts):
            await self.wait()
            yield f"{question}.{part}.{self.random.random()}"


def log(ctx, entry):
    ctx.blackboard.set("log", [*ctx.blackboard.get("log"), entry])


@leaves.action(reads=["log"], writes=["log"])
async def converse(ctx, name="x", questions=2, parts=2):
    world = ctx.services
    for number in range(questions):
        question = f"{name}{number}"
        log(ctx, await ctx.perform(question, lambda question=question: world.ask(question)))
    if parts:
        async for part in ctx.stream(name, lambda: world.recite(name, parts)):
            log(ctx, part)
    return SUCCESS


@leaves.action(reads=["log"], writes=["log"])
async def write(ctx):
    log(ctx, await ctx.perform("write", lambda: ctx.services.ask("write"), writes=True))
    return SUCCESS


CONCURRENT = f"""
BT.tree("t", {{
  blackboard = {{ log = {{ type = "list", default = {{}} }} }},
  root = BT.loop("rounds", {{ max = 4, BT.selector("round", {{
    BT.sequence("enough", {{
      BT.condition("long", {{ expression = "#bb.log > 16" }}), BT.exit("rounds"),
    }}),
    BT.parallel("all", {{
      BT.action("a", {{ fn = "{HERE}.converse", args = {{ name = "a" }} }}),
      BT.action("b", {{ fn = "{HERE}.converse", args = {{ name = "b", questions = 1 }} }}),
      BT.always_succeed(BT.timeout("short", {{ seconds = 0.004,
        BT.action("c", {{ fn = "{HERE}.converse", args = {{ name = "c", questions = 4 }} }}),
      }})),
    }}),
  }}) }}),
}})
"""
SEQUENTIAL = f"""
local function ask(name)
  return BT.action("ask " .. name, {{
    fn = "{HERE}.converse", args = {{ name = name, parts = 0 }},
  }})
end
local function recite(name)
  return BT.retry("recite " .. name, {{ attempts = 2,
    BT.action("recite", {{ fn = "{HERE}.converse", args = {{ name = name, questions = 0 }} }}),
  }})
end
BT.tree("t", {{
  blackboard = {{ log = {{ type = "list", default = {{}} }} }},
  root = BT.sequence("s", {{
    ask("a"), recite("a"), BT.always_succeed(BT.action("write", {{ fn = "{HERE}.write" }})),
    ask("b"), recite("b"),
  }}),
}})
"""


def recipe(source):
    return Recipe(tree="t", sources={"t.lua": source}, board={"log": ["begin"]})


async def recorded(source, world):
    sink = MemorySink()
    run = RecordedRun(recipe(source), sink, leaves=leaves, services=world)
    changes = watched(run)
    return sink.records, run.summary(await run.settle()), changes


def watched(run):
    changes = []
    run.tree_run.subscribe(lambda *change: changes.append(change))
    return changes


@pytest.mark.parametrize("seed", range(25))
async def test_a_replay_is_exact_however_answers_deadlines_and_parts_were_mixed(seed):
    records, summary, changes = await recorded(CONCURRENT, World(seed, longest_wait=0.003))
    replay = RecordedRun.replay(records, leaves=leaves)
    changes_again = watched(replay)
    assert replay.summary(await replay.settle()) == summary
    assert changes_again == changes


async def test_a_replay_asks_the_world_for_nothing():
    records, _, _ = await recorded(SEQUENTIAL, World())
    replay = RecordedRun.replay(records, leaves=leaves)
    replay.tree_run.context.services = None
    await replay.settle()


@pytest.mark.parametrize("cut", range(1, 13))
async def test_a_run_broken_off_at_any_record_goes_on_from_there(cut):
    records, _, _ = await recorded(SEQUENTIAL, World())
    assert cut <= len(records)
    kept, world, sink = records[:cut], World(), MemorySink()
    resumed = RecordedRun.resume(kept, sink, leaves=leaves, services=world)
    outcome = resumed.summary(await resumed.settle())
    answered = {r.body["request"] for r in kept if r.kind in ("answer", "intent")}
    assert not answered & set(world.asked)
    assert [r.seq for r in sink.records] == list(range(cut, cut + len(sink.records)))
    assert outcome["status"] == "success"
    told = [e["answer"] for e in outcome["board"]["log"] if isinstance(e, dict)]
    assert [told[0], told[-1]] == ["a0", "b1"]


async def test_a_resumed_run_can_itself_be_replayed():
    records, _, _ = await recorded(SEQUENTIAL, World())
    sink = MemorySink()
    resumed = RecordedRun.resume(records[:4], sink, leaves=leaves, services=World())
    summary = resumed.summary(await resumed.settle())
    whole = [*records[:4], *sink.records]
    assert [r.seq for r in whole] == list(range(len(whole)))
    replay = RecordedRun.replay(whole, leaves=leaves)
    assert replay.summary(await replay.settle()) == summary


async def test_a_stream_that_a_crash_cut_is_an_expected_failure_and_what_came_stays():
    records, _, _ = await recorded(SEQUENTIAL, World())
    place = next(index for index, record in enumerate(records) if record.kind == "parts")
    resumed = RecordedRun.resume(
        records[: place + 1], MemorySink(), leaves=leaves, services=World()
    )
    outcome = resumed.summary(await resumed.settle())
    shown = records[place].body
    assert outcome["board"]["log"][3 : 3 + len(shown)] == shown
    assert outcome["status"] == "success"


async def test_a_write_that_was_begun_is_not_made_twice_but_reported():
    records, _, _ = await recorded(SEQUENTIAL, World())
    place = next(index for index, record in enumerate(records) if record.kind == "intent")
    world, sink = World(), MemorySink()
    resumed = RecordedRun.resume(records[: place + 1], sink, leaves=leaves, services=world)
    await resumed.settle()
    assert "write" not in world.asked
    failure = next(record for record in sink.records if record.kind == "failure")
    assert failure.body["error"] == "InterruptedWrite"


async def test_a_cancellation_is_on_record_and_happens_again_at_its_place():
    sink = MemorySink()
    run = RecordedRun(recipe(SEQUENTIAL), sink, leaves=leaves, services=World(longest_wait=0.01))
    settling = asyncio.create_task(run.settle())
    await asyncio.sleep(0)
    run.cancel("enough")
    outcome = await settling
    assert (outcome.stop, outcome.detail) == ("cancelled", "enough")
    replay = RecordedRun.replay(sink.records, leaves=leaves)
    assert replay.summary(await replay.settle()) == run.summary(outcome)


async def test_a_replay_that_needs_more_than_was_recorded_says_where():
    records, _, _ = await recorded(SEQUENTIAL, World())
    with pytest.raises(ReplayDiverged, match="needs an answer that is not on record"):
        await RecordedRun.replay(records[:3], leaves=leaves).settle()


async def test_a_tree_that_asks_for_something_else_is_noticed():
    records, _, _ = await recorded(SEQUENTIAL, World())
    body = {**records[0].body, "sources": {"t.lua": SEQUENTIAL.replace('"ask "', '"beg "')}}
    changed = [records[0].__class__(0, "start", records[0].place, body), *records[1:]]
    with pytest.raises(ReplayDiverged, match="does not ask for what comes next on record: answer"):
        await RecordedRun.replay(changed, leaves=leaves).settle()


async def test_a_request_that_differs_is_noticed():
    records, _, _ = await recorded(SEQUENTIAL, World())
    source = SEQUENTIAL.replace("name = name, parts", "name = 'y', parts")
    body = {**records[0].body, "sources": {"t.lua": source}}
    changed = [records[0].__class__(0, "start", records[0].place, body), *records[1:]]
    with pytest.raises(ReplayDiverged, match="s/ask a in turn 0 asks for something else"):
        await RecordedRun.replay(changed, leaves=leaves).settle()


def test_a_record_without_a_beginning_cannot_be_run_again():
    with pytest.raises(JournalError, match="has no beginning"):
        RecordedRun.replay([], leaves=leaves)
