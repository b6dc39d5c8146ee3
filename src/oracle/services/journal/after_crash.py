"""What becomes of an effect that a crash has interrupted."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any, TypeAlias

from oracle.errors import InterruptedStream, InterruptedWrite
from oracle.services.journal.record import Place

Effect: TypeAlias = Callable[[], Awaitable[Any]]
Source: TypeAlias = Callable[[], AsyncIterator[Any]]


def recovering(place: Place, effect: Effect, recover: Effect | None) -> Effect:
    """An effect that was begun before a crash: find out whether it was done, or say so."""

    async def recovered() -> Any:
        if recover is None:
            raise InterruptedWrite(
                f"{place.node_path}: begun before a crash; look whether it was done before you "
                "have it done again"
            )
        done = await recover()
        return await effect() if done is None else done

    return recovered


def cut_off(message: str) -> Source:
    async def source() -> AsyncIterator[Any]:
        raise InterruptedStream(message)
        yield  # it is a generator, though it has nothing to give

    return source
