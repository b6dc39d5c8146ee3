"""Calls of own tools: in a thread, within a time limit, and with every end made into a result.

A function may block for ever, raise what it likes, print, or call `asyncio.run`. So it never runs
in the thread of the event loop. An `async def` of a project or a package runs in an event loop for
own tools, in a thread of its own. One that a program passes to `Oracle` runs in the program's loop,
because its connections may belong to that loop.
"""

from __future__ import annotations

import asyncio
import inspect
import os
import traceback
from collections.abc import Awaitable, Callable
from contextvars import copy_context
from copy import deepcopy
from functools import partial
from pathlib import Path
from threading import Thread
from typing import Any, Final, cast

from oracle.errors import InterruptedWrite, ToolProblem
from oracle.logs import logger_of
from oracle.services.background import DaemonThreads, is_being_cancelled, within
from oracle.services.own_code.found import answer_of
from oracle.services.own_code.prints import prints_kept
from oracle.services.own_code.process import process_kept
from oracle.services.own_code.tool import OwnTool
from oracle.services.project.redaction import redacted_traceback
from oracle.services.project.roots import Roots
from oracle.services.tools.answer import Answer, code, one_line
from oracle.services.tools.executor import took_too_long
from oracle.services.tools.model_arguments import Arguments
from oracle.services.tools.registry import Tool

_log: Final = logger_of(__name__)
_MOST_THREADS: Final = 32
_LONGEST_MESSAGE: Final = 500
_SECONDS_TO_OBEY: Final = 1.0
# The time limit is kept here. The one of the tool box only has to be later.
_LATER: Final = 30.0
_threads: Final = DaemonThreads(_MOST_THREADS, name="own-tool")


class _Raised(Exception):  # noqa: N818 - it carries an exception from one thread to another
    """What own code raised. `SystemExit` or `KeyboardInterrupt` would end the event loop."""

    def __init__(self, problem: BaseException) -> None:
        super().__init__()
        self.problem = problem


def as_tool(
    own: OwnTool,
    *,
    dry_run: bool = False,
    in_this_loop: bool = False,
    root: Path | Roots | None = None,
) -> Tool[Any]:
    """With `dry_run`, a tool that writes is not run: the answer shows the call.

    `root` is where places with lines are looked up.
    """

    async def run(given: Arguments) -> Answer:
        if dry_run and own.writes:
            return _plan(own, given)
        try:
            return await within(
                own.timeout, _answer(own, given, in_this_loop=in_this_loop, root=root)
            )
        except TimeoutError:
            late = took_too_long(own.name, own.timeout, writes=own.writes)
            raise (InterruptedWrite(late) if own.writes else ToolProblem(late)) from None
        except _Raised as raised:
            raise ToolProblem(_failed(own, raised.problem)) from None

    return Tool(
        name=own.name,
        description=own.description,
        arguments=own.arguments,
        run=run,
        source=None,
        role=own.role,
        query_types=own.query_types,
        timeout=own.timeout + _LATER,
        needs_yes=own.writes,
    )


async def _answer(
    own: OwnTool, given: Arguments, *, in_this_loop: bool, root: Path | Roots | None
) -> Answer:
    positional, named = _passed(own, given)
    call = partial(own.function, *positional, **named)
    if inspect.iscoroutinefunction(own.function) and in_this_loop:
        value, printed = await _awaited(call)
    elif inspect.iscoroutinefunction(own.function):
        value, printed = await _in_own_loop(call)
    else:
        value, printed = await _in_thread(partial(_called, call), must_end=own.writes)
        # A function that is wrapped may return a coroutine without being an `async def`.
        if inspect.isawaitable(value):
            value, printed = await _in_own_loop(lambda: value)
    if printed:
        _log.info("%s printed: %s", own.name, code(printed, 400))
    shaped = partial(answer_of, own.name, value, writes=own.writes, printed=printed, root=root)
    return await _in_thread(partial(_guarded, shaped))


def _passed(own: OwnTool, given: Arguments) -> tuple[list[Any], dict[str, Any]]:
    """Only what the model wrote: for the rest the function has its own defaults, unless they are
    fields of pydantic.

    A copy, because the arguments are on record, and a function may change what it gets.
    """
    named = given.model_fields_set | own.by_pydantic
    values = {name: deepcopy(given.__dict__[name]) for name in named}
    positional = [values.pop(name) for name in own.positional if name in values]
    return positional, values


async def _in_thread(work: Callable[[], Any], *, must_end: bool = False) -> Any:
    submit = _threads.submit_to_end if must_end else _threads.submit
    return await asyncio.wrap_future(submit(partial(copy_context().run, work)))


def _called(call: Callable[[], Any]) -> tuple[Any, str]:
    with prints_kept() as printed, process_kept():
        return _guarded(call), printed.text


def _guarded(work: Callable[[], Any]) -> Any:
    try:
        return work()
    except ToolProblem:
        raise
    except BaseException as problem:
        raise _Raised(problem) from None


async def _awaited(call: Callable[[], Awaitable[Any]]) -> tuple[Any, str]:
    """In a task of its own: what cancels its own task must not cancel the run."""
    try:
        return await asyncio.create_task(_kept(call))
    except asyncio.CancelledError as problem:
        if is_being_cancelled():
            raise
        raise _Raised(problem) from None


async def _kept(call: Callable[[], Awaitable[Any]]) -> tuple[Any, str]:
    with prints_kept() as printed, process_kept():
        try:
            return await call(), printed.text
        except asyncio.CancelledError:
            raise
        except BaseException as problem:
            raise _Raised(problem) from None


# -- the event loop for async tools ----------------------------------------------------------------

_loops: Final[list[asyncio.AbstractEventLoop]] = []
"""The loop in use, if any. It is kept between calls: a tool may keep a connection open."""


async def _in_own_loop(call: Callable[[], Awaitable[Any]]) -> tuple[Any, str]:
    loop = _own_loop()
    work = asyncio.run_coroutine_threadsafe(_awaited(call), loop)
    try:
        return await asyncio.wrap_future(work)
    except asyncio.CancelledError as problem:
        if not is_being_cancelled():
            raise _Raised(problem) from None
        # It is cancelled, because it took too long or the run ends. A loop that is blocked does not
        # obey: the next call gets another one.
        _threads.submit(_give_up_if_blocked, loop)
        raise


def _own_loop() -> asyncio.AbstractEventLoop:
    if not _loops:
        loop = asyncio.new_event_loop()
        Thread(target=loop.run_forever, name="own-tools-loop", daemon=True).start()
        _loops.append(loop)
    return _loops[0]


def _give_up_if_blocked(loop: asyncio.AbstractEventLoop) -> None:
    alive = asyncio.run_coroutine_threadsafe(asyncio.sleep(0), loop)
    try:
        alive.result(_SECONDS_TO_OBEY)
    except TimeoutError:
        if loop in _loops:
            _loops.remove(loop)


os.register_at_fork(after_in_child=_loops.clear)


# -- what the model reads --------------------------------------------------------------------------


def _plan(own: OwnTool, given: Arguments) -> Answer:
    shown = given.model_dump_json(exclude_unset=True)
    return Answer(summary=f"Dry run: {own.name} was not run. Its arguments: {shown}", plan=True)


def _failed(own: OwnTool, problem: BaseException) -> str:
    _log.info("tool %s failed:\n%s", own.name, redacted_traceback(problem))
    told = _what_failed(own, problem)
    # The model hears of it, but only who wrote the tool can mend it.
    _log.warning("the tool %s", told)
    return told


def _what_failed(own: OwnTool, problem: BaseException) -> str:
    """Its type and message on one line, and the place in the tool's own file, if it is known."""
    try:
        message = one_line(str(problem)[: 2 * _LONGEST_MESSAGE], _LONGEST_MESSAGE)
    except Exception:
        message = "its message cannot be shown"
    said = f"{type(problem).__name__}{f': {message}' if message else ''}"
    return f"{own.name} failed: {said}{_place_of(own, problem)}{_first_inside(own, problem)}"


def _first_inside(own: OwnTool, problem: BaseException) -> str:
    """Of a group, such as that of an `asyncio.TaskGroup`, the first exception says what failed."""
    if not isinstance(problem, BaseExceptionGroup):
        return ""
    group = cast("BaseExceptionGroup[BaseException]", problem)
    return f"; first: {_what_failed(own, group.exceptions[0]).partition(' failed: ')[2]}"


def _place_of(own: OwnTool, problem: BaseException) -> str:
    """The innermost line of the tool's own file. Only the file's name: a path names the user."""
    file = inspect.unwrap(own.function).__code__.co_filename
    frames = traceback.extract_tb(problem.__traceback__)
    lines = [frame.lineno for frame in frames if frame.filename == file]
    return f" ({Path(cast('str', file)).name}:{lines[-1]})" if lines else ""
