"""The journal by itself, without a tree."""

import asyncio
from dataclasses import dataclass

import pytest

from oracle.bt.core.effects import Writing
from oracle.errors import (
    Failure,
    InterruptedStream,
    InterruptedWrite,
    JournalError,
    LeaseHeld,
    ReplayDiverged,
    TimedOut,
)
from oracle.services.journal import Journal, MemorySink, Record
from oracle.services.journal.effect_task import MOST_PARTS_READY
from oracle.services.journal.record import Place
from tests.tables import each_row


@dataclass(frozen=True)
class Key:
    node_path: str = "leaf"
    turn: int = 1


class AlwaysAtRest:
    def __init__(self):
        self.closing = []

    def is_at_rest(self, blocked):
        return True

    def is_asleep(self):
        return True

    def close(self, task):
        task.cancel()
        self.closing.append(task)


def journal(sink=None, *, run=None, **options):
    port = Journal(sink, **options)
    port.attach(run or AlwaysAtRest())
    return port


async def answer():
    return {"n": 1}


async def never():
    raise AssertionError("the world was asked")


async def letters():
    for letter in "abc":
        yield letter


async def gather_into(seen, port):
    async for part in port.stream(Key(), "q", never):
        seen.append(part)


async def test_an_effect_is_recorded_with_its_key_request_and_answer():
    sink = MemorySink()
    assert await journal(sink).perform(Key(), "q", answer) == {"n": 1}
    (record,) = sink.records
    assert (record.kind, record.body) == ("answer", {"request": "q", "value": {"n": 1}})
    assert (record.place.node_path, record.place.turn, record.place.ordinal) == ("leaf", 1, 0)


async def test_it_is_answered_from_the_record_without_the_world():
    sink = MemorySink()
    await journal(sink).perform(Key(), "q", answer)
    replay = journal(records=sink.records, may_act=False)
    assert await replay.perform(Key(), "q", never) == {"n": 1}


@pytest.mark.parametrize("problem", [TimedOut("too late"), Failure("no"), ValueError("odd")])
async def test_an_exception_is_recorded_and_raised_again_by_name_and_words(problem):
    async def fail():
        raise problem

    sink = MemorySink()
    with pytest.raises(type(problem)):
        await journal(sink).perform(Key(), "q", fail)
    with pytest.raises(Exception, match=str(problem)) as again:
        await journal(records=sink.records, may_act=False).perform(Key(), "q", never)
    assert type(again.value).__name__ == type(problem).__name__
    assert isinstance(again.value, Failure) == isinstance(problem, Failure)


async def test_a_stream_is_recorded_in_few_records_and_comes_back_part_by_part():
    sink = MemorySink()
    parts = [part async for part in journal(sink).stream(Key(), "q", letters)]
    assert [(record.kind, record.body) for record in sink.records] == [
        ("parts", ["a", "b", "c"]),
        ("answer", {"request": "q"}),
    ]
    replay = journal(records=sink.records, may_act=False)
    assert [part async for part in replay.stream(Key(), "q", never)] == parts == ["a", "b", "c"]


async def test_a_stream_that_breaks_is_recorded_with_the_parts_before_it():
    async def breaking():
        yield "a"
        raise TimedOut("stalled")

    sink = MemorySink()
    with pytest.raises(TimedOut):
        [part async for part in journal(sink).stream(Key(), "q", breaking)]
    assert [record.kind for record in sink.records] == ["parts", "failure"]
    replay, seen = journal(records=sink.records, may_act=False), []
    with pytest.raises(TimedOut, match="stalled"):
        await gather_into(seen, replay)
    assert seen == ["a"]


async def test_a_consumer_that_stops_early_has_the_run_close_the_source():
    run, closed = AlwaysAtRest(), []

    async def source():
        try:
            yield "a"
            await asyncio.Event().wait()
        finally:
            closed.append(True)

    stream = journal(run=run).stream(Key(), "q", source)
    assert await anext(stream) == "a"
    await stream.aclose()
    await asyncio.wait(run.closing)
    assert closed == [True]


async def test_a_stream_is_not_read_far_ahead_of_its_leaf():
    read = []

    async def endless():
        while True:
            read.append(len(read))
            yield read[-1]

    stream = journal().stream(Key(), "q", endless)
    assert [await anext(stream) for _ in range(100)] == read[:100]
    assert len(read) <= 100 + MOST_PARTS_READY
    await stream.aclose()


async def test_an_effect_that_is_cancelled_from_outside_cancels_its_leaf():
    async def cancelled():
        raise asyncio.CancelledError

    with pytest.raises(asyncio.CancelledError):
        await journal().perform(Key(), "q", cancelled)


async def test_a_source_that_cannot_even_begin_is_on_record():
    def source():
        raise TimedOut("no model")

    sink = MemorySink()
    with pytest.raises(TimedOut):
        [part async for part in journal(sink).stream(Key(), "q", source)]
    with pytest.raises(TimedOut, match="no model"):
        await gather_into([], journal(records=sink.records, may_act=False))


async def test_parts_are_written_after_a_moment_even_if_no_more_come(monkeypatch):
    monkeypatch.setattr("oracle.services.journal.recorder.FLUSH_SECONDS", 0.001)
    opened, written = asyncio.Event(), asyncio.Event()

    class NoticingSink(MemorySink):
        def append(self, record):
            super().append(record)
            written.set()

    async def source():
        yield "a"
        await opened.wait()

    sink = NoticingSink()
    stream = journal(sink).stream(Key(), "q", source)
    await anext(stream)
    assert sink.records == []
    await asyncio.wait_for(written.wait(), timeout=5)
    assert sink.records[0].body == ["a"]
    await stream.aclose()


async def test_an_intent_is_safe_before_a_write_begins():
    order = []

    class NoticingSink(MemorySink):
        async def flush(self):
            order.append(("safe", [record.kind for record in self.records]))

    async def write():
        order.append("written")
        return

    await journal(NoticingSink()).perform(Key(), "q", write, writes=True)
    assert order == [("safe", ["intent"]), "written"]


async def broken_off_write():
    sink = MemorySink()
    await journal(sink).perform(Key(), "q", answer, writes=True)
    return sink.records[:1]


async def test_a_write_with_an_intent_but_no_answer_is_not_repeated():
    resumed = journal(records=await broken_off_write())
    with pytest.raises(InterruptedWrite, match="check whether it was done"):
        await resumed.perform(Key(), "q", never, writes=True)


@pytest.mark.parametrize(("found", "expected"), [({"n": 7}, {"n": 7}), (None, {"n": 1})])
async def test_a_leaf_that_can_check_whether_a_write_was_done_is_asked(found, expected):
    async def look(mark):
        return found

    resumed = journal(records=await broken_off_write())
    assert await resumed.perform(Key(), "q", answer, writes=Writing(recover=look)) == expected


async def test_the_mark_of_a_write_is_on_record_before_it_and_is_given_back():
    sink, seen = MemorySink(), []

    async def mark():
        return {"key": "k"}

    async def look(mark):
        seen.append(mark)
        return "found"

    await journal(sink).perform(Key(), "q", answer, writes=Writing(mark=mark))
    resumed = journal(records=sink.records[:1])
    assert await resumed.perform(Key(), "q", never, writes=Writing(recover=look)) == "found"
    assert seen == [{"key": "k"}]


async def test_a_write_of_which_nothing_is_known_is_not_done_by_a_retry():
    sink = MemorySink()
    records = await broken_off_write()
    resumed = journal(sink, records=records)
    for _ in range(3):
        with pytest.raises(InterruptedWrite):
            await resumed.perform(Key(), "q", never, writes=True)
    again = journal(records=[*records, *sink.records])
    for _ in range(4):
        with pytest.raises(InterruptedWrite):
            await again.perform(Key(), "q", never, writes=True)


async def test_a_stream_cut_off_by_a_crash_is_reported_as_such():
    sink = MemorySink()
    [part async for part in journal(sink).stream(Key(), "q", letters)]
    resumed, seen = journal(records=sink.records[:1]), []
    with pytest.raises(InterruptedStream, match="a crash cut it after 3 parts"):
        await gather_into(seen, resumed)
    assert seen == ["a", "b", "c"]


async def test_another_request_under_the_same_key_is_noticed():
    sink = MemorySink()
    await journal(sink).perform(Key(), "q", answer)
    with pytest.raises(ReplayDiverged, match="leaf in turn 1 asks for something else"):
        await journal(records=sink.records, may_act=False).perform(Key(), "other", never)


async def test_a_replay_does_not_act_beyond_its_record():
    with pytest.raises(ReplayDiverged, match="not on record"):
        await journal(may_act=False).perform(Key(), "q", never)


async def test_the_clock_says_in_a_replay_what_it_said_before():
    sink = MemorySink()
    live = journal(sink)
    readings = [live.now(), live.now()]
    await live.end("done")
    replay = journal(records=sink.records, may_act=False)
    assert [replay.now(), replay.now()] == readings
    assert replay.now() >= readings[-1]


async def test_after_a_replay_the_clock_goes_on_from_where_it_was():
    resumed = journal(records=[Record(0, "start", Place(), None, (1e9,))])
    assert resumed.now() == 1e9
    assert 1e9 <= resumed.now() < 1e9 + 60


async def test_answers_are_handed_over_one_by_one_when_the_run_is_at_rest():
    class Restless:
        quiet = False

        def is_at_rest(self, blocked):
            return self.quiet

        def is_asleep(self):
            return False

    run, order, port = Restless(), [], Journal()
    port.attach(run)

    async def leaf(name):
        await port.perform(Key(node_path=name), name, answer)
        order.append(name)

    tasks = [asyncio.create_task(leaf(name)) for name in "ab"]
    for _ in range(5):
        await asyncio.sleep(0)
    assert order == []
    run.quiet = True
    await asyncio.gather(*tasks)
    assert order == ["a", "b"]


async def test_a_leaf_that_waits_elsewhere_does_not_hold_up_the_run_for_ever():
    class NeverAtRest:
        def is_at_rest(self, blocked):
            return False

        def is_asleep(self):
            return True

    port = Journal()
    port.attach(NeverAtRest())
    assert await port.perform(Key(), "q", answer) == {"n": 1}


class OwnFailure(Failure):
    pass


@each_row(
    ("problem", "caught_as"),
    [
        (TimeoutError("slow"), TimeoutError),
        (KeyError("k"), KeyError),
        (FileNotFoundError(2, "No such file", "a.py"), OSError),
        (OwnFailure("mine"), Failure),
        (LeaseHeld("held", holder="me"), LeaseHeld),
        (ZeroDivisionError("division by zero"), ArithmeticError),
    ],
)
async def test_the_same_except_catches_it_again(problem, caught_as):
    async def fail():
        raise problem

    sink = MemorySink()
    with pytest.raises(type(problem)):
        await journal(sink).perform(Key(), "q", fail)
    with pytest.raises(caught_as) as again:
        await journal(records=sink.records, may_act=False).perform(Key(), "q", never)
    assert str(again.value) == str(problem)
    assert type(again.value).__name__ == type(problem).__name__


async def test_a_leaf_gets_live_what_a_replay_will_give_it():
    async def odd():
        return {"pair": (1, 2), 3: "three"}

    sink = MemorySink()
    live = await journal(sink).perform(Key(), {"key": (1,)}, odd)
    assert live == {"pair": [1, 2], "3": "three"}
    replay = journal(records=sink.records, may_act=False)
    assert await replay.perform(Key(), {"key": (1,)}, never) == live


async def test_what_cannot_be_recorded_is_refused():
    async def unrecordable():
        return object()

    with pytest.raises(JournalError, match="not JSON-shaped"):
        await journal().perform(Key(), "q", unrecordable)


class BrokenSink(MemorySink):
    def append(self, record):
        raise JournalError("the disk is gone")


async def test_a_deadline_and_a_command_reach_the_run_though_they_cannot_be_recorded(caplog):
    heard, rung = [], asyncio.Event()
    port = journal(BrokenSink(), on_command=heard.append)
    port.command({"cancel": "now"})
    port.call_at(port.now(), rung.set)
    await asyncio.wait_for(rung.wait(), timeout=5)
    assert heard == [{"cancel": "now"}]
    # Nobody waits for either of them, so an exception would only be printed.
    assert "Traceback" not in caplog.text


async def test_after_it_was_closed_nothing_is_written_any_more():
    sink = MemorySink()
    port = journal(sink)
    await port.close()
    port.command({"late": True})
    with pytest.raises(asyncio.CancelledError):
        await port.perform(Key(), "q", answer)
    assert sink.records == []


async def test_several_tasks_of_a_leaf_may_ask_in_another_order_the_next_time():
    async def chain(port, name, rounds):
        for number in range(2):
            for _ in range(rounds[number]):
                await asyncio.sleep(0)
            await port.perform(Key(), f"{name}{number}", answer)

    sink = MemorySink()
    live = journal(sink)
    await asyncio.gather(chain(live, "a", (1, 9)), chain(live, "b", (2, 1)))
    replay = journal(records=sink.records, may_act=False)
    await asyncio.gather(chain(replay, "b", (0, 0)), chain(replay, "a", (0, 0)))


class Later:
    """Each look at the clock is an hour later."""

    def __init__(self):
        self.time = 0.0

    def monotonic(self):
        self.time += 3600.0
        return self.time

    def call_later(self, delay, callback):
        raise AssertionError("nothing waits")


async def test_the_time_of_a_tick_is_kept_with_what_the_tick_has_said():
    sink = MemorySink()
    port = journal(sink, time_source=Later())
    await port.begin({})
    times = [port.now(), port.now()]
    await port.flush()
    await port.flush()
    assert [record.kind for record in sink.records] == ["start", "parts"]
    # The process dies here. What a tick says may depend on its time.
    again = journal(records=sink.records, time_source=Later())
    assert [again.now(), again.now()] == times
