"""A session of the editor: one line of exchanges, and at most one question at a time."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import aclosing
from itertools import count
from pathlib import Path
from typing import Any, Final

from acp.helpers import update_agent_message_text, update_user_message_text
from acp.interfaces import Client
from acp.schema import AgentPlanUpdate, PromptResponse, SessionInfoUpdate, StopReason

from oracle.acp.lines import Line, new_id
from oracle.acp.permissions import Permissions
from oracle.acp.projects import Project
from oracle.acp.prompts import Block, Prompt, prompt_of
from oracle.acp.updates import Updates
from oracle.bt.wrappers.retelling import chunks_of
from oracle.bt.wrappers.run import Run
from oracle.errors import InputError, OracleError
from oracle.models.session import Exchange
from oracle.models.stream_chunk import ChunkType, OracleStreamChunk
from oracle.models.tool_spec import ToolSpec
from oracle.services.attachments.references import Reach
from oracle.services.background import in_thread
from oracle.services.storage.sessions import shortened

STOPS: Final[Mapping[str, StopReason]] = {
    "cancelled": "cancelled",
    "turn_limit": "max_turn_requests",
    "token_limit": "max_tokens",
    "refusal": "refusal",
    "content_filter": "refusal",
}
"""All others end the turn: there always is an answer, and it says what is missing."""

CANCELLED: Final = "cancelled in the editor"

MOST_RETOLD: Final = 10
"""Exchanges that are shown with their tool calls when a session is loaded. Each is replayed."""


class Conversation:
    """`after` is the exchange that the next question follows. `id` is that of the first exchange of
    the line, also before there is one: the first run gets it.
    """

    def __init__(
        self,
        project: Project,
        folder: Path,
        client: Client,
        *,
        id_: str | None = None,
        after: str | None = None,
        has_begun: bool = False,
    ) -> None:
        self.id = id_ or new_id()
        self.project = project
        self.folder = folder
        self.after = after
        self._has_begun = has_begun
        self._client = client
        self._run: Run | None = None
        self._is_asking = False
        self._is_cancelled = False
        self._call_ids = count(1)

    @property
    def reach(self) -> Reach:
        secrets = self.project.settings.secrets.rules
        return Reach(folder=self.folder, root=self.project.root, secrets=secrets)

    async def ask(self, blocks: Sequence[Block], permissions: Permissions) -> PromptResponse:
        if self._is_asking:
            raise InputError("a question is being answered in this session; cancel it, or wait")
        self._is_asking, self._is_cancelled = True, False
        try:
            prompt = await in_thread(prompt_of, blocks, self.reach)
            if not prompt.question:
                raise InputError("the question is empty; write one")
            done = await self._answer(prompt, permissions)
            await self._keep_place(prompt, done)
        finally:
            self._is_asking, self._run = False, None
        reason: str = done["stop_reason"]
        meta = {name: done[name] for name in ("stop_reason", "run_id", "missing", "usage")}
        return PromptResponse(
            stop_reason=STOPS.get(reason, "end_turn"), field_meta={"oracle": meta}
        )

    def cancel(self) -> None:
        # Files may still be read for a run that is about to begin.
        self._is_cancelled = True
        if self._run is not None:
            self._run.cancel(CANCELLED)

    async def retell(self, line: Line) -> None:
        """Show the editor what was said. The last answers come with their tool calls."""
        late = {exchange.id for exchange in line.exchanges[-MOST_RETOLD:]}
        for exchange in line.exchanges:
            await self._send(update_user_message_text(exchange.question))
            chunks = await self._chunks_of(exchange) if exchange.id in late else []
            if not chunks:
                await self._send(update_agent_message_text(exchange.answer))
            updates = self._updates()
            for chunk in chunks:
                for update in updates.of(chunk):
                    if not isinstance(update, AgentPlanUpdate):
                        await self._send(update)

    async def _answer(self, prompt: Prompt, permissions: Permissions) -> OracleStreamChunk:
        run = self._run = self.project.agent.new_run(
            prompt.question,
            self.after,
            given=prompt.given,
            run_id=None if self._has_begun else self.id,
        )
        if self._is_cancelled:
            run.cancel(CANCELLED)
        for note in prompt.notes:
            await self._send(update_agent_message_text(f"*{note}*\n\n"))
        return await self._listen(run, permissions)

    async def _listen(self, run: Run, permissions: Permissions) -> OracleStreamChunk:
        updates = self._updates()
        asking: set[asyncio.Task[None]] = set()
        done: OracleStreamChunk | None = None
        try:
            async with aclosing(run.chunks()) as chunks:
                async for done in chunks:
                    if done.type == ChunkType.APPROVAL:
                        asked = permissions.ask(self._client, self.id, done, updates)
                        asking.add(asyncio.create_task(asked))
                    for update in updates.of(done):
                        await self._send(update)
        finally:
            for task in asking:
                task.cancel()
        assert done is not None
        return done

    async def _keep_place(self, prompt: Prompt, done: OracleStreamChunk) -> None:
        """The next question follows this one, if it was stored."""
        is_first = not self._has_begun
        # The id of a run is used once, also if its answer could not be stored.
        self._has_begun = self._has_begun or bool(done["run_id"])
        if done["context_id"] is None:
            return
        self.after = done["context_id"]
        if is_first:
            title = shortened(prompt.question)
            await self._send(SessionInfoUpdate(session_update="session_info_update", title=title))

    async def _chunks_of(self, exchange: Exchange) -> list[OracleStreamChunk]:
        """Nothing if the record cannot be played again: then the answer alone is shown."""
        try:
            return await chunks_of(self.project.store, exchange.id)
        except OracleError:
            return []

    def _updates(self) -> Updates:
        tools = self.project.agent.setup.live.tools
        specs: tuple[ToolSpec, ...] = () if tools is None else tuple(tools.specs)
        return Updates(self.project.root, specs, self._call_ids)

    async def _send(self, update: Any) -> None:
        await self._client.session_update(self.id, update)
