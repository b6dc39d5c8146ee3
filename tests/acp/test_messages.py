"""What an editor sends that is not a message."""

import asyncio

import pytest

from oracle.acp.messages import Messages

GOOD = b'{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1}}\n'
RUBBISH = [
    b"rubbish",
    b"\xff\xfe\x00",
    b"[" * 10_000,
    b"[]",
    b"5",
    b"null",
    b'"text"',
    b'{"id": [1], "result": 1}',
    b'{"id": {"a": 1}, "method": "session/list"}',
    b'{"id": 1, "error": "no"}',
    b'{"id": 1, "method": 5}',
    b"",
]


def reader_of(*pieces: bytes, limit: int = 2**16) -> Messages:
    reader = Messages(limit=limit)
    reader.feed_data(b"".join(pieces))
    reader.feed_eof()
    return reader


@pytest.mark.parametrize("line", RUBBISH)
async def test_what_is_not_a_message_is_left_out(line):
    reader = reader_of(line + b"\n", GOOD, line)
    assert await reader.readuntil(b"\n") == GOOD
    with pytest.raises(asyncio.IncompleteReadError) as end:
        await reader.readuntil(b"\n")
    assert end.value.partial == b""


async def test_a_message_without_an_end_of_line_is_taken():
    with pytest.raises(asyncio.IncompleteReadError) as end:
        await reader_of(GOOD.strip()).readuntil(b"\n")
    assert end.value.partial == GOOD.strip()


async def test_the_parts_of_a_long_line_are_passed_on():
    reader = reader_of(b'{"a":"' + b"x" * 300, b'"}\n', GOOD, limit=100)
    with pytest.raises(asyncio.LimitOverrunError) as overrun:
        await reader.readuntil(b"\n")
    await reader.readexactly(overrun.value.consumed)
    # The rest of that line is not a message by itself.
    assert await reader.readuntil(b"\n") == b"\n"
    assert await reader.readuntil(b"\n") == GOOD
