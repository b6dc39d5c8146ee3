"""The projects that an editor works in: settings, database and agent, opened once for each."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AsyncExitStack
from pathlib import Path

from oracle.bt.wrappers.oracle_wrapper import OracleBTWrapper
from oracle.bt.wrappers.project_agent import project_agent
from oracle.bt.wrappers.run_store import RunStore, open_store
from oracle.errors import InputError, NotFound
from oracle.lazy_dataclass import dataclass
from oracle.logs import logger_of
from oracle.services.agent_services import Approve
from oracle.services.background import in_thread
from oracle.services.llm.protocol import Model
from oracle.services.storage.unwritable import place_for_records
from oracle.settings import Settings, load_settings

log = logger_of(__name__)


@dataclass(frozen=True, kw_only=True, slots=True)
class Project:
    """`root` is the folder itself outside of any project."""

    root: Path
    settings: Settings
    store: RunStore
    agent: OracleBTWrapper

    @property
    def name(self) -> str | None:
        return self.agent.project_id or None


class Projects:
    """`flags` are the settings of the command line; `approve` asks the person at the editor."""

    def __init__(
        self, flags: Mapping[str, object], approve: Approve, model: Model | None = None
    ) -> None:
        self._flags = flags
        self._model = model
        self._approve = approve
        self.opened: list[Project] = []
        self._leaving = AsyncExitStack()

    async def at(self, folder: str) -> Project:
        """The project that contains the folder. Settings that have changed since are read anew."""
        settings = await in_thread(self._settings, folder)
        root = settings.root or Path(folder)
        for project in reversed(self.opened):
            if project.root == root and project.settings == settings:
                return project
        for warning in settings.warnings:
            log.warning("%s", warning)
        url, warning = self._leaving.enter_context(place_for_records(settings))
        if warning:
            log.warning("%s", warning)
        opening = open_store(url, on_failure=settings.journal.failure)
        store = await self._leaving.enter_async_context(opening)
        agent = await in_thread(
            lambda: project_agent(
                settings, root=root, store=store, approve=self._approve, model=self._model
            )
        )
        project = Project(root=root, settings=settings, store=store, agent=agent)
        self.opened.append(project)
        return project

    def _settings(self, folder: str) -> Settings:
        path = Path(folder)
        if not path.is_absolute():
            raise InputError(f"cwd is {folder!r}; it must be an absolute path")
        if not path.is_dir():
            raise NotFound(f"there is no folder {folder!r}; open one that exists")
        return load_settings(path, flags=self._flags)

    async def close(self) -> None:
        for project in self.opened:
            await project.agent.close("the editor left")
        await self._leaving.aclose()
