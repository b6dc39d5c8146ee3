"""Answers of people to what runs ask, as they arrive from other processes."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any


class Answers:
    """An answer may come before its question: a run that is taken over asks once more."""

    def __init__(self) -> None:
        self._answers: dict[str, asyncio.Future[bool]] = {}

    async def ask(self, question: Mapping[str, Any]) -> bool:
        """Wait until somebody answers. `question` is the data of an `approval` chunk."""
        return await asyncio.shield(self._answer_to(question["id"]))

    def give(self, id_: str, *, is_yes: bool) -> None:
        answer = self._answer_to(id_)
        # Two people may answer at the same time: the first one counts.
        if not answer.done():
            answer.set_result(is_yes)

    def forget(self, run_id: str) -> None:
        """The id of a question begins with that of its run (`bt/actions/approvals.py`)."""
        for id_ in [id_ for id_ in self._answers if id_.startswith(f"{run_id}-")]:
            del self._answers[id_]

    def _answer_to(self, id_: str) -> asyncio.Future[bool]:
        if id_ not in self._answers:
            self._answers[id_] = asyncio.get_running_loop().create_future()
        return self._answers[id_]
