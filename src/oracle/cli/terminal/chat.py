"""A chat: reads a line, obeys a command or answers a question, until the user leaves."""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import sys
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import replace
from threading import Thread
from typing import TYPE_CHECKING, Any, Final

from oracle.cli import INTERRUPTED
from oracle.cli.terminal.chat_commands import Command, Question, help_text, parse
from oracle.cli.terminal.interrupts import interrupts_call, leave_at_once
from oracle.cli.terminal.output import say, show_traceback, shown_bug, shown_error
from oracle.cli.terminal.preloading import load_agent
from oracle.cli.terminal.safe_text import printable
from oracle.cli.terminal.waiting import wait_begins
from oracle.errors import DeveloperError, InputError, ModelRefused, OracleError, SettingsError
from oracle.lazy_dataclass import dataclass
from oracle.services.settings.ways import CHAT

if TYPE_CHECKING:
    from pathlib import Path

    from oracle.cli.terminal.conversation import Conversation
    from oracle.cli.terminal.interrupts import ChatSignals
    from oracle.cli.terminal.line_editor import LineEditor
    from oracle.cli.terminal.screen import AskOptions
    from oracle.models.session import Session
    from oracle.settings import Settings

_HARMLESS: Final = (0, 3, INTERRUPTED)
"""Exit codes of answers: whole, not whole, stopped by the user."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Doubt:
    """Work that is done only after a yes. `refused` is said after a no."""

    question: str
    refused: str
    work: Callable[[], Coroutine[Any, Any, object]]


def in_a_chat(settings: Settings) -> Settings:
    """So that advice about the model says how to choose another one here."""
    origin = replace(settings.origins["model.name"], place=CHAT)
    return replace(settings, origins={**settings.origins, "model.name": origin})


class Chat:
    """`settings_for_model` gives the settings with another model, as `--model` does.

    The database is opened, and the agent is loaded, when they are needed for the first time: by
    then a background thread has imported most of it, while the user was typing.
    """

    def __init__(
        self,
        settings: Settings,
        options: AskOptions,
        *,
        runner: asyncio.Runner,
        signals: ChatSignals,
        editor: LineEditor,
        history: Path | None,
        files: Sequence[str] = (),
        settings_for_model: Callable[[str], Settings],
    ) -> None:
        self._settings = in_a_chat(settings)
        self._options = options
        self._runner = runner
        self._signals = signals
        self._editor = editor
        self._history = history
        self._settings_for_model = settings_for_model
        self._open: Conversation | None = None
        self._leaving = contextlib.AsyncExitStack()
        self._loading = Thread(target=load_agent, daemon=True, name="loading")
        # Not earlier: it would compete with what the prompt needs.
        editor.when_shown = self._loading.start
        editor.models = (settings.model.name,)
        self._prefill = ""
        self._failed: str | None = None
        """The last question, if it has no exchange in the conversation."""
        self._files, self._asked_files = tuple(files), ()
        """To attach to the next question, and what was attached to the last one."""
        self._code = 0
        self._is_unused = True

    # -- the loop ----------------------------------------------------------------------------------

    def run(self, session: str | None = None, *, greets: bool) -> int:
        """Continue a session, if one is given, until the user leaves. Returns the exit code."""
        try:
            continued = None if session is None else self._wait(self._continue_session(session))
            self._greet(continued, greets=greets)
            return self._answer_all()
        except (asyncio.CancelledError, KeyboardInterrupt):
            return INTERRUPTED
        finally:
            self._close()
            if self._is_unused and greets and not self._editor.is_interactive:
                say("stdin is empty, so nothing was asked")

    def _greet(self, continued: Session | None, *, greets: bool) -> None:
        from oracle.cli.terminal.chat_history import why_not_kept
        from oracle.cli.terminal.chat_texts import header, session_line

        if self._editor.is_interactive and greets:
            say(header(self._settings.model.name, continued, shutil.get_terminal_size().columns))
            if problem := why_not_kept(self._settings):
                say(problem)
        elif continued is not None:
            say(session_line(continued))

    def _answer_all(self) -> int:
        while True:
            try:
                line = self._editor.read(self._prefill)
            except EOFError:
                return self._code
            self._is_unused = False
            if not self._handle(line):
                return self._code

    def _handle(self, line: str) -> bool:
        """Whether the chat goes on. An error is printed; it does not end the chat."""
        is_edited, self._prefill = bool(self._prefill), ""
        entry = None
        try:
            entry = parse(line)
            if entry == Command(name="/exit"):
                return False
            if entry is not None:
                self._wait(self._remember(line))
            if isinstance(entry, Question):
                self._count(self._wait(self._ask(entry.text, again=is_edited)))
            elif entry is not None:
                self._confirm(self._wait(self._obey(entry)))
        except asyncio.CancelledError:
            if isinstance(entry, Question):
                self._failed = entry.text
            self._editor.stopped("cancelled; ")
        except OracleError as problem:
            is_of_question = isinstance(entry, Question)
            self._report(shown_error(problem), problem.exit_code, is_of_question=is_of_question)
        except OSError:
            raise  # the output cannot be written: nothing can be shown any more
        except Exception as bug:
            show_traceback(bug)
            self._report(shown_bug(bug), DeveloperError.exit_code)
        return True

    def _wait(self, work: Coroutine[Any, Any, Any]) -> Any:
        return self._runner.run(self._signals.stoppable(work))

    def _confirm(self, doubt: Doubt | None) -> None:
        if doubt is None:
            return
        if self._editor.confirm(doubt.question):
            self._wait(doubt.work())
        else:
            say(doubt.refused)

    async def _remember(self, line: str) -> None:
        """Write it to the history. That needs modules that the background thread imports."""
        from oracle.services.background import in_thread

        if self._loading.ident is not None:
            await in_thread(self._loading.join)
        if self._editor.is_interactive:
            from oracle.cli.terminal.chat_history import add_to_history

            await in_thread(add_to_history, self._history, line)

    def _report(self, text: str, code: int, *, is_of_question: bool = True) -> None:
        from oracle.services.project.redaction import redact

        # Cleaned first: an invisible character could split a secret.
        say(redact(text))
        # A person at a terminal has seen a mistake in the input, and can do something about it.
        is_seen = code == InputError.exit_code or not is_of_question
        if not (self._editor.is_interactive and is_seen):
            self._count(code)

    def _count(self, code: int) -> None:
        """From a pipe, the first error counts: a script must not miss it. Else the last result."""
        if self._editor.is_interactive or not self._code:
            self._code = 0 if code in _HARMLESS else code
        if self._editor.is_interactive and code == INTERRUPTED:
            self._editor.stopped()

    def _close(self) -> None:
        # A database that hangs at the end must not keep someone who wants to leave.
        with interrupts_call(lambda: leave_at_once(INTERRUPTED)):
            self._runner.run(self._leaving.aclose())

    async def _conversation(self) -> Conversation:
        if self._open is None:
            from oracle.cli.terminal.conversation import open_conversation

            opening = open_conversation(self._settings, self._options)
            self._open = await self._leaving.enter_async_context(opening)
        self._open.settings = self._settings
        return self._open

    # -- questions ---------------------------------------------------------------------------------

    async def _ask(self, question: str, *, again: bool = False) -> int:
        """Ask it after the last exchange; `again`, in place of it, as another branch."""
        from oracle.cli.asking import Request, prepared
        from oracle.services.background import in_thread

        files = self._asked_files if again and not self._files else self._files
        request = Request(words=(question,), files=files)
        asked = await in_thread(prepared, request, self._settings)
        branch = (conversation := await self._conversation()).branch
        if again and self._failed is None:
            await branch.step_back()
        before, self._failed = branch.after, question
        self._files, self._asked_files = (), files
        wait_begins()
        code = await conversation.ask(question, attachments=asked.attachments)
        if branch.after != before:
            self._failed = None
        print(file=sys.stderr, flush=True)
        return code

    async def _last_question(self) -> str:
        return self._failed or (await (await self._conversation()).branch.last()).question

    # -- commands ----------------------------------------------------------------------------------

    async def _obey(self, command: Command) -> Doubt | None:
        works: dict[str, Callable[[str], Coroutine[Any, Any, Doubt | None]]] = {
            "/help": self._help,
            "/model": self._model,
            "/tokens": self._tokens,
            "/sources": self._sources,
            "/retry": self._retry,
            "/edit": self._edit,
            "/attach": self._attach,
            "/detach": self._detach,
            "/undo": self._undo,
            "/new": self._new,
            "/session": self._session,
            "/save": self._save,
            "/clear": self._clear,
        }
        return await works[command.name](command.argument)

    async def _help(self, _: str) -> None:
        width = shutil.get_terminal_size().columns if sys.stderr.isatty() else None
        print(help_text(width), file=sys.stderr, flush=True)

    async def _model(self, name: str) -> None:
        from oracle.bt.wrappers.project_agent import model_of
        from oracle.services.background import in_thread

        kept = printable(self._settings.model.name)
        if name:
            try:
                settings = in_a_chat(self._settings_for_model(name))
                # Opened to see that it can be: the settings say nothing about a missing key.
                await in_thread(model_of, settings, os.environ)
            except (SettingsError, ModelRefused) as problem:
                # It may name the option of the command line, which nobody has written here.
                told = str(problem).removeprefix("--model: ")
                raise type(problem)(f"{told}; the chat goes on with {kept}") from None
            self._settings = settings
            self._editor.models = dict.fromkeys((*self._editor.models, settings.model.name))
        say(f"model {printable(self._settings.model.name)}")

    async def _tokens(self, _: str) -> None:
        from oracle.cli.terminal.chat_texts import cost_lines
        from oracle.services.background import in_thread
        from oracle.services.llm.spending import prices_for

        exchanges = await (await self._conversation()).branch.all_exchanges()
        model, limits = self._settings.model, self._settings.limits
        prices = await in_thread(prices_for, model, os.environ)
        for line in cost_lines(exchanges, limits, model.name, has_price=prices is not None):
            say(line)

    async def _sources(self, _: str) -> None:
        from oracle.cli.terminal.chat_texts import source_lines, tools_used

        conversation = await self._conversation()
        last = await conversation.branch.last()
        # Of a conversation that is continued, only the stored places are known.
        sources = conversation.sources or last.metadata.get("places") or ()
        lines = source_lines(sources, tools_used(last)) or [
            "oracle: the last answer has no sources"
        ]
        print("\n".join(lines), file=sys.stderr, flush=True)

    async def _retry(self, _: str) -> None:
        self._count(await self._ask(await self._last_question(), again=True))

    async def _edit(self, question: str) -> None:
        last = await self._last_question()
        if question:
            self._count(await self._ask(question, again=True))
        elif self._editor.can_prefill:
            self._prefill = last
        else:
            raise InputError("/edit needs the new question here: /edit QUESTION")

    async def _attach(self, file: str) -> None:
        from oracle.cli.asking import Request, prepared
        from oracle.services.background import in_thread

        files = (*self._files, file) if file else self._files
        # Read to see that it can be. The question reads it again: it may change until then.
        attached = await in_thread(prepared, Request(files=files), self._settings)
        self._files = files
        names = ", ".join(map(printable, attached.attachments.names))
        say(f"attached to the next question: {names}" if names else "nothing is attached")

    async def _detach(self, _: str) -> None:
        self._files = ()
        say("nothing is attached")

    async def _undo(self, _: str) -> None:
        from oracle.cli.terminal.chat_texts import dropped_line

        conversation = await self._conversation()
        dropped = await conversation.branch.step_back()
        # It has left the conversation like one that failed: /edit and /retry bring it back.
        conversation.sources, self._failed = (), dropped.question
        say(dropped_line(dropped.question))

    async def _new(self, _: str) -> None:
        conversation = await self._conversation()
        conversation.branch.start_new()
        conversation.sources, self._failed = (), None
        say("a new conversation; what was said before is not used")

    async def _session(self, typed: str) -> None:
        from oracle.cli.terminal.chat_texts import session_line

        if typed:
            say(session_line(await self._continue_session(typed)))
        elif (session := await (await self._conversation()).branch.session()) is not None:
            say(session_line(session))
        else:
            say("no conversation yet; the next question starts one")

    async def _continue_session(self, typed: str) -> Session:
        conversation = await self._conversation()
        session = await conversation.continue_session(typed)
        conversation.sources, self._failed = (), None
        return session

    async def _clear(self, _: str) -> None:
        if sys.stderr.isatty():
            from oracle.cli.terminal.console import console_on

            console_on(sys.stderr).clear()
        say("the conversation goes on; /new starts another one")

    async def _save(self, typed: str) -> Doubt | None:
        from functools import partial

        from oracle.cli.terminal.saving import file_to_save, save, saved_conversation
        from oracle.services.background import in_thread_to_end

        branch = (await self._conversation()).branch
        session, exchanges = await branch.session(), await branch.exchanges()
        if session is None:
            raise InputError("there is nothing to save yet; ask a question first")
        if not exchanges:
            raise InputError("nothing is left to save after /undo; ask a question first")
        file, text = (
            file_to_save(typed, session, self._settings),
            saved_conversation(session, exchanges),
        )

        async def write(*, overwrite: bool) -> bool:
            is_saved = await in_thread_to_end(partial(save, file, text, overwrite=overwrite))
            if is_saved:
                say(f"saved as {printable(str(file))}")
            return is_saved

        if await write(overwrite=False):
            return None
        name = printable(str(file))
        if not self._editor.is_interactive:
            raise InputError(f"{name} exists; give another name: /save FILE")
        return Doubt(
            question=f"{name} exists; overwrite it?",
            refused=f"not saved; {name} is as it was",
            work=partial(write, overwrite=True),
        )
