"""The methods of the protocol. Each finds its session and calls one thing."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

from acp import PROTOCOL_VERSION, RequestError
from acp.interfaces import Client
from acp.schema import (
    AgentCapabilities,
    CloseSessionResponse,
    ForkSessionResponse,
    Implementation,
    InitializeResponse,
    ListSessionsResponse,
    LoadSessionResponse,
    McpCapabilities,
    NewSessionResponse,
    PromptCapabilities,
    PromptResponse,
    ResumeSessionResponse,
    SessionCapabilities,
    SessionCloseCapabilities,
    SessionForkCapabilities,
    SessionInfo,
    SessionListCapabilities,
    SessionResumeCapabilities,
)

from oracle.acp.conversation import Conversation
from oracle.acp.lines import Line, line_with, lines_of, new_id
from oracle.acp.permissions import Permissions
from oracle.acp.problems import told_to_the_editor
from oracle.acp.projects import Project, Projects
from oracle.acp.prompts import Block
from oracle.errors import InputError, NotFound
from oracle.logs import logger_of
from oracle.models.session import Session
from oracle.services.llm.protocol import Model
from oracle.services.project.root import here
from oracle.services.storage.sessions import Sessions, shortened

log = logger_of(__name__)

PAGE: Final = 50
"""Stored sessions that one list has. Each may have several lines."""


class EditorAgent:
    """`flags` are the settings of the command line, by name. A `model` replaces that of the
    settings.
    """

    def __init__(self, flags: Mapping[str, object], *, model: Model | None = None) -> None:
        self._permissions = Permissions()
        self.projects = Projects(flags, self._permissions.wait, model)
        self._open: dict[str, Conversation] = {}
        self._client: Client | None = None

    def on_connect(self, conn: Client) -> None:
        self._client = conn

    async def close(self) -> None:
        await self.projects.close()

    async def initialize(self, protocol_version: int, **_: Any) -> InitializeResponse:
        return InitializeResponse(
            # The newest version that is spoken here, also to an editor of another one.
            protocol_version=PROTOCOL_VERSION,
            agent_info=Implementation(name="oracle", title="Oracle", version=version("bt-oracle")),
            agent_capabilities=AgentCapabilities(
                load_session=True,
                prompt_capabilities=PromptCapabilities(
                    image=False, audio=False, embedded_context=True
                ),
                mcp_capabilities=McpCapabilities(http=False, sse=False),
                session_capabilities=SessionCapabilities(
                    list=SessionListCapabilities(),
                    fork=SessionForkCapabilities(),
                    resume=SessionResumeCapabilities(),
                    close=SessionCloseCapabilities(),
                ),
            ),
            auth_methods=[],
        )

    # -- sessions ----------------------------------------------------------------------------------

    @told_to_the_editor
    async def new_session(
        self, cwd: str, mcp_servers: list[Any] | None = None, **_: Any
    ) -> NewSessionResponse:
        if mcp_servers:
            log.warning("the MCP servers of the editor are not used: oracle has its own tools")
        project = await self.projects.at(cwd)
        return NewSessionResponse(session_id=self._opened(project, cwd).id)

    @told_to_the_editor
    async def list_sessions(
        self, cwd: str | None = None, cursor: str | None = None, **_: Any
    ) -> ListSessionsResponse:
        folder = cwd or str(here())
        project = await self.projects.at(folder)
        start = _place_of(cursor)
        sessions = Sessions(project.store.database)
        found = await sessions.newest(start + PAGE + 1, project=project.name)
        page = found[start : start + PAGE]
        infos = [
            _info(line, listed.session, folder)
            for listed in page
            if listed.exchanges
            for line in lines_of(await project.store.exchanges_of(listed.session.id))
        ]
        following = str(start + PAGE) if len(found) > start + PAGE else None
        return ListSessionsResponse(sessions=infos, next_cursor=following)

    @told_to_the_editor
    async def load_session(self, cwd: str, session_id: str, **_: Any) -> LoadSessionResponse:
        line, conversation = await self._stored(cwd, session_id)
        await conversation.retell(line)
        return LoadSessionResponse()

    @told_to_the_editor
    async def resume_session(self, cwd: str, session_id: str, **_: Any) -> ResumeSessionResponse:
        """Like `load_session`, for an editor that still shows what was said."""
        await self._stored(cwd, session_id)
        return ResumeSessionResponse()

    @told_to_the_editor
    async def fork_session(self, cwd: str, session_id: str, **_: Any) -> ForkSessionResponse:
        """A branch of the same stored session, from its last exchange."""
        project = await self.projects.at(cwd)
        known = self._open.get(session_id)
        if known is not None and known.project.root == project.root:
            after = known.after
        else:
            after = (await self._line(project, session_id)).last.id
        forked = self._opened(project, cwd, id_=new_id(is_fork=True), after=after)
        return ForkSessionResponse(session_id=forked.id)

    @told_to_the_editor
    async def close_session(self, session_id: str, **_: Any) -> CloseSessionResponse:
        self._conversation(session_id).cancel()
        del self._open[session_id]
        return CloseSessionResponse()

    # -- questions ---------------------------------------------------------------------------------

    @told_to_the_editor
    async def prompt(self, session_id: str, prompt: list[Block], **_: Any) -> PromptResponse:
        return await self._conversation(session_id).ask(prompt, self._permissions)

    async def cancel(self, session_id: str, **_: Any) -> None:
        if session_id in self._open:
            self._open[session_id].cancel()

    # -- what the protocol asks of every agent, and this one does not have -------------------------

    async def authenticate(self, method_id: str, **_: Any) -> None:
        raise RequestError.method_not_found("authenticate")

    async def set_session_mode(self, session_id: str, mode_id: str, **_: Any) -> None:
        raise RequestError.method_not_found("session/set_mode")

    async def set_config_option(
        self, config_id: str, session_id: str, value: str | bool, **_: Any
    ) -> None:
        raise RequestError.method_not_found("session/set_config_option")

    async def ext_method(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        raise RequestError.method_not_found(f"_{method}")

    async def ext_notification(self, method: str, params: dict[str, Any]) -> None:
        """Extensions of an editor mean nothing here."""

    # ----------------------------------------------------------------------------------------------

    def _opened(self, project: Project, cwd: str, **options: Any) -> Conversation:
        assert self._client is not None
        opened = Conversation(project, Path(cwd), self._client, **options)
        self._open[opened.id] = opened
        return opened

    def _conversation(self, session_id: str) -> Conversation:
        if session_id not in self._open:
            raise NotFound(f"no session {session_id!r} is open; load it, or begin a new one")
        return self._open[session_id]

    async def _stored(self, cwd: str, session_id: str) -> tuple[Line, Conversation]:
        project = await self.projects.at(cwd)
        line = await self._line(project, session_id)
        if session_id in self._open:
            self._open[session_id].cancel()
        options = {"id_": session_id, "after": line.last.id, "has_begun": True}
        return line, self._opened(project, cwd, **options)

    async def _line(self, project: Project, session_id: str) -> Line:
        """By the id of its head; a stored session is known by its own id too."""
        session, exchange = await project.store.place_called(session_id, project.name)
        exchanges = await project.store.exchanges_of(session.id)
        line = line_with(exchanges, None if exchange is None else exchange.id)
        if line is None:
            raise NotFound(f"session {session_id!r} has no answer yet; begin a new one")
        return line


def _info(line: Line, session: Session, folder: str) -> SessionInfo:
    return SessionInfo(
        session_id=line.id,
        cwd=folder,
        title=shortened(line.head.question) if line.is_branch else session.title,
        updated_at=datetime.fromtimestamp(line.last.created_at, UTC).isoformat(),
    )


def _place_of(cursor: str | None) -> int:
    if cursor is not None and not (cursor.isascii() and cursor.isdecimal() and len(cursor) < 10):
        raise InputError(f"the cursor {cursor[:40]!r} is not one of `nextCursor`; leave it out")
    return int(cursor or 0)
