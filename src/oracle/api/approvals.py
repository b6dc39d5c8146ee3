"""Questions to a person that wait for an answer over HTTP.

Another client than the one that asked may answer. A run that is resumed by another process asks
again, with the same id.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from oracle.errors import NotFound


class Approvals:
    def __init__(self) -> None:
        self._waiting: dict[str, tuple[Mapping[str, Any], asyncio.Future[bool]]] = {}

    def __len__(self) -> int:
        return len(self._waiting)

    async def ask(self, question: Mapping[str, Any]) -> bool:
        """Wait until somebody answers. `question` is the data of an `approval` chunk."""
        answer = asyncio.get_running_loop().create_future()
        self._waiting[question["id"]] = (question, answer)
        try:
            return await answer
        finally:
            self._waiting.pop(question["id"], None)

    def answer(self, run_id: str, id_: str, *, is_yes: bool) -> None:
        if id_ not in self._waiting or not _is_of(run_id, id_):
            raise NotFound(f"nothing called {id_!r} waits for an answer; it may have ended")
        _, answer = self._waiting[id_]
        # Two people may answer at the same time: the first one counts.
        if not answer.done():
            answer.set_result(is_yes)

    def of_run(self, run_id: str) -> list[Mapping[str, Any]]:
        """What a run waits for."""
        return [asked for id_, (asked, _) in self._waiting.items() if _is_of(run_id, id_)]


def _is_of(run_id: str, id_: str) -> bool:
    """The id of a question begins with that of its run (`bt/actions/approvals.py`)."""
    return id_.startswith(f"{run_id}-")
