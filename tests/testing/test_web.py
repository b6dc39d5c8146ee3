import asyncio
from contextlib import suppress

from oracle.testing.web import LoopbackServer, Reply

LARGE = 50_000_000


async def test_leaving_cuts_off_a_client_that_does_not_read():
    async with LoopbackServer({"/": Reply(body=b"x" * LARGE)}) as server:
        reader, writer = await asyncio.open_connection("127.0.0.1", server.port, limit=1)
        writer.write(b"GET / HTTP/1.1\r\n\r\n")
        await reader.readexactly(1)
    got = b""
    with suppress(ConnectionError):
        while piece := await reader.read(1_000_000):
            got += piece
    writer.close()
    assert len(got) < LARGE
