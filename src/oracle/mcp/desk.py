"""What all calls of an MCP client share."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

from oracle.api.approvals import Approvals
from oracle.api.live_runs import LiveRuns
from oracle.api.metrics import Metrics
from oracle.api.workplace import Workplace
from oracle.bt.wrappers.project_agent import project_agent
from oracle.bt.wrappers.run_store import open_store
from oracle.lazy_dataclass import dataclass
from oracle.services.llm.protocol import Model
from oracle.services.storage.database import url_for_writing
from oracle.settings import Settings

if TYPE_CHECKING:
    from oracle.services.own_code.collecting import OwnCode

MOST_RUNS: Final = 20
SECONDS_TO_CLOSE: Final = 5.0
"""How long runs may take to end after the client has left. Then they are handed over."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Desk(Workplace):
    """The workplace of a client. Over stdio it is that of the local user."""


@asynccontextmanager
async def opened(
    settings: Settings, root: Path, *, model: Model | None = None, own: OwnCode | None = None
) -> AsyncGenerator[Desk]:
    """For a process that serves one client. A server over HTTP has all of this already."""
    async with open_store(url_for_writing(settings), on_failure=settings.journal.failure) as store:
        agent = project_agent(settings, root=root, model=model, store=store, own=own)
        runs = LiveRuns(
            agent,
            store,
            most=MOST_RUNS,
            most_of_user=MOST_RUNS,
            project=agent.project_id or None,
            metrics=Metrics(),
        )
        try:
            yield Desk(
                settings=settings,
                root=root,
                agent=agent,
                store=store,
                runs=runs,
                approvals=Approvals(),
            )
        finally:
            await runs.close(SECONDS_TO_CLOSE)
