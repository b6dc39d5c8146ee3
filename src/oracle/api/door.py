"""What all routes share. A route gets the door of its caller, with nothing of other users."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated, Final

from fastapi import Depends, Request
from starlette.types import ASGIApp

from oracle.api.approvals import Approvals
from oracle.api.caller import Caller, caller_of
from oracle.api.first_visit import FirstVisit
from oracle.api.live_runs import LiveRuns
from oracle.api.metrics import Metrics
from oracle.api.minds import Minds
from oracle.api.workers.hearing import hearing
from oracle.api.workers.queued_runs import QueuedApprovals, opened_queue
from oracle.api.workplace import Workplace
from oracle.bt.wrappers.oracle_wrapper import OracleBTWrapper
from oracle.bt.wrappers.own_trees import trees_in_use
from oracle.bt.wrappers.project_agent import project_agent
from oracle.bt.wrappers.recipe import AgentSetup, built_in_trees
from oracle.bt.wrappers.run_store import open_store
from oracle.lazy_dataclass import dataclass
from oracle.models.session import StoredRun
from oracle.services.installing import install_command
from oracle.services.llm.protocol import Model
from oracle.services.llm.together import PartsTogether
from oracle.services.settings.sections import EMBEDDED
from oracle.services.storage.database import url_for_writing
from oracle.services.storage.purge import keeping_for
from oracle.services.storage.runs import SERVER
from oracle.services.storage.tokens import Tokens
from oracle.settings import Settings

NO_MCP_HERE: Final = (
    "this server leaves questions to `oracle worker` processes (--workers 0), which have no /mcp; "
    "use one that answers itself, or `oracle mcp`"
)
SECONDS_TO_CLOSE: Final = 20.0
"""How long a server that is stopped waits for its runs. Then they are handed over."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Door(Workplace):
    metrics: Metrics
    minds: Minds
    visit: FirstVisit
    mcp: ASGIApp | None = None
    """The application for `/mcp`, if this process can serve it."""
    why_no_mcp: str = ""
    """What a client of `/mcp` is told otherwise."""

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


@asynccontextmanager
async def opened(
    settings: Settings,
    root: Path,
    *,
    model: Model | None = None,
    most_runs: int | None = None,
    seconds_to_close: float = SECONDS_TO_CLOSE,
    has_workers_elsewhere: bool = False,
) -> AsyncGenerator[Door]:
    """Open the project's database, and take up what an earlier process has left behind.

    With `has_workers_elsewhere` this process answers nothing itself: `oracle worker` does.
    """
    async with (
        open_store(url_for_writing(settings), on_failure=settings.journal.failure) as store,
        AsyncExitStack() as queueing,
    ):
        store = store.for_door(SERVER)
        approvals = Approvals()
        agent = project_agent(settings, root=root, model=model, store=store, approve=approvals.ask)
        agent.setup = _for_many(agent.setup)
        metrics = Metrics()
        if has_workers_elsewhere:
            runs = await queueing.enter_async_context(
                opened_queue(agent, store, metrics, settings.server.most_runs_of_user)
            )
            approvals = QueuedApprovals(runs)
        else:
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
            minds=Minds(partial(_sources, agent, settings)),
            visit=FirstVisit(agent),
        )
        await runs.watch()
        # The runs end first, so that their clients hear how before the connections are closed.
        async with AsyncExitStack() as closing:
            if has_workers_elsewhere:
                # Its tools hold runs in their own process.
                door = replace(door, why_no_mcp=NO_MCP_HERE)
            else:
                keeping = keeping_for(settings.database.keep_days, store.database)
                await closing.enter_async_context(keeping)
                door = await _with_mcp(door, closing)
                await closing.enter_async_context(hearing(runs, store.database))
            try:
                yield door
            finally:
                door.visit.close()
                await runs.close(seconds_to_close)


def _for_many(setup: AgentSetup) -> AgentSetup:
    """With a model that many runs can listen to at once."""
    model = setup.live.model
    together = None if model is None else PartsTogether(model)
    return replace(setup, live=replace(setup.live, model=together))


def _sources(agent: OracleBTWrapper, settings: Settings) -> Mapping[str, str]:
    """The tree files of the next run. If one of them is broken, that has the last good ones."""
    definitions = agent.setup.definitions
    if definitions is None:
        return trees_in_use(settings)[0]
    definitions.refresh()
    return built_in_trees() if definitions.trees is None else definitions.trees


async def _with_mcp(door: Door, closing: AsyncExitStack) -> Door:
    try:
        from oracle.mcp.desk import Desk
        from oracle.mcp.server import application
    except ImportError:
        return replace(door, why_no_mcp=f"/mcp needs a package; run `{install_command('mcp')}`")
    desk = Desk(
        settings=door.settings,
        root=door.root,
        agent=door.agent,
        store=door.store,
        runs=door.runs,
        approvals=door.approvals,
    )
    return replace(door, mcp=await closing.enter_async_context(application(desk)))


# Coroutines: FastAPI calls plain functions in threads, of which it starts forty.
async def _door(request: Request) -> Door:
    door: Door = request.app.state.door
    caller = caller_of(request.scope)
    return door.seen_by(caller.user, may_write=caller.may_write)


async def _caller(request: Request) -> Caller:
    return caller_of(request.scope)


TheDoor = Annotated[Door, Depends(_door)]
TheCaller = Annotated[Caller, Depends(_caller)]
