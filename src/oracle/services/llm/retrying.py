"""Repeats a request after a while if the model was overloaded, or the connection broke off."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from typing import cast

from oracle.errors import ModelBrokeOff, ModelOverloaded
from oracle.services.llm.protocol import Model, ModelRequest, Part
from oracle.services.llm.wrapped import WrappedModel
from oracle.services.settings.sections import ATTEMPTS

FIRST_WAIT = 0.5
LONGEST_WAIT = 30.0
"""Seconds. A longer wait would use too much of the time of a run, which is 300 s by default."""


class RetryingModel(WrappedModel):
    """A model that retries. After the first streamed part a failure is final, because the user has
    read that part already.

    The wait doubles with each attempt. Up to half of it is left out at random, so that many callers
    do not return at the same time. If the provider says how long to wait, that is the minimum. If
    it asks for more than `longest_wait` seconds, the failure is final.
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
        super().__init__(model)
        self._attempts = attempts
        self._longest_wait = longest_wait
        self._sleep = sleep
        self._chance = chance

    async def stream(self, request: ModelRequest) -> AsyncGenerator[Part]:
        attempt = 1
        while True:
            begun = False
            # Closing this generator must close the connection of the inner one.
            inner = cast("AsyncGenerator[Part]", self._model.stream(request))
            try:
                async with aclosing(inner) as parts:
                    async for part in parts:
                        begun = True
                        yield part
                return
            except (ModelOverloaded, ModelBrokeOff) as error:
                asked = error.retry_after if isinstance(error, ModelOverloaded) else None
                if begun or attempt >= self._attempts or self._is_too_long(asked):
                    raise
                await self._sleep(self._wait(attempt, asked))
            attempt += 1

    def _is_too_long(self, seconds: float | None) -> bool:
        return seconds is not None and seconds > self._longest_wait

    def _wait(self, attempt: int, asked: float | None) -> float:
        usual = min(FIRST_WAIT * 2 ** (attempt - 1), self._longest_wait)
        return max(usual * (1 - self._chance() / 2), asked or 0)
