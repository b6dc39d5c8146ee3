"""An effect that is performed live, in a task of its own.

In a replay no effect is running, so a leaf that is halted is cancelled at once. Live it must be the
same: otherwise leaves that are halted together would clean up in an order that depends on how long
their effects take to close. So a leaf never runs inside an effect. It only waits for the results.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Coroutine
from typing import Any, Final, NamedTuple, Protocol, TypeAlias

from oracle.errors import InterruptedStream, InterruptedWrite
from oracle.services.journal.failures import as_body
from oracle.services.journal.record import Place, RecordKind, json_shaped

Effect: TypeAlias = Callable[[], Awaitable[Any]]
Recover: TypeAlias = Callable[[Any], Awaitable[Any]]
Source: TypeAlias = Callable[[], AsyncIterator[Any]]
Task: TypeAlias = asyncio.Task[None]

MOST_PARTS_READY: Final = 32
"""How many parts are read before the leaf asks. So a burst costs no rounds of the event loop."""


class Result(NamedTuple):
    """One part, the answer or the failure of an effect. It becomes one record."""

    kind: RecordKind
    body: Any
    problem: Exception | None = None

    def as_written(self, request: Any) -> Any:
        """The body of the record."""
        if self.problem is not None:
            return as_body(request, self.problem)
        return {"request": request, **self.body} if self.kind == "answer" else self.body


Reply: TypeAlias = asyncio.Future[Result]
"""What a leaf waits for."""


class Writing(Protocol):
    """How the engine says that a write is recognised after a crash."""

    @property
    def mark(self) -> Effect | None: ...
    @property
    def recover(self) -> Recover | None: ...


class Deliver(Protocol):
    def __call__(self, reply: Reply, result: Result) -> None: ...


class EffectTask:
    """Performs an effect for a leaf. Leaving the `with` block cancels it if it is not finished.

    `deliver` resolves a reply when the run is ready for it. `close` cancels a task and makes sure
    that it ends.
    """

    __slots__ = ("_close", "_deliver", "_is_given_up", "_name", "_reply", "_room", "_task", "ready")

    _task: Task

    def __init__(self, name: str, deliver: Deliver, close: Callable[[Task], None]) -> None:
        self._name = name
        self._deliver = deliver
        self._close = close
        self.ready: list[Result] = []
        """Results that the leaf has not asked for yet."""
        self._reply: Reply | None = None
        self._room: asyncio.Future[None] | None = None
        self._is_given_up = False

    def perform(self, effect: Effect) -> None:
        self._begin(self._perform(effect))

    def stream(self, source: Source) -> None:
        self._begin(self._stream(source))

    def next_result(self) -> Reply:
        reply = asyncio.get_running_loop().create_future()
        if self.ready:
            self._deliver(reply, self.take_ready())
        elif self._task.done():
            # The task was cancelled from outside: nothing will come, and the leaf ends with it.
            reply.cancel()
        else:
            self._reply = reply
        return reply

    def take_ready(self) -> Result:
        if self._room is not None and not self._room.done():
            self._room.set_result(None)
        return self.ready.pop(0)

    def __enter__(self) -> EffectTask:
        return self

    def __exit__(self, *problem: object) -> None:
        if not self._task.done():
            self._is_given_up = True
            self._close(self._task)

    def _begin(self, work: Coroutine[Any, Any, None]) -> None:
        self._task = asyncio.get_running_loop().create_task(work, name=self._name)

    async def _perform(self, effect: Effect) -> None:
        try:
            value = json_shaped(await effect())
        except BaseException as problem:
            self._fail(problem)
        else:
            self._give(Result("answer", {"value": value}))

    async def _stream(self, source: Source) -> None:
        try:
            parts = source()
            try:
                async for part in parts:
                    self._give(Result("parts", json_shaped(part)))
                    if len(self.ready) >= MOST_PARTS_READY:
                        await self._wait_for_room()
            finally:
                # `async for` leaves a generator open when it is cancelled, and with it, for
                # example, the connection to the model.
                if isinstance(parts, AsyncGenerator):
                    await parts.aclose()
        except BaseException as problem:
            self._fail(problem)
        else:
            # The end of a stream is an answer without a value.
            self._give(Result("answer", {}))

    async def _wait_for_room(self) -> None:
        self._room = asyncio.get_running_loop().create_future()
        await self._room

    def _give(self, result: Result) -> None:
        reply, self._reply = self._reply, None
        if reply is None:
            self.ready.append(result)
        else:
            self._deliver(reply, result)

    def _fail(self, problem: BaseException) -> None:
        # After the leaf has left, a failure is not a result of the run: it happened while the
        # effect was closed, and the code that closes it handles it. The same for a cancellation.
        if isinstance(problem, Exception) and not self._is_given_up:
            self._give(Result("failure", None, problem))
            return
        if self._reply is not None:
            self._reply.cancel()
        raise problem


# -- effects that a crash has interrupted ----------------------------------------------------------


def recovering(place: Place, mark: Any, effect: Effect, recover: Recover | None) -> Effect:
    """For an effect that writes and was begun before a crash: never perform it blindly again.

    `recover` returns what was done, or None if certainly nothing was. Without it, the effect fails.
    """

    async def recovered() -> Any:
        if recover is None:
            raise _begun(place)
        done = await recover(mark)
        return await effect() if done is None else done

    return recovered


def refused(place: Place) -> Effect:
    """For the same write once more, after nobody could say whether the first was done."""

    async def refuse() -> Any:
        raise _begun(place)

    return refuse


def _begun(place: Place) -> InterruptedWrite:
    return InterruptedWrite(
        f"{place.node_path}: begun before a crash; check whether it was done before you run it "
        "again"
    )


def interrupted(place: Place, count: int) -> Source:
    """For a stream that a crash cut off after `count` parts: another try would not continue it."""

    async def source() -> AsyncIterator[Any]:
        raise InterruptedStream(f"{place.node_path}: a crash cut it after {count} parts")
        yield  # makes this function a generator

    return source
