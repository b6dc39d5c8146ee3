"""A connection to a server: opened when it is needed, kept for a while, and given up when it fails.

All connections have an event loop of their own, in a thread: they outlive a question and its loop,
and a server that sends without an end does not hold up anything else. A task holds a connection
open, because what opens it must close it. Calls of any task use it.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Any, Final, TypeVar, cast

from oracle.errors import InputError, ToolProblem
from oracle.logs import logger_of
from oracle.services.background import in_thread
from oracle.services.installing import install_command
from oracle.services.project.redaction import hide, redact
from oracle.services.settings.mcp_servers import McpServer

if TYPE_CHECKING:
    from mcp import Client
    from mcp_types import CallToolResult, Tool

    from oracle.services.mcp.transports import Program

log = logger_of(__name__)

Result = TypeVar("Result")
SECONDS_IDLE: Final = 60.0
MOST_PAGES: Final = 20


class Connection:
    """To one server. `environment` has the values that the server may get."""

    def __init__(
        self, server: McpServer, environment: Mapping[str, str], root: Path | None
    ) -> None:
        self._server = server
        self._environment = environment
        self._root = root
        self._client: asyncio.Future[Client] | None = None
        self._holding: asyncio.Task[None] | None = None
        self._program: Program | None = None
        self._at_work = 0
        self._closing: asyncio.TimerHandle | None = None

    async def tools(self) -> list[Tool]:
        """All that it lists, page by page. A list without an end, or in a circle, is cut."""

        async def listed(client: Client) -> list[Tool]:
            found: list[Tool] = []
            cursor: str | None = None
            asked: set[str | None] = set()
            while cursor not in asked and len(asked) < MOST_PAGES:
                asked.add(cursor)
                page = await client.list_tools(cursor=cursor, cache_mode="bypass")
                found += page.tools
                cursor = page.next_cursor or None
            return found

        return await _there(self._used(listed))

    async def call(self, name: str, arguments: Mapping[str, Any]) -> CallToolResult:
        return await _there(self._used(lambda client: client.call_tool(name, dict(arguments))))

    async def _used(self, work: Callable[[Client], Awaitable[Result]]) -> Result:
        """Whatever goes wrong, the connection is given up: the next call gets a new one."""
        self._at_work += 1
        if self._closing is not None:
            self._closing.cancel()
        try:
            client = await asyncio.shield(self._opened())
            if self._program is not None:
                self._program.begin_call()
            return await work(client)
        except Exception as problem:
            self.give_up()
            raise self._explained(problem) from None
        except asyncio.CancelledError:
            # A time limit, or the end of the run: what it would answer is not waited for.
            self.give_up()
            raise
        finally:
            self._at_work -= 1
            if not self._at_work:
                loop = asyncio.get_running_loop()
                self._closing = loop.call_later(SECONDS_IDLE, self.give_up)

    def give_up(self) -> None:
        if self._holding is not None:
            self._holding.cancel()
        self._holding = self._client = None

    def _opened(self) -> asyncio.Future[Client]:
        loop, holding = asyncio.get_running_loop(), self._holding
        # After a fork the loop is another one.
        if self._client is None or holding is None or holding.done() or holding.get_loop() != loop:
            self._client = loop.create_future()
            self._holding = asyncio.create_task(self._hold(self._client))
        return self._client

    async def _hold(self, opened: asyncio.Future[Client]) -> None:
        try:
            # It takes a second or more, in which this event loop would do nothing else.
            await in_thread(check_installed)
            from mcp import Client

            async with Client(self._transport(), cache=None) as client:
                opened.set_result(client)
                await asyncio.get_running_loop().create_future()
        except BaseException as problem:
            if not opened.done():
                opened.set_exception(_as_exception(problem))
                # Nobody may wait for it any more.
                opened.exception()
            elif isinstance(problem, Exception):
                log.info("the connection to %s ended: %s", self._server.name, problem)
            if isinstance(problem, asyncio.CancelledError):
                raise

    def _transport(self) -> Any:
        from oracle.services.mcp.transports import Program, address_opened

        server = self._server
        for name in (*server.env, *filter(None, [server.token_variable])):
            # What a server is given must not come back in its results.
            hide(self._environment.get(name, ""))
        if server.url:
            token = self._environment.get(server.token_variable)
            return address_opened(server.url, token=token, seconds=server.timeout)
        program = Program(server.command, variables=server.env, environment=self._environment)
        self._program = program
        return program.opened(self._root)

    def _explained(self, problem: Exception) -> Exception:
        if isinstance(problem, ToolProblem | TimeoutError):
            return problem
        if isinstance(problem, InputError):
            return ToolProblem(str(problem))
        name, program = self._server.name, self._program
        if isinstance(problem, FileNotFoundError | PermissionError):
            program_name = self._server.command[0] if self._server.command else ""
            return ToolProblem(
                f"the server {name} cannot be started: {problem.strerror}: {program_name}"
            )
        inner = _innermost(problem)
        why = _of_its_message(inner) or " ".join(str(inner).split())[:300] or type(inner).__name__
        if program is not None:
            why = f"{program.problem or why}{program.last_words}"
        return ToolProblem(redact(f"the server {name} failed: {why}; go on without it"))


def _innermost(problem: BaseException) -> BaseException:
    inner: Any = problem
    while isinstance(inner, BaseExceptionGroup):
        inner = cast("Any", inner).exceptions[0]
    return cast("BaseException", inner)


def _of_its_message(problem: BaseException) -> str:
    """What does not fit in something that it sent, without words that are for programmers."""
    from pydantic import ValidationError

    if not isinstance(problem, ValidationError):
        return ""
    first = problem.errors(include_url=False, include_input=False)[0]
    place = ".".join(map(str, first["loc"])) or "all of it"
    return f"it sent what does not fit the protocol ({place}: {first['msg']})"[:300]


def _as_exception(problem: BaseException) -> Exception:
    if isinstance(problem, Exception):
        return problem
    return ToolProblem("the connection was given up")


# -- the event loop of all connections -------------------------------------------------------------

_loops: Final[list[asyncio.AbstractEventLoop]] = []
"""The loop in use, if any."""


def _loop() -> asyncio.AbstractEventLoop:
    if not _loops:
        loop = asyncio.new_event_loop()
        Thread(target=loop.run_forever, name="mcp-servers", daemon=True).start()
        _loops.append(loop)
    return _loops[0]


async def _there(work: Coroutine[Any, Any, Result]) -> Result:
    """Do it in the loop of the connections. It is cancelled with its caller."""
    return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(work, _loop()))


# After a fork the thread is the parent's.
os.register_at_fork(after_in_child=_loops.clear)


def check_installed() -> None:
    """Raises `InputError`, which names the command that installs what is missing."""
    with contextlib.suppress(ImportError):
        import oracle.services.mcp.transports  # noqa: F401 # pyright: ignore[reportUnusedImport]

        return
    raise InputError(f"tools of other servers need more packages; run `{install_command('mcp')}`")
