"""Servers that speak OpenAI's protocol in their own way. Nothing that they send gets lost."""

from oracle.testing.servers import openai
from tests.services.llm.dialects import DIALECTS
from tests.tables import each_row

OPENAI = DIALECTS["openai"]


def piece(index, call_id, name, arguments):
    function = {"name": name, "arguments": arguments}
    return {"index": index, "id": call_id, "type": "function", "function": function}


def sent(*pieces):
    return openai.chunk({"tool_calls": list(pieces)})


async def calls_of(*chunks, reason="tool_calls"):
    body = [*openai.beginning(), *chunks, *openai.ending(9, reason)]
    parts = await OPENAI.answer(*body)
    calls = [part["tool_call"] for part in parts if "tool_call" in part]
    assert len({call["id"] for call in calls}) == len(calls)
    return [(call["name"], call["arguments"]) for call in calls]


A, B = ("search", {"q": "a"}), ("search", {"q": "b"})
TWO_CALLS = {
    "two whole calls with the index 0": [
        sent(piece(0, "a", "search", '{"q":"a"}')),
        sent(piece(0, "b", "search", '{"q":"b"}')),
    ],
    "both in one chunk": [
        sent(piece(0, "a", "search", '{"q":"a"}'), piece(0, "b", "search", '{"q":"b"}'))
    ],
    "without ids": [
        sent(piece(0, "", "search", '{"q":"a"}')),
        sent(piece(0, None, "search", '{"q":"b"}')),
    ],
    "in pieces, one after the other": [
        sent(piece(0, "a", "search", '{"q"')),
        sent(piece(0, None, None, ':"a"}')),
        sent(piece(0, "b", "search", '{"q"')),
        sent(piece(0, None, None, ':"b"}')),
    ],
    "in pieces, in turn": [
        sent(piece(0, "a", "search", '{"q"')),
        sent(piece(1, "b", "search", '{"q"')),
        sent(piece(0, None, None, ':"a"}')),
        sent(piece(1, None, None, ':"b"}')),
    ],
}


@each_row("chunks", TWO_CALLS.values(), ids=TWO_CALLS)
async def test_two_calls_are_two_whatever_their_index(chunks):
    assert await calls_of(*chunks) == [A, B]


ONE_CALL = {
    "the name in each piece": [
        sent(piece(0, "a", "search", '{"q"')),
        sent(piece(0, "a", "search", ':"a"}')),
    ],
    "the name in each piece, no id": [
        sent(piece(0, None, "search", "")),
        sent(piece(0, None, "search", '{"q"')),
        sent(piece(0, None, "search", ':"a"}')),
    ],
    "another id in each piece": [
        sent(piece(0, "a", "search", '{"q"')),
        sent(piece(0, "b", "search", ':"a"}')),
        sent(piece(0, "c", None, "")),
    ],
    "the name in two pieces": [
        sent(piece(0, "a", "sea", "")),
        sent(piece(0, "a", "rch", '{"q":"a"}')),
    ],
    "an empty piece at the end": [
        sent(piece(0, "a", "search", '{"q":"a"}')),
        sent(piece(0, "a", "search", "")),
    ],
    "the older form": [
        openai.chunk({"function_call": {"name": "search", "arguments": '{"q"'}}),
        openai.chunk({"function_call": {"arguments": ':"a"}'}}),
    ],
    "an object as arguments": [sent(piece(0, "a", "search", {"q": "a"}))],
}


@each_row("chunks", ONE_CALL.values(), ids=ONE_CALL)
async def test_one_call_is_one_however_it_is_written(chunks):
    assert await calls_of(*chunks) == [A]


async def test_calls_without_arguments_are_told_apart_by_their_ids():
    pieces = [sent(piece(0, name, name, "")) for name in ("first", "second")]
    assert await calls_of(*pieces) == [("first", {}), ("second", {})]


@each_row(
    ("reasons", "kind"),
    [
        (["length", "stop"], "length"),
        (["stop", "length"], "length"),
        (["content_filter", "length", "stop"], "filter"),
        (["odd", "stop"], "unknown"),
        (["stop", "stop"], None),
    ],
)
async def test_the_worst_finish_reason_counts(reasons, kind):
    *first, last = reasons
    ends = [openai.chunk({}, reason) for reason in first]
    text = openai.events(openai.text("The cache evicts"))
    parts = await OPENAI.answer(*openai.beginning(), *text, *ends, *openai.ending(9, last))
    assert [part["ending"]["kind"] for part in parts if "ending" in part] == [kind][: bool(kind)]


async def test_a_second_answer_is_not_mixed_with_the_first():
    other = {"index": 1, "delta": {"content": "SECOND"}, "finish_reason": None}
    chunks = [openai.chunk({"content": "first"}), openai._event(choices=[other])]
    parts = await OPENAI.answer(*openai.beginning(), *chunks, *openai.ending(9, "stop"))
    assert [part["text"] for part in parts if "text" in part] == ["first"]


def reported(sent, received):
    return openai._event(choices=[], usage={"prompt_tokens": sent, "completion_tokens": received})


@each_row(
    ("reports", "usage"),
    [
        ([(50, 1), (50, 2), (50, 3)], {"input_tokens": 50, "output_tokens": 3}),
        ([(50, 3)], {"input_tokens": 50, "output_tokens": 3}),
        ([(0, 0), (50, 3), (50, 3)], {"input_tokens": 50, "output_tokens": 3}),
        ([(-5, 3), ("9", 3), (None, 1.5)], None),
        ([], None),
    ],
)
async def test_what_is_reported_in_each_chunk_is_what_was_used_so_far(reports, usage):
    text = openai.events(openai.text("It evicts."))
    end = [openai.chunk({}, "stop"), *(reported(*each) for each in reports), openai.DONE]
    parts = await OPENAI.answer(*openai.beginning(), *text, *end)
    assert [part["usage"] for part in parts if "usage" in part] == [usage][: bool(usage)]
