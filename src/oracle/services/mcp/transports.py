"""Ways to a server: a program on stdin and stdout, or an address. Both are bounded.

The SDK has a transport for programs too, but that one reads a line of any length, and passes more
variables on.
"""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import os
import signal
from collections import deque
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final

import anyio
import httpx2
import mcp_types as types
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.message import SessionMessage

from oracle.services.certificates import certificates

MOST_BYTES: Final = 4 * 1024 * 1024
"""Of one message, and of one response."""
MOST_MESSAGES: Final = 5_000
"""That a program may send for one call."""
PASSED_ON: Final = ("HOME", "LANG", "LOGNAME", "PATH", "SHELL", "TERM", "TMPDIR", "USER")
_SECONDS_TO_LEAVE: Final = 0.5
_SHOWN_OF_STDERR: Final = 500


class Program:
    """A program that is started for a server. `problem` says what is wrong with it, if anything."""

    def __init__(
        self, command: Sequence[str], *, variables: Sequence[str], environment: Mapping[str, str]
    ) -> None:
        self._command = command
        self._environment = {
            name: environment[name] for name in (*PASSED_ON, *variables) if name in environment
        }
        self.problem = ""
        self._messages = 0
        self._stderr: deque[str] = deque(maxlen=20)

    def begin_call(self) -> None:
        self._messages = 0

    @asynccontextmanager
    async def opened(self, folder: Path | None) -> AsyncGenerator[Any]:
        process = await asyncio.create_subprocess_exec(
            *self._command,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env=self._environment,
            cwd=folder,
            limit=MOST_BYTES,
            # A group of its own, so that its children are ended too.
            start_new_session=True,
        )
        _at_work.add(process.pid)
        received, incoming = anyio.create_memory_object_stream[SessionMessage | Exception](0)
        outgoing, sent = anyio.create_memory_object_stream[SessionMessage](0)
        work = [
            asyncio.create_task(self._read(process, received)),
            asyncio.create_task(self._write(process, sent)),
            asyncio.create_task(self._hear(process)),
        ]
        try:
            yield incoming, outgoing
        finally:
            await _ended(process)
            for each in work:
                each.cancel()
            await asyncio.gather(*work, return_exceptions=True)
            for stream in (received, incoming, outgoing, sent):
                stream.close()

    async def _read(
        self,
        process: asyncio.subprocess.Process,
        received: MemoryObjectSendStream[SessionMessage | Exception],
    ) -> None:
        assert process.stdout is not None
        with contextlib.suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
            async with received:
                while line := await self._line(process.stdout):
                    self._messages += 1
                    if self._messages > MOST_MESSAGES:
                        self.problem = f"it sent more than {MOST_MESSAGES:,} messages"
                        return
                    try:
                        message = types.jsonrpc_message_adapter.validate_json(line, by_name=False)
                    except ValueError:
                        # Many programs print a banner. What answers a call is waited for.
                        self.problem = "it printed text that is not the protocol"
                        continue
                    await received.send(SessionMessage(message))
                await asyncio.sleep(0)
                code = process.returncode
                self.problem = self.problem or f"it ended{'' if code is None else f' ({code})'}"

    async def _line(self, stdout: asyncio.StreamReader) -> bytes:
        try:
            return await stdout.readline()
        except ValueError:
            self.problem = f"it sent a message of more than {MOST_BYTES:,} bytes"
            return b""

    async def _write(
        self,
        process: asyncio.subprocess.Process,
        sent: MemoryObjectReceiveStream[SessionMessage],
    ) -> None:
        assert process.stdin is not None
        with contextlib.suppress(OSError, anyio.ClosedResourceError):
            async for message in sent:
                text = message.message.model_dump_json(by_alias=True, exclude_unset=True)
                process.stdin.write(text.encode() + b"\n")
                await process.stdin.drain()

    async def _hear(self, process: asyncio.subprocess.Process) -> None:
        """Keep the end of what it says on stderr: it may say there why it ended."""
        assert process.stderr is not None
        while data := await process.stderr.read(4096):
            self._stderr.append(data.decode(errors="replace"))

    @property
    def last_words(self) -> str:
        said = " ".join("".join(self._stderr).split())[-_SHOWN_OF_STDERR:]
        return f"; on stderr it said: {said}" if said else ""


async def _ended(process: asyncio.subprocess.Process) -> None:
    """Close its stdin and give it a moment; then end it, and all that it has started."""
    if process.stdin is not None:
        process.stdin.close()
    try:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_SECONDS_TO_LEAVE):
                await process.wait()
    finally:
        # Also if this is cancelled: nothing of it may be left.
        _kill(process.pid)
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(_SECONDS_TO_LEAVE):
            await process.wait()


_at_work: Final[set[int]] = set()


def end_programs() -> None:
    """End all programs at once, with what they have started. For the exit of this process."""
    for pid in list(_at_work):
        _kill(pid)


def _kill(pid: int) -> None:
    _at_work.discard(pid)
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)


atexit.register(end_programs)
# After a fork they are the parent's.
os.register_at_fork(after_in_child=_at_work.clear)


class _Bounded(httpx2.AsyncByteStream):
    def __init__(self, below: httpx2.AsyncByteStream) -> None:
        self._below = below

    async def __aiter__(self) -> AsyncGenerator[bytes]:
        seen = 0
        async for part in self._below:
            seen += len(part)
            if seen > MOST_BYTES:
                raise httpx2.ReadError(f"the response has more than {MOST_BYTES:,} bytes")
            yield part

    async def aclose(self) -> None:
        await self._below.aclose()


class _BoundedTransport(httpx2.AsyncHTTPTransport):
    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        response = await super().handle_async_request(request)
        assert isinstance(response.stream, httpx2.AsyncByteStream)
        response.stream = _Bounded(response.stream)
        return response


@asynccontextmanager
async def address_opened(url: str, *, token: str | None, seconds: float) -> AsyncGenerator[Any]:
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    trusted = certificates(httpx2.create_ssl_context, trust_env=False)
    transport = _BoundedTransport(verify=trusted, trust_env=False)
    async with (
        httpx2.AsyncClient(
            headers=headers, timeout=seconds, transport=transport, trust_env=False
        ) as http,
        streamable_http_client(url, http_client=http, max_sse_event_size=MOST_BYTES) as streams,
    ):
        yield streams
