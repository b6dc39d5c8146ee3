"""Asks again, after a while, where a model was overloaded."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from typing import cast

from oracle.errors import ModelOverloaded
from oracle.services.llm.protocol import Model, ModelRequest, Part, Prices

FIRST_WAIT = 0.5
LONGEST_WAIT = 30.0
ATTEMPTS = 4


class RetryingModel:
    """The same model, more patient. Once something has been streamed a failure is final: nobody
    can take back what the user has read.

    A wait doubles from one attempt to the next, and up to half of it is left out by chance, so that
    many callers do not come back together. A provider that says how long to wait is obeyed; one
    that asks for more than `longest_wait` seconds is not waited for.
    """

    def __init__(
        self,
        model: Model,
        *,
        attempts: int = ATTEMPTS,
        longest_wait: float = LONGEST_WAIT,
        sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
        chance: Callable[[], float] = random.random,
    ) -> None:
        self._model = model
        self._attempts = attempts
        self._longest_wait = longest_wait
        self._sleep = sleep
        self._chance = chance

    @property
    def name(self) -> str:
        return self._model.name

    @property
    def context_window(self) -> int:
        return self._model.context_window

    @property
    def longest_output(self) -> int:
        return self._model.longest_output

    @property
    def prices(self) -> Prices | None:
        return self._model.prices

    async def stream(self, request: ModelRequest) -> AsyncGenerator[Part]:
        attempt = 1
        while True:
            begun = False
            # Whoever closes this generator closes the connection that the inner one holds.
            inner = cast("AsyncGenerator[Part]", self._model.stream(request))
            try:
                async with aclosing(inner) as parts:
                    async for part in parts:
                        begun = True
                        yield part
                return
            except ModelOverloaded as error:
                if begun or attempt >= self._attempts or self._is_too_long(error.retry_after):
                    raise
                await self._sleep(self._wait(attempt, error.retry_after))
            attempt += 1

    def _is_too_long(self, seconds: float | None) -> bool:
        return seconds is not None and seconds > self._longest_wait

    def _wait(self, attempt: int, asked: float | None) -> float:
        usual = min(FIRST_WAIT * 2 ** (attempt - 1), self._longest_wait)
        return max(usual * (1 - self._chance() / 2), asked or 0)
