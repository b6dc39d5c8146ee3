"""Opens a worker of a project with all that it needs."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

from oracle.api.live_runs import LiveRuns
from oracle.api.metrics import Metrics
from oracle.api.workers.answers import Answers
from oracle.api.workers.worker import Worker
from oracle.bt.wrappers.project_agent import project_agent
from oracle.bt.wrappers.run_store import open_store
from oracle.services.dispatch.news import open_news
from oracle.services.dispatch.opening import open_dispatcher
from oracle.services.dispatch.workers import new_worker_id
from oracle.services.llm.protocol import Model
from oracle.services.storage.database import url_for_writing
from oracle.services.storage.purge import keeping_for
from oracle.services.storage.runs import QUEUED
from oracle.settings import Settings


@asynccontextmanager
async def opened_worker(
    settings: Settings, root: Path, *, most_runs: int, model: Model | None = None
) -> AsyncGenerator[Worker]:
    async with open_store(url_for_writing(settings), on_failure=settings.journal.failure) as store:
        most_of_user = settings.server.most_runs_of_user
        store = store.for_door(QUEUED, most_of_user)
        answers, id_ = Answers(), new_worker_id()
        agent = project_agent(settings, root=root, model=model, store=store, approve=answers.ask)
        project = agent.project_id or None
        runs = LiveRuns(
            agent,
            store,
            most=most_runs,
            most_of_user=most_runs,
            project=project,
            metrics=Metrics(),
        )
        async with (
            open_news(store.database, sign=id_) as news,
            open_dispatcher(store.database, project, most_of_user=most_of_user) as dispatcher,
            keeping_for(settings.database.keep_days, store.database),
        ):
            yield Worker(
                id_,
                runs=runs,
                store=store,
                dispatcher=dispatcher,
                news=news,
                answers=answers,
                project=project,
                most_runs=most_runs,
            )
