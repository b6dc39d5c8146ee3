"""Whatever a model writes, the tool box returns a result that says what to do next."""

import asyncio

import pytest
from pydantic import Field

from oracle.errors import InterruptedWrite
from oracle.services.tools.answer import Answer
from oracle.services.tools.executor import ToolBox
from oracle.services.tools.model_arguments import Arguments
from oracle.services.tools.registry import Tool
from tests.tables import each_row


class Count(Arguments):
    to: int = Field(ge=1, le=9, description="How far.")
    word: str = "tea"


def box(run, timeout=20.0, longest=20_000):
    tool = Tool(
        name="count",
        description="Counts.",
        arguments=Count,
        run=run,
        query_types=frozenset(),
        source=None,
        timeout=timeout,
    )
    return ToolBox([tool], longest=longest)


async def counted(given):
    return Answer(summary=f"{given.to} {given.word}")


@pytest.mark.parametrize(
    ("arguments", "content"),
    [({"to": 3}, "3 tea"), ('{"to": 3, "word": "cups"}', "3 cups"), ({"to": "4"}, "4 tea")],
)
async def test_good_arguments_run_the_tool_as_an_object_or_as_its_text(arguments, content):
    result = await box(counted).run("count", arguments)
    assert result == {"success": True, "content": content, "sources": []}


@each_row(
    ("arguments", "says"),
    [
        ({}, "the argument 'to' is missing"),
        ("", "the argument 'to' is missing"),
        ({"to": "many"}, "to is 'many': Input should be a valid integer"),
        ({"to": 99}, "less than or equal to 9"),
        ({"to": 1, "wrod": "x"}, "it has no argument 'wrod'; did you mean 'word'?"),
        ({"to": 1, "word": "\ud800"}, "word is"),
        ({"to": None}, "to is None"),
        ("{", "its arguments are not JSON"),
        ("[" * 100_000, "its arguments are not JSON"),
        ("9" * 10_000, "its arguments are not JSON"),
        ("[1]", "write one JSON object"),
        ({"to": "x" * 100_000}, "to is 'xxx"),
    ],
)
async def test_wrong_arguments_are_a_result_that_says_what_would_be_right(arguments, says):
    result = await box(counted).run("count", arguments)
    assert not result["success"]
    assert says in result["content"]
    assert len(result["content"]) < 1000


async def test_a_wrong_argument_is_answered_with_the_usage():
    result = await box(counted).run("count", {"two": 2})
    assert "It takes to (integer), word (string, optional)." in result["content"]


async def test_an_unknown_tool_is_a_result_with_a_suggestion():
    result = await box(counted).run("cuont", {})
    assert result["content"].startswith("there is no tool 'cuont' (did you mean 'count'?)")
    assert not (await box(counted).run("x" * 10_000, {}))["success"]


async def test_a_tool_that_takes_too_long_is_stopped():
    stopped = asyncio.Event()

    async def forever(given):
        try:
            await asyncio.Event().wait()
        finally:
            stopped.set()

    result = await box(forever, timeout=0.01).run("count", {"to": 1})
    assert "took longer than 0.01 s" in result["content"]
    assert stopped.is_set()


async def test_cancelling_passes_through():
    started = asyncio.Event()

    async def forever(given):
        started.set()
        await asyncio.Event().wait()

    task = asyncio.create_task(box(forever).run("count", {"to": 1}))
    await started.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


@pytest.mark.parametrize("problem", [ValueError("five"), TimeoutError("late"), OSError("disk")])
async def test_a_tool_that_breaks_is_a_result_too(problem):
    async def breaks(given):
        raise problem

    result = await box(breaks).run("count", {"to": 1})
    assert not result["success"]
    assert result["content"].startswith("count")


async def test_a_tool_that_only_reads_was_never_done():
    assert await box(counted).was_done("count", {"to": 1}) is None


async def test_of_a_writing_tool_that_cannot_tell_nothing_is_known():
    tool = Tool(
        name="count", description="Counts.", arguments=Count, run=counted, source=None, role="write"
    )
    assert tool.spec.writes
    for name in ("count", "nothing"):
        with pytest.raises(InterruptedWrite):
            await ToolBox([tool]).was_done(name, {"to": 1})


async def test_the_schema_names_every_argument_without_noise():
    (spec,) = box(counted).specs
    assert spec.parameters["properties"]["to"] == {
        "type": "integer",
        "minimum": 1,
        "maximum": 9,
        "description": "How far.",
    }
    assert spec.parameters["required"] == ["to"]
    assert spec.parameters["additionalProperties"] is False
