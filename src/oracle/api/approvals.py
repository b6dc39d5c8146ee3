"""Questions to a person that wait for an answer over HTTP.

Another client of the same user may answer. A run that is resumed by another process asks again,
with the same id.
"""

from __future__ import annotations

import asyncio
import copy
from collections.abc import Mapping
from typing import Any

from oracle.api.live_runs import LiveRuns
from oracle.errors import NotFound


class Approvals:
    """A view with the `runs` of a user finds only what these ask."""

    def __init__(self) -> None:
        self._runs: LiveRuns | None = None
        self._waiting: dict[str, tuple[Mapping[str, Any], asyncio.Future[bool]]] = {}

    def __len__(self) -> int:
        return len(self._waiting)

    def seen_with(self, runs: LiveRuns) -> Approvals:
        view = copy.copy(self)
        view._runs = runs
        return view

    async def ask(self, question: Mapping[str, Any]) -> bool:
        """Wait until somebody answers. `question` is the data of an `approval` chunk."""
        answer = asyncio.get_running_loop().create_future()
        self._waiting[question["id"]] = (question, answer)
        try:
            return await answer
        finally:
            self._waiting.pop(question["id"], None)

    async def get(self, run_id: str, id_: str) -> Mapping[str, Any]:
        found = next((asked for asked in await self.of_run(run_id) if asked["id"] == id_), None)
        if found is None:
            raise NotFound(f"nothing called {id_!r} waits for an answer; it may have ended")
        return found

    async def answer(self, run_id: str, id_: str, *, is_yes: bool) -> None:
        await self.get(run_id, id_)
        _, answer = self._waiting[id_]
        # Two people may answer at the same time: the first one counts.
        if not answer.done():
            answer.set_result(is_yes)

    async def of_run(self, run_id: str) -> list[Mapping[str, Any]]:
        """What a run waits for. A run that waits is under way here."""
        if self._runs is not None and self._runs.live(run_id) is None:
            return []
        return [asked for id_, (asked, _) in self._waiting.items() if _is_of(run_id, id_)]


def _is_of(run_id: str, id_: str) -> bool:
    """The id of a question begins with that of its run (`bt/actions/approvals.py`)."""
    return id_.startswith(f"{run_id}-")
