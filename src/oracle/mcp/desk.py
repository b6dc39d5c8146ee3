"""What all calls of an MCP client share."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

from oracle.api.approvals import Approvals
from oracle.api.live_runs import LiveRuns
from oracle.api.metrics import Metrics
from oracle.api.workplace import Workplace
from oracle.bt.wrappers.project_agent import project_agent
from oracle.bt.wrappers.run_store import open_store
from oracle.lazy_dataclass import dataclass
from oracle.logs import logger_of
from oracle.services.llm.protocol import Model
from oracle.services.storage.unwritable import place_for_records
from oracle.settings import Settings

if TYPE_CHECKING:
    from oracle.services.own_code.collecting import OwnCode

log = logger_of(__name__)

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
    async with AsyncExitStack() as leaving:
        url, warning = leaving.enter_context(place_for_records(settings))
        if warning:
            log.warning("%s", warning)
        opening = open_store(url, on_failure=settings.journal.failure)
        store = await leaving.enter_async_context(opening)
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
