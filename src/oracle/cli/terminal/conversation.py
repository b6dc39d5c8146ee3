"""A conversation at the terminal: sends questions to the agent and chunks to the screen."""

from __future__ import annotations

import asyncio
import logging
import sys
import time
from collections.abc import AsyncGenerator, Generator, Mapping, Sequence
from contextlib import ExitStack, asynccontextmanager, closing, contextmanager
from typing import TYPE_CHECKING, Any, Final

from oracle.cli.terminal.approval import ask_on, can_ask_a_person, say_yes
from oracle.cli.terminal.interrupts import interrupts_call
from oracle.cli.terminal.links import linked_roots
from oracle.cli.terminal.log_lines import log_lines_to
from oracle.cli.terminal.next_steps import next_steps
from oracle.cli.terminal.notices import NOTHING_PIPED_IN, notice_about_model
from oracle.cli.terminal.outcome import INCOMPLETE, exit_code
from oracle.cli.terminal.output import say
from oracle.cli.terminal.progress import Line, message
from oracle.cli.terminal.screen import AskOptions, screen_for
from oracle.cli.terminal.screen_thread import ScreenThread
from oracle.cli.terminal.trusting import own_code
from oracle.cli.terminal.waiting import waiting_since
from oracle.errors import StoreError
from oracle.logs import logger_of
from oracle.models.source import Given
from oracle.models.stream_chunk import ChunkType, OracleStreamChunk
from oracle.services.settings.sections import EMBEDDED

log = logger_of(__name__)

SECONDS_BEYOND: Final = 3.0
"""How long a database may take beyond the time limit, and at the end."""

if TYPE_CHECKING:
    from oracle.bt.wrappers.oracle_wrapper import OracleBTWrapper
    from oracle.bt.wrappers.run_store import RunStore
    from oracle.models.session import Session
    from oracle.services.agent_services import Approve
    from oracle.services.attachments.gathering import Attachments
    from oracle.services.own_code.collecting import OwnCode
    from oracle.settings import Settings


class Conversation:
    """Asks one question after another. Each one continues from the one before."""

    def __init__(self, settings: Settings, store: RunStore, options: AskOptions) -> None:
        from oracle.cli.terminal.branch import Branch
        from oracle.services.project.root import project_name

        self.settings = settings
        self.branch = Branch(store, project_name(settings.root))
        self.sources: Sequence[Mapping[str, Any]] = ()
        """Those of the last answer."""
        self._store = store
        self._options = options
        self._shadow = None
        if settings.loop.use_bt == "shadow":
            from oracle.cli.terminal.shadow_process import ShadowProcess

            self._shadow = ShadowProcess(settings)

    async def continue_session(self, typed: str) -> Session:
        return await self.branch.continue_session(typed)

    async def ask(
        self,
        question: str,
        *,
        attachment: str = "",
        attachments: Attachments | None = None,
        is_pipe_empty: bool = False,
        template: str = "",
    ) -> int:
        """Show the answer and return the exit code. Ctrl-C cancels and shows what was found."""
        from oracle.services.project.redaction import redact

        own = await own_code(self.settings, volume=self._options.volume)
        # Closing waits until everything is drawn, and raises what went wrong while drawing.
        with closing(self._open_screen()) as screen, self._interruptible(screen) as stop:
            if attachments is not None:
                _show_attachments(screen, attachments, template)
            had_secrets = attachments is not None and attachments.had_secrets
            if had_secrets or redact(question) != question or redact(attachment) != attachment:
                text = "what looks like a secret was removed before it was sent or stored"
                screen.print_line(message(text))
            if is_pipe_empty and not self._answer_says_so(question):
                screen.print_line(message(NOTHING_PIPED_IN))
            agent = self._agent(screen, own)
            given = Given(
                text=attachment,
                sources=() if attachments is None else attachments.sources,
                is_pipe_empty=is_pipe_empty,
                seconds_waited=time.monotonic() - waiting_since(),
            )
            chunks = agent.process_query(
                question, self.branch.after, given=given, nodes=self._options.trace
            )
            code = await self._show(chunks, agent, screen, stop)
            # An answer that is not whole has a line that says so.
            is_due = code != INCOMPLETE and self._options.volume != "quiet"
            if is_due and (notice := notice_about_model(self.settings)):
                screen.print_line(message(notice))
            return code

    def _answer_says_so(self, question: str) -> bool:
        """Whether the answer appears on this screen, and is that nothing was piped in."""
        from oracle.services.questions.search_words import points_at_a_text

        is_ours = self.settings.model.name == EMBEDDED
        return is_ours and sys.stdout.isatty() and points_at_a_text(question)

    async def resume(self, run_id: str) -> int:
        """Like `ask`, for a run whose process died."""
        own = await own_code(self.settings, volume=self._options.volume)
        with closing(self._open_screen()) as screen, self._interruptible(screen) as stop:
            agent = self._agent(screen, own)
            chunks = agent.resume(run_id, nodes=self._options.trace)
            return await self._show(chunks, agent, screen, stop)

    @contextmanager
    def _interruptible(self, screen: ScreenThread) -> Generator[_Stop]:
        """From here on a Ctrl-C cancels the run, also while a provider's SDK is loaded, which takes
        seconds.
        """
        stop = _Stop(asyncio.get_running_loop())
        screen.calls_on_failure(lambda: stop("the output cannot be written"))
        interruptible = interrupts_call(
            lambda: stop("Ctrl-C"), seconds=self.settings.limits.seconds
        )
        with interruptible, log_lines_to(screen.print_line):
            yield stop

    async def _show(
        self,
        chunks: AsyncGenerator[OracleStreamChunk],
        agent: OracleBTWrapper,
        screen: ScreenThread,
        stop: _Stop,
    ) -> int:
        done: OracleStreamChunk | None = None
        stop.cancels(agent)
        self.sources = ()
        async for done in chunks:
            screen.show(done)
            if done.type == ChunkType.SOURCES:
                self.sources = done["sources"]
        assert done is not None
        self.branch.after = done["context_id"] or self.branch.after
        return exit_code(done.data)

    def _open_screen(self) -> ScreenThread:
        from oracle.cli.terminal.notices import WIDE, is_wide
        from oracle.services.project.root import here, user_folder

        has_model = self.settings.model.name != EMBEDDED
        steps = next_steps(self.settings, in_chat=self._options.in_chat)
        roots = linked_roots(self.settings)
        shown = screen_for(self._options, roots, has_model=has_model, steps=steps)
        screen = ScreenThread(shown)
        if self.settings.root is None and self.settings.database.url is None:
            text = f"this folder is not in a project; the conversation is kept in {user_folder()}"
            screen.print_line(Line(kind="note", text=text, whole=True))
        if is_wide(self.settings.root):
            screen.print_line(message(f"{here()} {WIDE}"))
        return screen

    def _agent(self, screen: ScreenThread, own: OwnCode) -> OracleBTWrapper:
        from oracle.bt.wrappers.project_agent import project_agent

        approve: Approve | None = None
        # A dry run does nothing that somebody would have to allow.
        if self._options.yes or self._options.dry_run:
            approve = say_yes
        elif can_ask_a_person():
            approve = ask_on(screen)
        return project_agent(
            self.settings,
            store=self._store,
            session_id=self.branch.session_id,
            approve=approve,
            dry_run=self._options.dry_run,
            own=own,
            indexing=lambda step: screen.indexing(step.done, step.total),
            follow=None if self._shadow is None else self._shadow.follow,
        )


def _show_attachments(screen: ScreenThread, attachments: Attachments, template: str) -> None:
    if template:
        screen.print_line(Line(kind="template", text=template))
    if attachments.sources:
        screen.print_line(Line(kind="attached", text=", ".join(attachments.names)))
    for note in attachments.notes:
        screen.print_line(message(note))


class _Stop:
    """Cancels the run; also one that has not begun, as soon as it has.

    Called in a signal handler and in the screen's thread, so it must only wake the event loop.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._agent: OracleBTWrapper | None = None
        self._reason: str | None = None

    def __call__(self, reason: str) -> None:
        self._reason = reason
        if self._agent is not None:
            self._loop.call_soon_threadsafe(self._agent.cancel, reason)

    def cancels(self, agent: OracleBTWrapper) -> None:
        """To be called right before the run begins: the next round of the loop finds it."""
        self._agent = agent
        if self._reason is not None:
            self._loop.call_soon_threadsafe(agent.cancel, self._reason)


@asynccontextmanager
async def open_conversation(
    settings: Settings, options: AskOptions
) -> AsyncGenerator[Conversation]:
    """Open the project's database; outside a project, the user's own. If the project cannot be
    written, its place is taken by one that is gone afterwards.
    """
    from oracle.bt.wrappers.run_store import open_store
    from oracle.services.background import within
    from oracle.services.storage.connections import shown
    from oracle.services.storage.unwritable import place_for_records

    if logging.lastResort is not None:
        # Warnings of the agent, such as a file that is not used, look like our other messages.
        logging.lastResort.setFormatter(logging.Formatter("oracle: %(message)s"))
    with ExitStack() as leaving:
        url, warning = leaving.enter_context(place_for_records(settings))
        if warning and options.volume != "quiet":
            say(f"warning: {warning}")
        opening = open_store(url, on_failure=settings.journal.failure)
        seconds = settings.limits.seconds + SECONDS_BEYOND
        try:
            store = await within(seconds, opening.__aenter__())
        except TimeoutError:
            raise StoreError(
                f"{shown(url)} did not respond within {seconds:g} s; check whether another process "
                "has locked it, then try again"
            ) from None
        try:
            yield Conversation(settings, store, options)
        finally:
            try:
                await within(SECONDS_BEYOND, opening.__aexit__(None, None, None))
            except TimeoutError:
                log.error("%s does not respond, so the last records are not written", shown(url))
