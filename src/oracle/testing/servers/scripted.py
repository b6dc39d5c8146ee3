"""An HTTP server that answers each request with the next reply of its script.

async with ScriptedServer(Reply(body=[b"data: 1\\n\\n", Stall()])) as server:
    ...  # talk to server.url

It supports as much HTTP as a provider's endpoint needs: one POST per connection, with a
Content-Length, and a chunked response, so that a client can tell the end from a broken connection.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Self

from oracle.testing.web import read_request


@dataclass(frozen=True)
class Stall:
    """Send nothing more, but keep the connection open until the client closes it."""


@dataclass(frozen=True)
class Drop:
    """Cut the connection in the middle of the response."""


Step = bytes | Stall | Drop


@dataclass(frozen=True, kw_only=True)
class Reply:
    """A response. Each `bytes` of the body is sent as its own chunk."""

    body: Sequence[Step] = ()
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True, kw_only=True)
class Request:
    path: str
    headers: Mapping[str, str]
    body: Any


def in_pieces(body: Iterable[Step], size: int = 1) -> list[Step]:
    """The same body in chunks of `size` bytes, cut at any place."""
    pieces: list[Step] = []
    for step in body:
        if isinstance(step, bytes):
            pieces.extend(step[at : at + size] for at in range(0, len(step), size))
        else:
            pieces.append(step)
    return pieces


class ScriptedServer:
    """Plays its replies in order. Unused replies fail the test at the end. A function makes its
    reply from the request.

    `requests` are the requests so far. `left` is set when a client closes a connection before the
    end of the response, `stalled` when a reply has reached its `Stall`.
    """

    def __init__(self, *script: Reply | Callable[[Request], Reply], endless: bool = False) -> None:
        self._script = script
        self._endless = endless
        self._tasks: set[asyncio.Task[None]] = set()
        self._writers: set[asyncio.StreamWriter] = set()
        self.requests: list[Request] = []
        self.left = asyncio.Event()
        self.stalled = asyncio.Event()

    @property
    def url(self) -> str:
        host, port = self._server.sockets[0].getsockname()[:2]
        return f"http://{host}:{port}"

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._connected, "127.0.0.1", 0)
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._server.close()
        # The connections are cut and the tasks not cancelled: asyncio logs cancelled handlers.
        for writer in self._writers:
            writer.transport.abort()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        if error is None and not self._endless:
            unused = len(self._script) - len(self.requests)
            assert unused <= 0, f"the last {unused} replies were not requested"

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        self._writers.add(writer)
        task.add_done_callback(self._tasks.discard)
        try:
            with suppress(ConnectionError, asyncio.IncompleteReadError):
                await self._serve(reader, writer)
        finally:
            self._writers.discard(writer)
            writer.transport.abort()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.requests.append(await _read_request(reader))
        reply = self._next_reply()
        # A client sends nothing after its request, so this read ends only when the client leaves.
        gone = asyncio.ensure_future(reader.read(1))
        gone.add_done_callback(lambda _: self.left.set())
        sending = asyncio.ensure_future(self._send(reply, writer))
        try:
            await asyncio.wait({gone, sending}, return_when=asyncio.FIRST_COMPLETED)
            if sending.done():
                sending.result()
        finally:
            for task in (gone, sending):
                if task.done():
                    task.exception()  # asyncio logs an exception that was never looked at
                else:
                    task.cancel()

    def _next_reply(self) -> Reply:
        place = len(self.requests) - 1
        if self._endless:
            place %= len(self._script)
        if place >= len(self._script):
            return Reply(status=500, body=[f"the script has {len(self._script)} replies".encode()])
        reply = self._script[place]
        return reply if isinstance(reply, Reply) else reply(self.requests[-1])

    async def _send(self, reply: Reply, writer: asyncio.StreamWriter) -> None:
        writer.write(_head(reply))
        for step in reply.body:
            if isinstance(step, Stall):
                self.stalled.set()
                await asyncio.get_running_loop().create_future()
            elif isinstance(step, Drop):
                return
            else:
                writer.write(b"%x\r\n%b\r\n" % (len(step), step))
                await writer.drain()
        writer.write(b"0\r\n\r\n")
        await writer.drain()
        writer.close()
        await writer.wait_closed()


async def _read_request(reader: asyncio.StreamReader) -> Request:
    sent = await read_request(reader)
    body = json.loads(sent.body) if sent.body else None
    return Request(path=sent.target, headers=sent.headers, body=body)


def _head(reply: Reply) -> bytes:
    kind = "text/event-stream" if reply.status == 200 else "application/json"
    headers = {
        "content-type": kind,
        "transfer-encoding": "chunked",
        "connection": "close",
        **reply.headers,
    }
    lines = [f"HTTP/1.1 {reply.status} Scripted", *(f"{key}: {headers[key]}" for key in headers)]
    return "".join(f"{line}\r\n" for line in [*lines, ""]).encode()
