"""Runs with a journal: replayed exactly, and taken up again wherever they were broken off."""

import asyncio
import random
import time

import pytest

from oracle.bt.core.leaves import LeafRegistry
from oracle.bt.state.base import SUCCESS
from oracle.bt.wrappers.recipe import Recipe
from oracle.bt.wrappers.recorded_tree import RecordedTree
from oracle.errors import InputError, NotFound, ReplayDiverged
from oracle.services.ans.bus import event_bus_replaced
from oracle.services.journal import MemorySink
from oracle.testing import RecordingBus
from tests.tables import each_row

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


class SlowToClose(World):
    """`rounds` of the event loop pass before what it holds or pours is closed."""

    def __init__(self, **rounds):
        super().__init__()
        self.rounds = rounds
        self.closed = []

    async def close(self, name):
        for _ in range(self.rounds[name]):
            await asyncio.sleep(0)
        self.closed.append(name)

    async def hold(self, name):
        try:
            await asyncio.Event().wait()
        finally:
            await self.close(name)

    async def pour(self, name):
        try:
            yield name
            await asyncio.Event().wait()
        finally:
            await self.close(name)


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


@leaves.action(reads=["log"], writes=["log"])
async def hold(ctx, name):
    try:
        await ctx.perform(name, lambda: ctx.services.hold(name))
    finally:
        log(ctx, f"{name} let go")
    return SUCCESS


@leaves.action(reads=["log"], writes=["log"])
async def sip(ctx, name):
    """Stops listening after the first part."""
    stream = ctx.stream(name, lambda: ctx.services.pour(name))
    log(ctx, await anext(stream))
    await stream.aclose()
    log(ctx, f"{name} had enough")
    log(ctx, await ctx.perform([name, "more"], lambda: ctx.services.ask(name)))
    return SUCCESS


HALTED_TOGETHER = f"""
BT.tree("t", {{
  blackboard = {{ log = {{ type = "list", default = {{}} }} }},
  root = BT.parallel("p", {{ succeed = "one",
    BT.action("a", {{ fn = "{HERE}.hold", args = {{ name = "a" }} }}),
    BT.action("b", {{ fn = "{HERE}.hold", args = {{ name = "b" }} }}),
    BT.action("c", {{ fn = "{HERE}.sip", args = {{ name = "c" }} }}),
  }}),
}})
"""
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
    run = RecordedTree(recipe(source), sink, leaves=leaves, services=lambda _: world)
    changes = watched(run)
    return sink, run.summary(await run.settle()), changes


def watched(run):
    """Each change of a status and each event, in order."""
    seen = []
    run.tree_run.subscribe(lambda *change: seen.append(change))
    run.bus.subscribe(seen.append)
    return seen


async def played(run):
    changes = watched(run)
    return run.summary(await run.settle()), changes


def replay_of(sink, records=None):
    records = sink.records if records is None else records
    return RecordedTree.replay(records, sink.contents, leaves=leaves)


def resumed_from(sink, count, world, new_sink=None):
    kept = sink.records[:count]
    new_sink = new_sink or MemorySink()
    return RecordedTree.resume(
        kept, sink.contents, new_sink, leaves=leaves, services=lambda _: world
    )


@pytest.mark.extra
@each_row("seed", range(25))
async def test_a_replay_is_exact_however_answers_deadlines_and_parts_were_mixed(seed):
    sink, summary, changes = await recorded(CONCURRENT, World(seed, longest_wait=0.003))
    replay = replay_of(sink)
    changes_again = watched(replay)
    assert replay.summary(await replay.settle()) == summary
    assert changes_again == changes


@each_row("rounds", [(0, 0, 0), (9, 0, 0), (0, 9, 0), (0, 0, 300), (300, 9, 0)])
async def test_how_long_an_effect_takes_to_close_makes_no_difference(rounds):
    world = SlowToClose(**dict(zip("abc", rounds, strict=True)))
    sink, told, changes = await recorded(HALTED_TOGETHER, world)
    assert sorted(world.closed) == ["a", "b", "c"]
    first, enough, more, *let_go = told["board"]["log"][1:]
    assert (first, enough, more["answer"]) == ("c", "c had enough", "c")
    assert let_go == ["a let go", "b let go"]
    assert await played(replay_of(sink)) == (told, changes)


async def test_a_replay_is_exact_though_an_effect_could_not_be_closed(monkeypatch, caplog):
    monkeypatch.setattr("oracle.bt.core.runtime.CLEAN_UP_SECONDS", 0.01)
    world, closes = SlowToClose(b=0, c=0), asyncio.Event()

    async def close(name):
        if name == "a":
            await closes.wait()

    world.close = close
    sink, told, changes = await recorded(HALTED_TOGETHER, world)
    assert "p/a: not closed after 0.01 s; abandoned" in caplog.text
    assert told["board"]["log"][-2:] == ["a let go", "b let go"]
    assert await played(replay_of(sink)) == (told, changes)
    closes.set()
    await asyncio.sleep(0)


async def test_a_replay_asks_the_world_for_nothing():
    sink, _, _ = await recorded(SEQUENTIAL, World())
    replay = replay_of(sink)
    assert replay.tree_run.context.services is None
    assert (await replay.settle()).stop == "settled"


@each_row("cut", range(1, 13))
async def test_a_run_broken_off_at_any_record_goes_on_from_there(cut):
    sink, _, _ = await recorded(SEQUENTIAL, World())
    assert cut <= len(sink.records)
    world, rest = World(), MemorySink()
    resumed = resumed_from(sink, cut, world, rest)
    outcome = resumed.summary(await resumed.settle())
    kept = [r for r in sink.records[:cut] if r.kind in ("answer", "intent")]
    assert not {r.body["request"] for r in kept} & set(world.asked)
    assert [r.seq for r in rest.records] == list(range(cut, cut + len(rest.records)))
    assert outcome["status"] == "success"
    told = [e["answer"] for e in outcome["board"]["log"] if isinstance(e, dict)]
    assert [told[0], told[-1]] == ["a0", "b1"]


async def test_a_resumed_run_can_itself_be_replayed():
    sink, _, _ = await recorded(SEQUENTIAL, World())
    rest = MemorySink()
    resumed = resumed_from(sink, 4, World(), rest)
    seen = watched(resumed)
    summary = resumed.summary(await resumed.settle())
    replay = replay_of(sink, [*sink.records[:4], *rest.records])
    seen_again = watched(replay)
    assert replay.summary(await replay.settle()) == summary
    assert seen_again == seen


async def test_a_run_tells_of_its_beginning_and_end_with_its_id_and_time():
    with event_bus_replaced(RecordingBus()) as bus:
        await recorded(SEQUENTIAL, World())
    started, ended = bus.events
    assert (started.type, ended.type) == ("run.started", "run.ended")
    assert started.run_id == ended.run_id
    assert abs(time.time() - ended.at) < 60


async def test_a_replay_tells_nobody_outside():
    sink, _, _ = await recorded(SEQUENTIAL, World())
    with event_bus_replaced(RecordingBus()) as bus:
        await replay_of(sink).settle()
    assert bus.events == []


async def test_a_resumed_run_tells_outside_only_what_is_new():
    sink, _, _ = await recorded(SEQUENTIAL, World())
    with event_bus_replaced(RecordingBus()) as bus:
        await resumed_from(sink, 4, World()).settle()
    assert [(event.type, event.payload.get("resumed")) for event in bus.events] == [
        ("run.started", True),
        ("run.ended", None),
    ]


async def test_a_mistake_is_told_as_an_event_with_its_place():
    with event_bus_replaced(RecordingBus()) as bus:
        await recorded(SEQUENTIAL, None)
    (failed,) = [event for event in bus.events if event.type == "node.failed"]
    assert failed.payload["node_path"] == "s/ask a"


async def test_a_stream_that_a_crash_cut_is_an_expected_failure_and_what_came_stays():
    sink, _, _ = await recorded(SEQUENTIAL, World())
    place = [record.kind for record in sink.records].index("parts")
    resumed = resumed_from(sink, place + 1, World())
    outcome = resumed.summary(await resumed.settle())
    shown = sink.records[place].body
    assert outcome["board"]["log"][3 : 3 + len(shown)] == shown
    assert outcome["status"] == "success"


async def test_a_write_that_was_begun_is_not_made_twice_but_reported():
    sink, _, _ = await recorded(SEQUENTIAL, World())
    place = [record.kind for record in sink.records].index("intent")
    world, rest = World(), MemorySink()
    await resumed_from(sink, place + 1, world, rest).settle()
    assert "write" not in world.asked
    failures = [record.body["error"] for record in rest.records if record.kind == "failure"]
    assert failures == ["InterruptedWrite"]


async def test_a_cancellation_is_on_record_and_happens_again_at_its_place():
    sink = MemorySink()
    run = RecordedTree(
        recipe(SEQUENTIAL), sink, leaves=leaves, services=lambda _: World(longest_wait=0.01)
    )
    settling = asyncio.create_task(run.settle())
    await asyncio.sleep(0)
    run.cancel("enough")
    outcome = await settling
    assert (outcome.stop, outcome.detail) == ("cancelled", "enough")
    replay = replay_of(sink)
    assert replay.summary(await replay.settle()) == run.summary(outcome)


async def test_a_replay_that_needs_more_than_was_recorded_says_where():
    sink, _, _ = await recorded(SEQUENTIAL, World())
    with pytest.raises(ReplayDiverged, match="needs an answer that is not on record"):
        await replay_of(sink, sink.records[:3]).settle()


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ('"ask "', '"beg "', "does not ask for what comes next on record: answer for s/ask a"),
        ("name = name, parts", "name = 'y', parts", "s/ask a in turn 0 asks for something else"),
    ],
)
async def test_another_tree_that_goes_another_way_is_noticed(old, new, complaint):
    sink, _, _ = await recorded(SEQUENTIAL, World())
    (name,) = sink.contents
    sink.contents[name] = SEQUENTIAL.replace(old, new)
    with pytest.raises(ReplayDiverged, match=complaint):
        await replay_of(sink).settle()


async def test_the_trees_are_kept_by_content_once_for_all_runs():
    sink = MemorySink()
    for _ in range(2):
        await RecordedTree(
            recipe(SEQUENTIAL), sink, leaves=leaves, services=lambda _: World()
        ).settle()
    assert list(sink.contents.values()) == [SEQUENTIAL]


def test_a_record_without_a_beginning_cannot_be_run_again():
    with pytest.raises(NotFound, match="has no beginning"):
        RecordedTree.replay([], {}, leaves=leaves)


async def test_a_record_that_names_a_leaf_of_another_version_says_so():
    sink, _, _ = await recorded(CONCURRENT, World(1))
    contents = {key: text.replace(HERE, "oracle.gone") for key, text in sink.contents.items()}
    with pytest.raises(InputError, match="use the version that recorded it"):
        RecordedTree.replay(sink.records, contents, leaves=LeafRegistry())


async def test_a_record_that_names_an_own_leaf_says_how_to_bring_it_back():
    sink, _, _ = await recorded(CONCURRENT, World(1))
    registry = LeafRegistry()
    with pytest.raises(InputError, match=r"import its module \(--leaves\)\)$"):
        RecordedTree.replay(sink.records, sink.contents, leaves=registry)
    registry.missing[HERE] = "team.py is not trusted; run `oracle tools trust`"
    with pytest.raises(InputError, match=r"team.py is not trusted; run `oracle tools trust`\)$"):
        RecordedTree.replay(sink.records, sink.contents, leaves=registry)


async def test_the_start_of_a_run_has_the_time_at_which_it_began():
    run = RecordedTree(recipe(CONCURRENT), leaves=leaves, services=lambda _: World(1))
    seen = []
    run.bus.subscribe(seen.append)
    await run.settle()
    assert seen[0].type == "run.started"
    assert seen[0].at == pytest.approx(run.recipe.began_at, abs=1)
