"""The agent as a Python API.

async with Oracle(project=".", model=model, tools=tools) as oracle:
    answer = await oracle.ask("How does the login work?")
    print(answer)
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, aclosing, suppress
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Self

from oracle.bt.wrappers.project_agent import project_agent
from oracle.bt.wrappers.run_store import RunStore, open_store
from oracle.errors import InputError, StoreError
from oracle.lazy_dataclass import dataclass
from oracle.models.source import Given, Source
from oracle.models.stream_chunk import ChunkType, OracleStreamChunk
from oracle.services.agent_services import Approve
from oracle.services.background import run_async, running_loop
from oracle.services.control.ledger import Limits
from oracle.services.given_values import (
    check_callable,
    check_question,
    check_type,
    paths_in,
)
from oracle.services.llm.protocol import Model
from oracle.services.project.root import find_root
from oracle.services.storage.database import url_for_writing
from oracle.services.tools.protocol import Tools
from oracle.settings import load_settings

if TYPE_CHECKING:
    from oracle.bt.wrappers.shadow_mode import ShadowMode


@dataclass(frozen=True, kw_only=True, slots=True)
class Answer:
    """The answer to a question. There always is one; `str(answer)` is its text.

    `stop_reason` is "answered" if the answer is complete. `error_kind` is the class of the error
    that ended the run, if any. To continue the conversation, pass `context_id` with the next
    question.
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
    """Answers questions about the project that contains the folder `project`.

    `model` and `tools` default to those of the project's settings. `model` is a name, such as
    "sonnet" or "ollama:qwen3", or an object that speaks the protocol `Model`. Functions in a list
    of `tools` are added to those of the project (`oracle.tool`); a `Tools` object replaces them.
    `approve` asks a person before anything is written. Conversations are stored in the project's
    database. With `remembers=False` nothing is stored, and neither a project nor a database is
    needed.

    Any number of questions can be asked at once, also in several threads and event loops. They
    share one connection to the database, one writer and one index, which are open while a question
    is under way, or inside `async with oracle:`. So an `Oracle` that is never closed leaves nothing
    open.
    """

    def __init__(
        self,
        *,
        project: str | Path = ".",
        model: Model | str | None = None,
        tools: Tools | Sequence[Callable[..., Any]] | None = None,
        limits: Limits | None = None,
        approve: Approve | None = None,
        remembers: bool = True,
    ) -> None:
        check_type("project", project, (str, PathLike), "give the path of a folder")
        check_type(
            "limits", limits, Limits, "give oracle.Limits(turns=5), or the like", optional=True
        )
        check_callable("approve", approve, "give a function that takes the question")
        check_type("remembers", remembers, bool, "give True or False")
        folder = Path(project)
        if remembers:
            folder = find_root(folder)
        self._folder = folder
        named = model if isinstance(model, str) else None
        if model is not None and named is None and not hasattr(model, "stream"):
            raise InputError(
                f"model is {model!r}; give a name such as 'sonnet', or an object with the protocol "
                "oracle.services.llm.protocol.Model"
            )
        self._settings = load_settings(folder, flags={"model.name": named})
        self._remembers = remembers
        self._is_closed = False
        self._blocks = 0
        self._held_open = AsyncExitStack()
        self._agent = project_agent(
            self._settings,
            root=folder,
            model=None if isinstance(model, str) else model,
            tools=tools,
            limits=limits,
            approve=approve,
            store=self._open_store if remembers else None,
        )
        self._shadow: ShadowMode | None = None
        if remembers and self._settings.loop.use_bt == "shadow":
            self._shadow = self._in_the_shadow()
            self._agent.follow = self._shadow.follow

    def stream(
        self,
        question: str,
        context_id: str | None = None,
        *,
        attachment: str = "",
        attachments: Sequence[str | Path] = (),
    ) -> AsyncGenerator[OracleStreamChunk]:
        """Stream the chunks of a run; the last is `done`. Closing the stream cancels the run.

        `attachment` is a text. `attachments` are files, with lines if wanted: "src/a.py:10-40". A
        relative path begins in the project. They are sources, and the answer can cite them.
        """
        self._check_open()
        check_question(question, context_id, attachment)
        given = Given(text=attachment, sources=self._read(attachments, attachment))
        return self._agent.process_query(question, context_id, given=given)

    async def ask(
        self,
        question: str,
        context_id: str | None = None,
        *,
        attachment: str = "",
        attachments: Sequence[str | Path] = (),
    ) -> Answer:
        return await answer_from(
            self.stream(question, context_id, attachment=attachment, attachments=attachments)
        )

    def ask_sync(
        self,
        question: str,
        context_id: str | None = None,
        *,
        attachment: str = "",
        attachments: Sequence[str | Path] = (),
    ) -> Answer:
        """Like `ask`, for code that is not async."""
        # In a running loop `asyncio.run` fails with a message that does not name the way out.
        if running_loop() is not None:
            raise InputError(
                "ask_sync cannot be used in async code; use `await oracle.ask(…)` there"
            )
        return run_async(
            self.ask(question, context_id, attachment=attachment, attachments=attachments)
        )

    def resume(self, run_id: str) -> AsyncGenerator[OracleStreamChunk]:
        """Resume a run whose process died. All its chunks are streamed again."""
        self._check_open()
        return self._agent.resume(run_id)

    def cancel(self, reason: str = "cancelled") -> None:
        """Cancel all questions in progress. Each one still gets an answer from what was found."""
        self._agent.cancel(reason)

    async def __aenter__(self) -> Self:
        """Keep the database open until the end of the block, also between questions.

        Blocks may be inside of each other: the outermost one closes it.
        """
        self._check_open()
        self._blocks += 1
        if self._remembers and self._blocks == 1:
            # A database that cannot be opened is reported by each question.
            with suppress(StoreError):
                await self._held_open.enter_async_context(self._open_store())
        return self

    async def __aexit__(self, *_: object) -> None:
        self._blocks -= 1
        if not self._blocks:
            await self.close()

    async def close(self) -> None:
        """End all questions and close the database. A second call does nothing.

        A question under way is cancelled: it still gets an answer from what was found, and what it
        did is on record. A closed `Oracle` answers no more questions.
        """
        if self._is_closed:
            return
        self._is_closed = True
        await self._agent.close("the Oracle was closed")
        if self._shadow is not None:
            await self._shadow.close()
        await self._held_open.aclose()

    def _read(self, files: Sequence[str | Path], text: str) -> Sequence[Source]:
        paths = paths_in(files)
        if not paths and not text:
            return ()
        from oracle.services.attachments.gathering import check_size, gather
        from oracle.services.attachments.references import Reach

        reach = Reach(
            folder=self._folder,
            root=self._folder,
            secrets=self._settings.secrets.rules,
            roots=self._settings.roots,
        )
        size = len(text.encode(errors="replace"))
        check_size("attachment", size)
        return gather(reach=reach, files=paths, piped_bytes=size).sources

    def _in_the_shadow(self) -> ShadowMode:
        from oracle.bt.wrappers.shadow_mode import ShadowMode

        loop = self._settings.loop
        return ShadowMode(
            self._agent.setup, self._open_store, share=loop.shadow_share, money=loop.shadow_money
        )

    def _check_open(self) -> None:
        if self._is_closed:
            raise InputError("this Oracle is closed; create another one to ask again")

    def _open_store(self) -> AbstractAsyncContextManager[RunStore]:
        settings = self._settings
        return open_store(url_for_writing(settings), on_failure=settings.journal.failure)


async def answer_from(chunks: AsyncGenerator[OracleStreamChunk]) -> Answer:
    """Read the stream to its end and return the answer."""
    async with aclosing(chunks):
        return answer_of([chunk async for chunk in chunks if chunk.type in _OF_AN_ANSWER])


_OF_AN_ANSWER: Final = (ChunkType.SOURCES, ChunkType.DONE)


def answer_of(chunks: Iterable[OracleStreamChunk]) -> Answer:
    """The answer in the chunks of a whole run."""
    last = {chunk.type: chunk for chunk in chunks if chunk.type in _OF_AN_ANSWER}
    sources = last[ChunkType.SOURCES]["sources"] if ChunkType.SOURCES in last else ()
    done = dict(last[ChunkType.DONE].data)
    return Answer(text=done.pop("answer"), sources=sources, **done)
