"""An effect under way, in a task of its own.

In a replay nothing is under way: a leaf that is halted hears of it at once. Live it must be the
same, or leaves that are halted together would clean up in an order that depends on how long their
effects take to close. So a leaf never waits within an effect, only for what it brings.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Coroutine
from typing import Any, Final, Protocol, TypeAlias

from oracle.services.journal.after_crash import Effect, Source
from oracle.services.journal.failures import as_body
from oracle.services.journal.json_shape import json_shaped
from oracle.services.journal.record import RecordKind

Brought: TypeAlias = tuple[RecordKind, Any, Exception | None]
"""The kind of record that it makes, and what came, or why nothing did."""
Told: TypeAlias = asyncio.Future[Brought]
Task: TypeAlias = asyncio.Task[None]

MOST_PARTS_AHEAD: Final = 32
"""How far a stream is read before its leaf asks; bursts then cost no rounds of the event loop."""


def as_written(request: Any, brought: Brought) -> Any:
    """The body of the record that it makes."""
    kind, body, problem = brought
    if problem is not None:
        return as_body(request, problem)
    return {"request": request, **body} if kind == "answer" else body


class Tell(Protocol):
    def __call__(self, told: Told, brought: Brought) -> None: ...


class Errand:
    """Brings what an effect gives to the leaf that asks for it; left, it is given up.

    `tell` answers a leaf when it is its turn; `close` cancels a task and sees to its end.
    """

    __slots__ = ("_close", "_is_given_up", "_name", "_room", "_task", "_tell", "_told", "ahead")

    _task: Task

    def __init__(self, name: str, tell: Tell, close: Callable[[Task], None]) -> None:
        self._name = name
        self._tell = tell
        self._close = close
        self.ahead: list[Brought] = []
        self._told: Told | None = None
        self._room: asyncio.Future[None] | None = None
        self._is_given_up = False

    def perform(self, effect: Effect) -> None:
        self._begin(self._performed(effect))

    def stream(self, source: Source) -> None:
        self._begin(self._streamed(source))

    def ask(self) -> Told:
        """What it brings next, once it has come and it is its turn."""
        told = asyncio.get_running_loop().create_future()
        if self.ahead:
            self._tell(told, self.take())
        elif self._task.done():
            told.cancel()
        else:
            self._told = told
        return told

    def take(self) -> Brought:
        """The first of what has come `ahead`."""
        if self._room is not None and not self._room.done():
            self._room.set_result(None)
        return self.ahead.pop(0)

    def __enter__(self) -> Errand:
        return self

    def __exit__(self, *problem: object) -> None:
        if not self._task.done():
            self._is_given_up = True
            self._close(self._task)

    def _begin(self, work: Coroutine[Any, Any, None]) -> None:
        self._task = asyncio.get_running_loop().create_task(work, name=self._name)

    async def _performed(self, effect: Effect) -> None:
        try:
            value = json_shaped(await effect())
        except BaseException as problem:
            self._fail(problem)
        else:
            self._bring(("answer", {"value": value}, None))

    async def _streamed(self, source: Source) -> None:
        """The end of a stream is an answer without a value."""
        try:
            parts = source()
            try:
                async for part in parts:
                    self._bring(("parts", json_shaped(part), None))
                    if len(self.ahead) >= MOST_PARTS_AHEAD:
                        await self._leaf_to_ask()
            finally:
                if isinstance(parts, AsyncGenerator):
                    await parts.aclose()
        except BaseException as problem:
            self._fail(problem)
        else:
            self._bring(("answer", {}, None))

    async def _leaf_to_ask(self) -> None:
        self._room = asyncio.get_running_loop().create_future()
        await self._room

    def _bring(self, brought: Brought) -> None:
        told, self._told = self._told, None
        if told is None:
            self.ahead.append(brought)
        else:
            self._tell(told, brought)

    def _fail(self, problem: BaseException) -> None:
        """What fails while it is closed is left to whoever closes it."""
        if isinstance(problem, Exception) and not self._is_given_up:
            self._bring(("failure", None, problem))
            return
        if self._told is not None:
            self._told.cancel()
        raise problem
