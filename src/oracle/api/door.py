"""What all routes share: the agent of one project, its store, and the runs under way.

A route gets the door of its caller, through which nothing of other users can be reached.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Final

from fastapi import Depends, Request
from starlette.types import ASGIApp

from oracle.api.access import Caller, caller_of
from oracle.api.approvals import Approvals
from oracle.api.live_runs import DOOR, LiveRuns
from oracle.api.metrics import Metrics
from oracle.bt.wrappers.oracle_wrapper import OracleBTWrapper
from oracle.bt.wrappers.project_agent import project_agent
from oracle.bt.wrappers.run_store import RunStore, open_store
from oracle.lazy_dataclass import dataclass
from oracle.models.session import StoredRun
from oracle.services.ans.table import EventsTable, open_events
from oracle.services.attachments.references import Reach
from oracle.services.llm.protocol import Model
from oracle.services.settings.sections import EMBEDDED
from oracle.services.storage.database import url_for_writing
from oracle.services.storage.tokens import Tokens
from oracle.settings import Settings

SECONDS_TO_CLOSE: Final = 20.0
"""How long a server that is stopped waits for its runs. Then they are handed over."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Door:
    settings: Settings
    root: Path
    agent: OracleBTWrapper
    store: RunStore
    runs: LiveRuns
    approvals: Approvals
    metrics: Metrics
    mcp: ASGIApp | None = None
    """The application for `/mcp`, if its packages are installed."""

    @property
    def project(self) -> str | None:
        return self.agent.project_id or None

    @property
    def tokens(self) -> Tokens:
        return Tokens(self.store.database)

    @property
    def has_language_model(self) -> bool:
        model = self.agent.setup.live.model
        return model is not None and model.name != EMBEDDED

    async def run(self, typed: str) -> StoredRun:
        """By its id, the beginning of one, or `last`."""
        newest = await self.store.runs.newest(1, project=self.project) if typed == "last" else []
        return newest[0] if newest else await self.store.runs.get(typed)

    @property
    def reach(self) -> Reach:
        """Files that a client names: those of the project, by the rules for tools."""
        return Reach(
            folder=self.root,
            root=self.root,
            secrets=self.settings.secrets.rules,
            roots=self.settings.roots,
            is_confined=True,
        )

    def seen_by(self, user: str) -> Door:
        """The same door for a user: the one place where their own is told from what is others'."""
        runs = self.runs.seen_by(user)
        return replace(
            self,
            store=self.store.seen_by(user),
            runs=runs,
            approvals=self.approvals.seen_with(runs),
        )

    def open_events(self) -> EventsTable:
        return open_events(self.store.database.url, self.store.database.user)


@asynccontextmanager
async def opened(
    settings: Settings,
    root: Path,
    *,
    model: Model | None = None,
    most_runs: int | None = None,
    seconds_to_close: float = SECONDS_TO_CLOSE,
) -> AsyncGenerator[Door]:
    """Open the project's database, and take up what an earlier process has left behind."""
    async with open_store(url_for_writing(settings), on_failure=settings.journal.failure) as store:
        store = store.for_door(DOOR)
        approvals = Approvals()
        agent = project_agent(settings, root=root, model=model, store=store, approve=approvals.ask)
        metrics = Metrics()
        runs = LiveRuns(
            agent,
            store,
            most=settings.server.most_runs if most_runs is None else most_runs,
            most_of_user=settings.server.most_runs_of_user,
            project=agent.project_id or None,
            metrics=metrics,
        )
        door = Door(
            settings=settings,
            root=root,
            agent=agent,
            store=store,
            runs=runs,
            approvals=approvals,
            metrics=metrics,
        )
        await runs.watch()
        # Around the runs: their clients are told how they ended before the connections are closed.
        async with AsyncExitStack() as closing:
            door = replace(door, mcp=await _mcp(door, closing))
            try:
                yield door
            finally:
                await runs.close(seconds_to_close)


async def _mcp(door: Door, closing: AsyncExitStack) -> ASGIApp | None:
    try:
        from oracle.mcp.desk import Desk
        from oracle.mcp.server import application
    except ImportError:
        return None
    desk = Desk(
        settings=door.settings,
        root=door.root,
        agent=door.agent,
        store=door.store,
        runs=door.runs,
        approvals=door.approvals,
    )
    return await closing.enter_async_context(application(desk))


def _door(request: Request) -> Door:
    door: Door = request.app.state.door
    return door.seen_by(caller_of(request.scope).user)


def _caller(request: Request) -> Caller:
    return caller_of(request.scope)


TheDoor = Annotated[Door, Depends(_door)]
TheCaller = Annotated[Caller, Depends(_caller)]
