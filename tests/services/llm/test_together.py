"""Parts that arrive together are handed over together, and none is lost, late or out of order."""

import asyncio
from contextlib import aclosing

import pytest

from oracle.errors import ModelUnreachable
from oracle.services.llm.protocol import ModelRequest
from oracle.services.llm.together import (
    MOST_PARTS,
    MOST_SECONDS,
    STREAMS_FOR_A_STEP,
    PartsTogether,
    joined,
    pause_for,
    together,
)
from oracle.testing import Reply, ScriptedModel
from tests.tables import each_row

A_DAY = 86_400.0
REQUEST = ModelRequest(messages=[])
CALL = {"tool_call": {"id": "1", "name": "f", "arguments": {}}}


class Hose:
    """A stream whose parts the test sends one by one. None ends it."""

    def __init__(self):
        self.parts = asyncio.Queue()
        self.was_closed = False

    def send(self, *parts):
        for part in parts:
            self.parts.put_nowait(part)

    async def stream(self):
        try:
            while (part := await self.parts.get()) is not None:
                if isinstance(part, Exception):
                    raise part
                yield part
        finally:
            self.was_closed = True


async def settled():
    """All tasks have done what they can do now."""
    for _ in range(20):
        await asyncio.sleep(0)


async def taken_from(parts, into, has_two=None):
    async with aclosing(parts):
        async for part in parts:
            into.append(part)
            if has_two is not None and len(into) == 2:
                has_two.set()


def texts(count):
    return [{"text": f"{number} "} for number in range(count)]


@each_row(
    "parts, expected",
    [
        ([], []),
        ([{"text": "a"}, {"text": "b"}], [{"text": "ab"}]),
        ([{"text": "a"}, {"reasoning": "b"}, {"text": "c"}], None),
        (
            [{"text": "a"}, CALL, {"text": "b"}, {"text": "c"}],
            [{"text": "a"}, CALL, {"text": "bc"}],
        ),
        ([CALL, CALL], None),
    ],
)
def test_only_texts_that_follow_each_other_are_joined(parts, expected):
    assert [*joined(parts)] == (parts if expected is None else expected)


async def test_the_first_part_comes_at_once_and_the_next_ones_when_the_pause_is_over():
    hose, heard = Hose(), []
    task = asyncio.create_task(taken_from(together(hose.stream(), lambda: A_DAY), heard))
    hose.send({"text": "a"})
    await settled()
    assert heard == [{"text": "a"}]
    hose.send({"text": "b"}, {"text": "c"})
    await settled()
    assert heard == [{"text": "a"}]
    # The end of the stream ends the pause.
    hose.send(CALL, None)
    await task
    assert heard[1:] == [{"text": "bc"}, CALL]


async def test_without_a_pause_each_part_comes_as_it_arrives():
    hose, heard = Hose(), []
    task = asyncio.create_task(taken_from(together(hose.stream(), lambda: 0.0), heard))
    for part in texts(3):
        hose.send(part)
        await settled()
    hose.send(None)
    await task
    assert heard == texts(3)


async def test_a_pause_ends_by_itself():
    hose, heard, has_two = Hose(), [], asyncio.Event()
    task = asyncio.create_task(taken_from(together(hose.stream(), lambda: 0.001), heard, has_two))
    hose.send({"text": "a"})
    await settled()
    hose.send({"text": "b"})
    await has_two.wait()
    hose.send(None)
    await task
    assert heard == [{"text": "a"}, {"text": "b"}]


async def test_a_stream_that_never_pauses_leaves_others_their_turn():
    async def endless():
        while True:
            yield {"text": "x"}

    async with aclosing(together(endless(), lambda: A_DAY)) as parts:
        sizes = [len((await anext(parts))["text"]) for _ in range(3)]
    assert sizes == [MOST_PARTS] * 3


async def test_what_came_before_a_failure_is_handed_over_before_it():
    hose, heard = Hose(), []
    task = asyncio.create_task(taken_from(together(hose.stream(), lambda: A_DAY), heard))
    hose.send({"text": "a"})
    await settled()
    hose.send({"text": "b"}, ModelUnreachable("gone"))
    with pytest.raises(ModelUnreachable):
        await task
    assert heard == [{"text": "a"}, {"text": "b"}]


@each_row("seconds", [0.0, A_DAY])
async def test_a_stream_that_is_left_is_closed(seconds):
    hose, heard = Hose(), []
    task = asyncio.create_task(taken_from(together(hose.stream(), lambda: seconds), heard))
    hose.send({"text": "a"})
    await settled()
    hose.send({"text": "b"})
    await settled()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert hose.was_closed


async def test_a_process_that_is_late_collects_for_longer_until_few_are_left():
    hose, heard, delays = Hose(), [], []
    parts = together(hose.stream(), lambda: 0.001, delays.append)
    has_two = asyncio.Event()
    task = asyncio.create_task(taken_from(parts, heard, has_two))
    hose.send({"text": "a"})
    await settled()
    hose.send({"text": "b"})
    await has_two.wait()
    hose.send(None)
    await task
    assert delays
    assert min(delays) >= 0
    model = ScriptedModel(Reply(text="It is here."), name="m")
    many = PartsTogether(model)
    many._note_delay(100.0)
    assert many._delay > 0
    assert pause_for(STREAMS_FOR_A_STEP, many._delay) == MOST_SECONDS
    assert pause_for(STREAMS_FOR_A_STEP - 1, many._delay) == 0
    assert [part async for part in many.stream(REQUEST)]
    assert many._delay == 0


async def test_it_is_the_same_model_otherwise():
    model = ScriptedModel(Reply(text="It is here.", calls=[("f", {})], piece=3), name="m")
    many = PartsTogether(model)
    parts = [part async for part in many.stream(REQUEST)]
    assert "".join(part.get("text", "") for part in parts) == "It is here."
    assert [*parts[-1]] == ["tool_call"]
    assert (many.name, many.context_window, many.longest_output, many.prices) == (
        *(model.name, model.context_window),
        *(model.longest_output, model.prices),
    )
    assert model.closed == 1
