"""What all calls share: the agent of one project, its store, and the runs under way."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from oracle.api.approvals import Approvals
from oracle.api.live_runs import LiveRuns
from oracle.api.metrics import Metrics
from oracle.bt.wrappers.oracle_wrapper import OracleBTWrapper
from oracle.bt.wrappers.project_agent import project_agent
from oracle.bt.wrappers.run_store import RunStore, open_store
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
class Desk:
    """`approvals` has the questions of runs that `oracle serve` has taken up itself."""

    settings: Settings
    root: Path
    agent: OracleBTWrapper
    store: RunStore
    runs: LiveRuns
    approvals: Approvals
    may_write: bool = True
    """Whether a person at the client may allow a tool that writes."""

    def seen_by(self, user: str, *, may_write: bool) -> Desk:
        """The same desk for a user: nothing of others can be reached through it."""
        runs = self.runs.seen_by(user)
        return replace(
            self,
            store=self.store.seen_by(user),
            runs=runs,
            approvals=self.approvals.seen_with(runs),
            may_write=may_write,
        )

    @property
    def project(self) -> str | None:
        return self.agent.project_id or None


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
