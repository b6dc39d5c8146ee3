"""A question on its way: from the command's options through the agent to the screen."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from oracle.cli.terminal.approval import asking_through, say_yes, somebody_is_there
from oracle.cli.terminal.endings import exit_code
from oracle.cli.terminal.interrupts import interrupts_call
from oracle.cli.terminal.links import can_link
from oracle.cli.terminal.progress import Line
from oracle.cli.terminal.screen import JsonLines, PlainText, Screen, Volume
from oracle.cli.terminal.showing import Showing
from oracle.errors import ModelRefused
from oracle.models.stream_chunk import OracleStreamChunk
from oracle.services.project.root import here

if TYPE_CHECKING:
    from pathlib import Path

    from oracle.bt.state.base import RunStatus
    from oracle.bt.wrappers.conversation_store import ConversationStore
    from oracle.bt.wrappers.oracle_wrapper import OracleBTWrapper
    from oracle.bt.wrappers.recorded_run import RecordedRun
    from oracle.cli.terminal.live import LiveRegion
    from oracle.models.session import Session
    from oracle.settings import Settings

WATCHED_KEYS: Final = ("classification", "granted")


@dataclass(frozen=True, kw_only=True, slots=True)
class Manner:
    """How one asks, whatever the question."""

    volume: Volume = "normal"
    json: bool = False
    trace: bool = False
    dry_run: bool = False
    yes: bool = False


class Asker:
    """Asks one question after the other in one conversation."""

    def __init__(self, settings: Settings, store: ConversationStore, manner: Manner) -> None:
        self._settings = settings
        self._store = store
        self._manner = manner
        self._session_id: str | None = None
        self._context_id: str | None = None

    async def take_up(self, typed: str) -> Session:
        """Go on at the end of a session."""
        session = await self._store.session_called(typed)
        self._session_id, self._context_id = session.id, None
        return session

    def start_anew(self) -> None:
        self._session_id = self._context_id = None

    async def session(self) -> Session | None:
        """The one that the next question belongs to; None if it begins one."""
        if self._context_id is not None:
            return await self._store.session_of(self._context_id)
        if self._session_id is not None:
            return await self._store.session_called(self._session_id)
        return None

    async def ask(self, question: str, *, attachment: str = "") -> int:
        """Show the answer, and say how it went as an exit code.

        Ctrl-C cancels it; what there is then is shown.
        """
        loop = asyncio.get_running_loop()
        showing = Showing(screen_for(self._manner, self._settings.root))
        run = _WatchedRun(showing, is_traced=self._manner.trace)
        try:
            self._tell_where_it_is_kept(showing)
            agent = self._agent(showing, run)

            def cancel(reason: str) -> None:
                loop.call_soon_threadsafe(agent.cancel, reason)

            showing.board = run.board
            showing.on_failure = lambda: cancel("the output cannot be written")
            with interrupts_call(lambda: cancel("Ctrl-C")):
                chunks = agent.process_query(question, self._context_id, attachment=attachment)
                done = await _shown(chunks, showing)
        finally:
            showing.close()
        self._context_id = done["context_id"] or self._context_id
        return run.exit_code(done)

    def _tell_where_it_is_kept(self, showing: Showing) -> None:
        from oracle.services.project.root import user_folder

        if self._settings.root is None and self._settings.database.url is None:
            told = f"this folder lies in no project; what is asked is kept in {user_folder()}"
            showing.tell(Line(kind="note", text=told, whole=True))

    def _agent(self, showing: Showing, run: _WatchedRun) -> OracleBTWrapper:
        from oracle.bt.wrappers.project_agent import project_agent

        approve = None
        if self._manner.yes:
            approve = say_yes
        elif somebody_is_there():
            approve = asking_through(showing)
        return project_agent(
            self._settings,
            store=self._store,
            session_id=self._session_id,
            approve=approve,
            dry_run=self._manner.dry_run,
            watch=run.watch,
            indexing=lambda step: showing.indexing(step.done, step.total),
        )


async def _shown(chunks: AsyncGenerator[OracleStreamChunk], showing: Showing) -> OracleStreamChunk:
    """The last one, which is `done`."""
    chunk: OracleStreamChunk | None = None
    async for chunk in chunks:
        showing.show(chunk)
    assert chunk is not None
    return chunk


class _WatchedRun:
    """The run behind the chunks: its board, its statuses, and why it failed."""

    def __init__(self, showing: Showing, *, is_traced: bool) -> None:
        self._showing = showing
        self._is_traced = is_traced
        self._run: RecordedRun | None = None

    def watch(self, run: RecordedRun) -> None:
        self._run = run
        if self._is_traced:
            run.tree_run.subscribe(self._tell_status)

    def board(self) -> Mapping[str, Any]:
        if self._run is None:
            return {}
        board = self._run.board
        return {key: board.get(key) for key in WATCHED_KEYS if key in board}

    def exit_code(self, done: OracleStreamChunk) -> int:
        """A key that is refused needs other settings; a model that is away needs patience."""
        if done["stop_reason"] == "model_unavailable" and self._run is not None:
            failure = self._run.tree_run.context.failure
            if isinstance(failure, ModelRefused):
                return failure.exit_code
        return exit_code(done.data)

    def _tell_status(
        self, time: float, path: str, old: RunStatus | None, new: RunStatus | None
    ) -> None:
        status = "halted" if new is None else new.value
        self._showing.tell(Line(kind=status, text=path), always=True)


def screen_for(manner: Manner, root: Path | None = None) -> Screen:
    """What stdout and stderr can do decides how things look; `root` is where links lead to."""
    is_terminal, sees_progress = sys.stdout.isatty(), sys.stderr.isatty()
    if not is_terminal and not sees_progress:
        output = JsonLines() if manner.json else PlainText()
        return Screen(output, None, manner.volume, tells_lines=manner.volume == "verbose")
    return _terminal_screen(manner, root or here(), is_terminal, sees_progress)


def _terminal_screen(manner: Manner, root: Path, is_terminal: bool, sees_progress: bool) -> Screen:
    from oracle.cli.terminal.live import LiveRegion, RenderedText, console_on

    out, err = console_on(sys.stdout), console_on(sys.stderr)
    has_preview = is_terminal and not manner.json
    has_progress = sees_progress and manner.volume != "quiet"
    console = err if sees_progress else out
    region: LiveRegion | None = None
    if not console.is_dumb_terminal and (has_preview or has_progress):
        region = LiveRegion(console, has_progress=has_progress, has_preview=has_preview)
    has_links = can_link(os.environ, is_terminal=True)
    linked = root if has_links else None
    output = RenderedText(out, linked) if is_terminal else PlainText()
    return Screen(
        JsonLines() if manner.json else output,
        region,
        manner.volume,
        tells_lines=has_progress or manner.volume == "verbose",
        root=linked if sees_progress else None,
    )


@asynccontextmanager
async def asker(settings: Settings, manner: Manner) -> AsyncGenerator[Asker]:
    """With the project's database open; outside of a project, with the user's own."""
    from oracle.bt.wrappers.conversation_store import open_conversations
    from oracle.services.storage.database import url_for_writing

    where, on_failure = url_for_writing(settings), settings.journal.failure
    async with open_conversations(where, on_failure=on_failure) as store:
        yield Asker(settings, store, manner)
