"""The agent for programs.

oracle = Oracle(project=".", model=model, tools=tools)
answer = await oracle.ask("How does the login work?")
print(answer)
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, aclosing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from oracle.bt.wrappers.project_agent import project_agent
from oracle.bt.wrappers.run_store import RunStore, open_store
from oracle.errors import InputError
from oracle.models.stream_chunk import ChunkType, OracleStreamChunk
from oracle.services.agent_services import Approve
from oracle.services.control.ledger import Limits
from oracle.services.llm.protocol import Model
from oracle.services.project.root import find_root
from oracle.services.storage.database import url_for_writing
from oracle.services.tools.protocol import Tools
from oracle.settings import load_settings


@dataclass(frozen=True, kw_only=True, slots=True)
class Answer:
    """The answer to a question; there is always one. `str(answer)` is its text.

    `stop_reason` is "answered" where the answer is whole; `error_kind` names the class of the error
    that ended the run, if one did. Give `context_id` to the next question of the conversation.
    """

    text: str
    stop_reason: str
    error_kind: str | None
    detail: str
    caveat: str | None
    sources: Sequence[Mapping[str, Any]]
    tried: Sequence[str]
    missing: Sequence[str]
    usage: Mapping[str, Any]
    run_id: str
    context_id: str | None

    def __str__(self) -> str:
        return self.text

    @property
    def is_whole(self) -> bool:
        return self.stop_reason == "answered"


class Oracle:
    """Answers questions about the project that `project` lies in, several at a time if need be.

    Without a `model` or `tools`, those of the project's settings are used. `approve` asks a person
    before anything is written. Conversations are kept in the project's database, which is opened
    for each question. With `remembers=False` neither a project nor a database is needed.
    """

    def __init__(
        self,
        *,
        project: str | Path = ".",
        model: Model | None = None,
        tools: Tools | None = None,
        limits: Limits | None = None,
        approve: Approve | None = None,
        remembers: bool = True,
    ) -> None:
        folder = Path(project)
        if remembers:
            folder = find_root(folder)
        self._settings = load_settings(folder)
        self._agent = project_agent(
            self._settings,
            root=folder,
            model=model,
            tools=tools,
            limits=limits,
            approve=approve,
            store=self._open_store if remembers else None,
        )

    def stream(
        self, question: str, context_id: str | None = None, *, attachment: str = ""
    ) -> AsyncGenerator[OracleStreamChunk]:
        """The answer as it is made; `done` is the last chunk. Closing it cancels the run."""
        return self._agent.process_query(question, context_id, attachment=attachment)

    async def ask(
        self, question: str, context_id: str | None = None, *, attachment: str = ""
    ) -> Answer:
        return await answer_from(self.stream(question, context_id, attachment=attachment))

    def ask_sync(
        self, question: str, context_id: str | None = None, *, attachment: str = ""
    ) -> Answer:
        """`ask` for programs that are not async."""
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            return asyncio.run(self.ask(question, context_id, attachment=attachment))
        raise InputError("ask_sync cannot be used in async code; use `await oracle.ask(…)` there")

    def resume(self, run_id: str) -> AsyncGenerator[OracleStreamChunk]:
        """Go on with a question whose process died; its chunks come again from the first one."""
        return self._agent.resume(run_id)

    def cancel(self, reason: str = "cancelled") -> None:
        """End what is asked now; each question is still answered, with what there is."""
        self._agent.cancel(reason)

    def _open_store(self) -> AbstractAsyncContextManager[RunStore]:
        settings = self._settings
        return open_store(url_for_writing(settings), on_failure=settings.journal.failure)


async def answer_from(chunks: AsyncGenerator[OracleStreamChunk]) -> Answer:
    """Listen to the end."""
    sources: Sequence[Mapping[str, Any]] = ()
    done: dict[str, Any] = {}
    async with aclosing(chunks):
        async for chunk in chunks:
            if chunk.type == ChunkType.SOURCES:
                sources = chunk["sources"]
            elif chunk.type == ChunkType.DONE:
                done = dict(chunk.data)
    return Answer(text=done.pop("answer"), sources=sources, **done)
