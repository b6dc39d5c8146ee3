"""The model and the reading tools of a project, for a replay that continues live."""

from __future__ import annotations

import os
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from oracle.bt.wrappers.project_agent import index_of, model_of, own_tools, tools_of
from oracle.services.agent_services import AgentServices
from oracle.services.project.root import here
from oracle.settings import Settings


@asynccontextmanager
async def live_services(settings: Settings) -> AsyncGenerator[AgentServices]:
    """Inside, the index is up to date. The tools that write would only say what they would do."""
    model = model_of(settings, os.environ)
    root = settings.root or here()
    index = None
    if settings.root is not None:
        index = index_of(settings, root)
    own = own_tools(settings, os.environ, (), own=None, dry_run=True)
    tools = tools_of(settings, root, os.environ, index=index, dry_run=True, own=own)
    services = AgentServices(model=model, tools=tools)
    if index is None:
        yield services
        return
    async with index.at_hand():
        yield services
