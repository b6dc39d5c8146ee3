"""Listeners of a run under way, without a server."""

import asyncio
import json
from contextlib import aclosing

from oracle.api.live_run import NOTHING_YET, UNNUMBERED, LiveRun
from oracle.api.saves import Saves
from oracle.api.server_sent_events import HEARTBEAT, as_events, encoded
from oracle.bt.wrappers.chunks import Chunks
from oracle.errors import JournalError, OracleError
from oracle.models.stream_chunk import ChunkType, OracleStreamChunk
from tests.tables import each_row


class Talking:
    """Stands for a run: says what it is given, until it is let go."""

    tree = None
    problem = None

    def __init__(self):
        self.said = Chunks()
        self.may_end = asyncio.Event()

    def say(self, content):
        chunk = OracleStreamChunk(type=ChunkType.REASONING, data={"content": content})
        self.said.put(chunk)

    async def chunks(self):
        await self.may_end.wait()
        return
        yield


async def at_once():
    pass


async def talking(committed=at_once):
    run = Talking()
    live = LiveRun(run, "local", Saves(committed, pause=0.0))
    await asyncio.sleep(0)
    return run, live


def numbers(batch):
    return [(number, chunk.content) for number, chunk in batch]


async def test_what_was_said_together_is_handed_over_together_to_each_listener():
    run, live = await talking()
    async with aclosing(live.follow()) as one, aclosing(live.follow(after=0)) as other:
        run.say("a")
        assert numbers(await anext(one)) == [(0, "a")]
        waiting = asyncio.ensure_future(anext(other))
        await asyncio.sleep(0)
        run.say("b")
        run.say("c")
        assert numbers(await waiting) == numbers(await anext(one)) == [(1, "b"), (2, "c")]
    run.may_end.set()
    await live.task


async def test_silence_is_a_sign_of_life_and_loses_nothing():
    run, live = await talking()
    async with aclosing(live.follow(beat=0)) as batches:
        assert await anext(batches) is NOTHING_YET
        run.say("a")
        assert numbers(await anext(batches)) == [(0, "a")]
    async with aclosing(as_events("run", live.follow(after=0, beat=0))) as events:
        assert await anext(events) == HEARTBEAT
    run.may_end.set()
    await live.task


class Disk:
    """Stands for the journals of runs, and for a disk that is as slow as the test says."""

    def __init__(self):
        self.journal = self
        self.may_save = asyncio.Event()
        self.writes = self.saves = 0

    def write(self):
        self.writes += 1

    def check_record(self):
        """It never refuses anything."""

    async def committed(self):
        self.saves += 1
        await self.may_save.wait()


async def test_nothing_is_handed_over_before_it_is_on_disk():
    disk = Disk()
    run, live = await talking(disk.committed)
    run.tree = disk
    run.say("a")
    await asyncio.sleep(0)
    assert disk.saves == 0, "nobody listens"
    async with aclosing(live.follow(beat=0)) as batches:
        assert await anext(batches) is NOTHING_YET
        assert await anext(batches) is NOTHING_YET
        assert disk.saves == 1
        run.say("b")
        disk.may_save.set()
        heard = [batch async for batch in _until(batches, 1)]
    assert [numbers(batch) for batch in heard] == [[(0, "a")], [(1, "b")]]
    run.may_end.set()
    await live.task


class Speaking:
    """Stands for a run whose words are to be saved."""

    def __init__(self, disk, said):
        self.disk = disk
        self.said = said
        self.safe = 0
        self.has_two = asyncio.Event()

    def write(self):
        self.disk.write()
        return self.said

    def are_safe(self, said):
        self.safe = said
        if said == 2:
            self.has_two.set()


async def test_what_many_runs_have_said_is_saved_by_one_commit_and_later_words_by_the_next():
    disk = Disk()
    saves = Saves(disk.committed, pause=0.0)
    runs = [Speaking(disk, said=number) for number in range(1, 31)]
    for run in runs:
        saves.soon(run)
    await asyncio.sleep(0)
    runs[0].said = 2
    saves.soon(runs[0])
    assert (disk.writes, disk.saves) == (30, 1)
    assert not any(run.safe for run in runs)
    disk.may_save.set()
    await runs[0].has_two.wait()
    assert [run.safe for run in runs[1:]] == [*range(2, 31)]
    assert (disk.writes, disk.saves) == (31, 2)


async def test_what_a_disk_has_refused_is_not_safe_and_the_next_commit_is_tried():
    has_failed = asyncio.Event()

    async def failing():
        has_failed.set()
        raise JournalError("no space left")

    run = Speaking(Disk(), said=2)
    saves = Saves(failing, pause=0.0)
    saves.soon(run)
    await has_failed.wait()
    assert run.safe == 0
    saves._committed = at_once
    saves.soon(run)
    await run.has_two.wait()


async def _until(batches, last):
    """The batches that are not empty, up to that number."""
    async for batch in batches:
        if batch is not NOTHING_YET:
            yield batch
            if batch[-1][0] == last:
                return


async def test_a_listener_who_leaves_is_not_waited_for():
    run, live = await talking()
    waiting = asyncio.ensure_future(anext(live.follow()))
    await asyncio.sleep(0)
    waiting.cancel()
    await asyncio.wait({waiting})
    run.say("a")
    assert not live._listeners
    assert numbers(await anext(live.follow())) == [(0, "a")]
    run.may_end.set()
    await live.task


async def test_why_a_run_broke_has_no_number_because_another_process_may_go_on_with_it():
    run, live = await talking()
    async with aclosing(live.follow()) as batches:
        run.say("a")
        assert numbers(await anext(batches)) == [(0, "a")]
        run.problem = OracleError()
        run.say("the disk is full")
        ((number, chunk),) = await anext(batches)
        assert number == UNNUMBERED
        assert encoded("3f9a", [(number, chunk)]).startswith(b"event: reasoning\n")
    run.may_end.set()
    await live.task


@each_row("content", ["plain", 'a "quote" \\ and\na line', "é 漢 \u2028", "\0\x1f", "half \ud800"])
@each_row("type_", [ChunkType.CONTENT, ChunkType.REASONING])
def test_an_event_is_one_line_of_json_whatever_the_model_writes(type_, content):
    chunk = OracleStreamChunk(type=type_, turn=2, data={"content": content})
    id_, name, data, *rest = encoded("3f9a", [(7, chunk)]).decode().split("\n")
    assert (id_, name, rest) == ("id: 3f9a:7", f"event: {type_.value}", ["", ""])
    safe = content.replace("\ud800", "?")
    assert json.loads(data.removeprefix("data: ")) == {**chunk.to_dict(), "content": safe}
    assert [*json.loads(data[6:])] == [*chunk.to_dict()]
