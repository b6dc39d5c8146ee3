"""A model that is loaded in the background, and whose answers nobody waits for long."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, Final, Generic, TypeVar

from oracle.services.background import DaemonThreads
from oracle.services.bert.minilm import BertMissing

Model = TypeVar("Model")
Answer = TypeVar("Answer")

SECONDS_TO_ANSWER: Final = 0.2


class NoAnswer(Exception):  # noqa: N818 - an expected outcome
    """There is no answer in time. The message says why: "BERT …"."""


class BackgroundModel(Generic[Model]):
    """Loaded by the first question, which does not wait for it.

    All its work is done in one daemon thread. A question that hangs there cannot be stopped; while
    it does, others are refused at once instead of waiting for nothing.
    """

    def __init__(self, load: Callable[[], Model], *, seconds: float = SECONDS_TO_ANSWER) -> None:
        self._load = load
        self._seconds = seconds
        self._thread = DaemonThreads(1, name="bert")
        self._loading: Future[Model] | None = None
        self._late: Future[Any] | None = None

    def start(self) -> Future[Model]:
        """Begin to load, if that was not begun. The result is the loaded model."""
        if self._loading is None:
            self._loading = self._thread.submit(self._load)
        return self._loading

    async def ask(self, question: Callable[[Model], Answer]) -> Answer:
        """Call `question` with the model, in the thread. Raises `NoAnswer` in time."""
        model = self._loaded()
        if self._late is not None and not self._late.done():
            raise NoAnswer("BERT is still busy with an earlier text")
        work = self._thread.submit(question, model)
        waiting = asyncio.wrap_future(work)
        await asyncio.wait({waiting}, timeout=self._seconds)
        if not waiting.done():
            # This cancels the work too, if it has not begun.
            waiting.cancel()
            self._late = work
            raise NoAnswer(f"BERT did not answer within {round(1000 * self._seconds)} ms")
        try:
            return waiting.result()
        except Exception as problem:
            raise NoAnswer(f"BERT failed: {_words(problem)}") from problem

    def _loaded(self) -> Model:
        loading = self.start()
        if not loading.done():
            # Loading takes much longer than the limit, so there is nothing to wait for.
            raise NoAnswer("BERT is still being loaded")
        problem = loading.exception()
        if isinstance(problem, BertMissing):
            raise NoAnswer(f"BERT {problem}")
        if problem is not None:
            raise NoAnswer(f"BERT cannot be loaded: {_words(problem)}")
        return loading.result()


def _words(problem: BaseException) -> str:
    first = str(problem).partition("\n")[0]
    return f"{type(problem).__name__}: {first[:200]}" if first else type(problem).__name__
