"""Commands that other processes give to the runs of this server, such as `oracle queue cancel`."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from typing import Any

from oracle.api.live_run import LiveRun
from oracle.api.live_runs import LiveRuns
from oracle.errors import OracleError
from oracle.services.background import cancelled
from oracle.services.dispatch.commands import Commands
from oracle.services.dispatch.news import COMMAND, EVERY_RUN, News, open_news
from oracle.services.storage.database import Database


def obey(live: LiveRun, command: Mapping[str, Any]) -> bool:
    """Do what a person wants of a run. False if this version does not know the command."""
    if "cancel" in command:
        live.cancel(str(command["cancel"]))
    elif "raise" in command:
        live.raise_limits(command["raise"])
    else:
        return False
    return True


@asynccontextmanager
async def hearing(runs: LiveRuns, database: Database) -> AsyncGenerator[None]:
    """Obey while the block lasts. What was said before it is over: its runs have ended."""
    commands = Commands(database)
    last = await commands.last()
    async with open_news(database) as news:
        listening = asyncio.create_task(_listen(runs, commands, news, last))
        try:
            yield
        finally:
            await cancelled(listening)


async def _listen(runs: LiveRuns, commands: Commands, news: News, last: int) -> None:
    with news.bell(COMMAND, EVERY_RUN) as bell:
        while True:
            # Without the database nothing can be heard; the next look finds what was missed.
            with contextlib.suppress(OracleError):
                for id_, run_id, command in await commands.after(last):
                    last = id_
                    if (live := runs.asked(run_id)) is not None:
                        obey(live, command)
            await bell.wait()
