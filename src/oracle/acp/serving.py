"""Speaks the protocol on stdin and stdout until the editor closes them."""

from __future__ import annotations

import asyncio
import os
import signal
import stat
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, Final, cast

from acp.core import DEFAULT_STDIO_BUFFER_LIMIT_BYTES, run_agent

from oracle.acp.agent import EditorAgent
from oracle.acp.messages import Messages
from oracle.errors import InputError

STOPPING: Final = (signal.SIGINT, signal.SIGTERM)


async def serve(flags: Mapping[str, object], *, stdin: int, stdout: int) -> None:
    """`stdin` and `stdout` are descriptors that nothing else reads or writes."""
    agent = EditorAgent(flags)
    loop = asyncio.get_running_loop()
    serving = asyncio.create_task(_speak(agent, stdin, stdout))
    for each in STOPPING:
        loop.add_signal_handler(each, serving.cancel)
    try:
        with suppress(asyncio.CancelledError):
            await serving
    finally:
        for each in STOPPING:
            loop.remove_signal_handler(each)
        await agent.close()


async def _speak(agent: EditorAgent, stdin: int, stdout: int) -> None:
    reader, writer = await _streams(stdin, stdout)
    # Forking, resuming and closing are in the protocol's unstable part. The cast: its router passes
    # all parameters by name, so methods need not list those that they do not use.
    await run_agent(cast("Any", agent), writer, reader, use_unstable_protocol=True)


async def _streams(stdin: int, stdout: int) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    loop = asyncio.get_running_loop()
    stdin = _one_that_ends(stdin)
    reader = Messages(limit=DEFAULT_STDIO_BUFFER_LIMIT_BYTES)
    try:
        await loop.connect_read_pipe(
            lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(stdin, "rb", buffering=0)
        )
        transport, protocol = await loop.connect_write_pipe(
            lambda: asyncio.StreamReaderProtocol(asyncio.StreamReader()),
            os.fdopen(stdout, "wb", buffering=0),
        )
    except ValueError:
        raise InputError(
            "stdin and stdout must be pipes; this command is started by an editor: give it the "
            "command `oracle` with the argument `acp`"
        ) from None
    return reader, asyncio.StreamWriter(transport, protocol, None, loop)


def _one_that_ends(stdin: int) -> int:
    """An empty pipe in the place of a device such as /dev/null, whose end asyncio never notices."""
    if not stat.S_ISCHR(os.fstat(stdin).st_mode) or os.isatty(stdin):
        return stdin
    os.close(stdin)
    reading, writing = os.pipe()
    os.close(writing)
    return reading
