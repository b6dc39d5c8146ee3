"""Every event says when it happened: live, in a replay, and after a crash."""

from dataclasses import replace
from datetime import datetime
from types import SimpleNamespace

import pytest

from oracle.bt.wrappers.recipe import AgentSetup, services_from
from oracle.bt.wrappers.recorded_tree import RecordedTree
from oracle.services.agent_services import AgentServices
from oracle.services.journal import MemorySink
from oracle.services.journal import journal as journal_module
from oracle.services.journal.record import Place, Record, decoded, encoded
from oracle.testing import Reply, ScriptedModel, ScriptedTools, signal

MONDAY = 1_780_000_000.0
BOOTED = MONDAY - 5_000.0
QUESTION = "How does the login function in auth.py work?"


class Wall:
    """A clock that moves only when a tool or a model takes its time."""

    def __init__(self):
        self.seconds = MONDAY

    def time(self):
        return self.seconds

    def monotonic(self):
        return self.seconds - BOOTED

    def pass_by(self, seconds):
        self.seconds += seconds


@pytest.fixture
def wall(monkeypatch):
    clock = Wall()
    times = SimpleNamespace(time=clock.time, monotonic=clock.monotonic)
    monkeypatch.setattr(journal_module, "time", times)
    monkeypatch.setattr("oracle.services.journal.run_clock.time", times)
    monkeypatch.setattr("oracle.bt.wrappers.recorded_tree.time", times)
    return clock


def slow_agent(wall):
    """A tool that takes 20 seconds, and a model that takes 10 for each response."""

    def search(arguments):
        wall.pass_by(20)
        return "auth.py:3 def login()"

    def think(reply):
        def answer(request):
            wall.pass_by(10)
            return reply

        return answer

    more = signal("need_turn", reason="find it")
    enough = signal("context_sufficient", sources_found=1)
    model = ScriptedModel(
        think(Reply(text=f"I look. {more}", calls=[("search_code", {"query": "login"})])),
        think(f"In `auth.py:3`. {enough}"),
    )
    return AgentServices(model=model, tools=ScriptedTools({"search_code": search}))


def run_of(live, sink):
    recipe = AgentSetup(live=live).recipe(QUESTION)
    return RecordedTree(recipe, sink, services=lambda recipe: services_from(recipe, live))


async def events_of(run):
    heard = []
    run.bus.subscribe(heard.append)
    await run.settle()
    return heard


def at(events, type_):
    return [event.at - MONDAY for event in events if event.type == type_]


async def test_each_event_carries_the_time_at_which_it_happened(wall):
    events = await events_of(run_of(slow_agent(wall), MemorySink()))
    assert at(events, "run.started") == [0]
    assert at(events, "tool.called") == [10]
    assert at(events, "tool.returned") == [30]
    assert at(events, "signal.received") == [10, 40]
    assert at(events, "run.ended") == [40]
    assert [event.at for event in events] == sorted(event.at for event in events)


async def test_a_signal_is_stamped_when_it_is_parsed(wall):
    run = run_of(slow_agent(wall), MemorySink())
    await run.settle()
    stamps = [signal["timestamp"] for signal in run.board.get("signals_emitted")]
    assert [datetime.fromisoformat(one).timestamp() - MONDAY for one in stamps] == [10, 40]


async def test_a_run_that_waited_to_begin_starts_when_it_begins(wall):
    run = run_of(slow_agent(wall), MemorySink())
    wall.pass_by(7)
    assert at(await events_of(run), "run.started") == [7]


async def test_a_replay_on_another_day_repeats_the_times(wall):
    sink = MemorySink()
    events = await events_of(run_of(slow_agent(wall), sink))
    wall.pass_by(86_400)
    again = RecordedTree.replay(sink.records, sink.contents, services=services_from)
    assert await events_of(again) == events


async def test_a_run_that_is_resumed_a_day_later_says_so(wall):
    sink = MemorySink()
    await run_of(slow_agent(wall), sink).settle()
    cut = next(n for n, record in enumerate(sink.records) if record.kind == "answer")
    kept, rest = sink.records[: cut + 1], MemorySink()
    wall.seconds = MONDAY + 86_400
    live = slow_agent(wall)
    # Its first response is on record.
    live.model.requests.append(None)
    resumed = RecordedTree.resume(
        kept, sink.contents, rest, services=lambda recipe: services_from(recipe, live)
    )
    events = await events_of(resumed)
    started = [event for event in events if event.type == "run.started"]
    assert [event.payload["resumed"] for event in started] == [False, True]
    assert [event.at - MONDAY for event in started] == [0, 86_400]
    assert at(events, "tool.returned") == [86_420]
    assert at(events, "run.ended") == [86_430]
    again = RecordedTree.replay([*kept, *rest.records], sink.contents, services=services_from)
    assert await events_of(again) == events


async def test_a_record_without_times_is_replayed_with_the_times_of_its_ticks(wall):
    sink = MemorySink()
    await run_of(slow_agent(wall), sink).settle()
    untimed = [replace(record, times=()) for record in sink.records]
    again = RecordedTree.replay(untimed, sink.contents, services=services_from)
    events = await events_of(again)
    assert at(events, "tool.returned") == [10]
    assert at(events, "run.ended") == [40]


def test_the_times_of_a_record_are_stored_to_the_millisecond():
    times = (12345.678, 12345.679, 12399.0)
    record = Record(1, "parts", Place("a", 1), [{"text": "x"}] * 3, (1.5,), times)
    start = Record(0, "start", Place(), {"run_id": "r", "tree": "t", "board": {}})
    first = (0, "start", "", 0, 0, encoded(start), 1.0)
    for kept in (record, replace(record, times=())):
        rows = [first, (1, "parts", "a", 1, 0, encoded(kept), 2.0)]
        assert decoded(rows, "r")[1] == kept
