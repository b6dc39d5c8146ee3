"""What the page shows before anything was asked: the project, its model, its tree, some questions.

The index may still be made, which takes a while in a large project. It is made in the background,
and a visitor is not kept waiting for it.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, Final, Protocol, runtime_checkable

from oracle.bt.wrappers.oracle_wrapper import OracleBTWrapper
from oracle.errors import OracleError
from oracle.lazy_dataclass import dataclass
from oracle.services.questions.project_questions import questions_about

SECONDS_TO_WAIT: Final = 1.0
"""For the index, until the page is answered without it."""
SECONDS_FRESH: Final = 60.0

WITHOUT_MODEL: Final = (
    "No language model is configured: the built-in reader quotes, it does not explain. "
    "`oracle models use NAME` selects one."
)

NOT_A_PROJECT: Final = (
    "This folder is not a project, so nothing is indexed. `oracle init` makes it one."
)


@runtime_checkable
class Indexed(Protocol):
    """What the index can say of the project as a whole."""

    async def paths(self) -> Sequence[str]: ...
    async def top_names(self) -> Mapping[str, Sequence[str]]: ...


@dataclass(frozen=True, kw_only=True, slots=True)
class Project:
    """`files` is None as long as the index is not ready."""

    files: int | None = None
    problem: str | None = None
    questions: Sequence[Mapping[str, str]] = ()


class FirstVisit:
    """Looks at the project at most once a minute, however many visit it."""

    def __init__(self, agent: OracleBTWrapper) -> None:
        self._agent = agent
        self._looking: asyncio.Task[Project] | None = None
        self._known = Project()
        self._known_at = float("-inf")

    async def project(self) -> Project:
        if time.monotonic() - self._known_at > SECONDS_FRESH:
            if self._looking is None or self._looking.done():
                self._looking = asyncio.create_task(self._look())
            with suppress(TimeoutError, OracleError):
                async with asyncio.timeout(SECONDS_TO_WAIT):
                    return await asyncio.shield(self._looking)
        return self._known

    async def _look(self) -> Project:
        sources = self._agent.setup.sources
        if sources is None or not isinstance(sources, Indexed):
            self._known, self._known_at = Project(problem=NOT_A_PROJECT), time.monotonic()
            return self._known
        async with sources.at_hand():
            paths, names = await sources.paths(), await sources.top_names()
        self._known = Project(files=len(paths), questions=questions_about(names, paths))
        self._known_at = time.monotonic()
        return self._known

    def model(self, *, is_configured: bool) -> dict[str, Any]:
        model = self._agent.setup.live.model
        return {
            "name": "none" if model is None else model.name,
            "is_configured": is_configured,
            "meaning": None if is_configured else WITHOUT_MODEL,
        }

    def close(self) -> None:
        if self._looking is not None:
            self._looking.cancel()
