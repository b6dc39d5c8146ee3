import asyncio

import pytest

from oracle.testing.servers import Drop, Reply, ScriptedServer, Stall, in_pieces


async def post(server, body=b"{}"):
    port = int(server.url.rpartition(":")[2])
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(b"POST /v1/x HTTP/1.1\r\nContent-Length: %d\r\nA: b\r\n\r\n" % len(body) + body)
    return reader, writer


async def test_a_server_answers_in_the_order_of_its_script_and_remembers_who_asked():
    async with ScriptedServer(Reply(body=[b"one"]), Reply(status=404)) as server:
        for status, body in (("200", "3\r\none\r\n0\r\n\r\n"), ("404", "0\r\n\r\n")):
            reader, writer = await post(server, b'{"n": 1}')
            head, _, rest = (await reader.read()).decode().partition("\r\n\r\n")
            writer.close()
            assert head.split()[1] == status
            assert rest == body
    assert [(_.path, _.headers["a"], _.body) for _ in server.requests] == [
        ("/v1/x", "b", {"n": 1})
    ] * 2


async def test_a_reply_that_nobody_asked_for_is_complained_about():
    with pytest.raises(AssertionError, match="the last 2 replies were not requested"):
        async with ScriptedServer(Reply(), Reply()):
            pass


async def test_a_request_too_many_is_told():
    async with ScriptedServer() as server:
        reader, writer = await post(server)
        assert b"the script has 0 replies" in await reader.read()
        writer.close()


async def test_a_dropped_connection_has_no_end():
    async with ScriptedServer(Reply(body=[b"some", Drop(), b"never"])) as server:
        reader, writer = await post(server)
        try:
            sent = await reader.read()
        except ConnectionResetError:
            sent = b""
        writer.close()
    assert b"never" not in sent
    assert not sent.endswith(b"0\r\n\r\n")


async def test_a_server_notices_a_client_that_leaves():
    async with ScriptedServer(Reply(body=[Stall()])) as server:
        _, writer = await post(server)
        await asyncio.wait_for(server.stalled.wait(), 5)
        assert not server.left.is_set()
        writer.close()
        await asyncio.wait_for(server.left.wait(), 5)


def test_a_body_can_be_cut_anywhere():
    assert in_pieces(["é".encode(), Stall()], 1) == [b"\xc3", b"\xa9", Stall()]
    assert in_pieces([b"abcde"], 2) == [b"ab", b"cd", b"e"]
