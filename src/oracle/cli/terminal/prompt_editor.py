"""The editor of a chat at a terminal: several lines, a history to search, completion.

It needs `prompt_toolkit`, which takes a tenth of a second to import. So only a chat at a terminal
imports this module.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Collection, Iterable, Iterator
from pathlib import Path
from typing import Final

from prompt_toolkit.application import Application
from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document
from prompt_toolkit.enums import DEFAULT_BUFFER
from prompt_toolkit.filters import Condition, has_focus
from prompt_toolkit.history import History
from prompt_toolkit.input import Input
from prompt_toolkit.input.typeahead import get_typeahead, store_typeahead
from prompt_toolkit.input.vt100 import Vt100Input
from prompt_toolkit.key_binding import KeyBindings, KeyPress, KeyPressEvent
from prompt_toolkit.keys import Keys
from prompt_toolkit.lexers import SimpleLexer
from prompt_toolkit.output import Output
from prompt_toolkit.output.vt100 import Vt100_Output
from prompt_toolkit.search import stop_search
from prompt_toolkit.shortcuts import CompleteStyle, PromptSession

from oracle.cli.terminal.chat_commands import COMMANDS
from oracle.cli.terminal.chat_history import read_history
from oracle.cli.terminal.interrupts import ChatSignals
from oracle.cli.terminal.line_editor import CONTINUED, PROMPT, LineEditor, do_nothing
from oracle.cli.terminal.safe_text import safe_text
from oracle.cli.terminal.streams import terminal_file
from oracle.cli.terminal.terminal_state import STATE

_PLAIN: Final = "fg:default"
"""Blanks without a style are not written: the cursor jumps over them, and a log would lack them."""
_SENDING: Final = Keys.ControlM
_WITH_MODEL: Final = re.compile(r"/model\s+(\S*)")
_WITH_FILE: Final = re.compile(r"/(?:save|attach)\s+(.*)", re.DOTALL)


class PromptEditor(LineEditor):
    can_prefill = True

    def __init__(
        self,
        history: Path | None,
        signals: ChatSignals,
        *,
        input_: Input | None = None,
        output: Output | None = None,
    ) -> None:
        super().__init__(signals)
        self._input = input_ or KeyInput(sys.stdin)
        self._prompt: PromptSession[str] = PromptSession(
            [(_PLAIN, PROMPT)],
            multiline=True,
            prompt_continuation=[(_PLAIN, CONTINUED)],
            lexer=SimpleLexer(_PLAIN),
            history=_History(read_history(history)),
            completer=ChatCompleter(lambda: self.models),
            complete_while_typing=False,
            # Completions are printed below, as in a shell: a menu would need room on the screen.
            complete_style=CompleteStyle.READLINE_LIKE,
            key_bindings=self._keys(),
            enable_suspend=True,
            tempfile_suffix=".md",
            search_ignore_case=True,
            include_default_pygments_style=False,
            input=self._input,
            output=output or _terminal_output(),
        )
        if isinstance(self._input, KeyInput):
            self._input.has_text = lambda: bool(self._prompt.default_buffer.text)
        self._prompt.app.after_render += self._shown

    def _typed(self, prefill: str) -> str:
        self._signals.on_ctrl_c = self._wake
        if STATE.typed_ahead:
            store_typeahead(self._input, self._input.read_keys())
        if self._drops_lines:
            self._drops_lines = False
            # The beginning of a line stays.
            keys = [*get_typeahead(self._input), *self._input.read_keys()]
            store_typeahead(self._input, _after_the_last_line(keys))
        try:
            # A loop of its own that prints no tracebacks: errors end the chat like others. It must
            # not handle Ctrl-C: when it ends, it would leave a moment in which that is lost.
            typed = self._prompt.prompt(
                default=prefill,
                set_exception_handler=False,
                handle_sigint=False,
                pre_run=self._obey_ctrl_c,
            )
        finally:
            self._signals.on_ctrl_c = do_nothing
        self._keep_ctrl_c()
        return typed

    def _wake(self) -> None:
        """Called by a signal handler: another program can send Ctrl-C, the keyboard does not."""
        loop = self._prompt.app.loop
        if loop is not None and not loop.is_closed():
            loop.call_soon_threadsafe(self._obey_ctrl_c)

    def _obey_ctrl_c(self) -> None:
        future = self._prompt.app.future
        if future is not None and not future.done() and self._signals.take_waiting():
            self._interrupt(self._prompt.app)

    def _interrupt(self, app: Application[str]) -> None:
        buffers = (self._prompt.default_buffer, app.current_buffer)
        self._had_text = any(buffer.text for buffer in buffers)
        if app.layout.is_searching:
            stop_search()
        app.exit(exception=KeyboardInterrupt())

    def _keep_ctrl_c(self) -> None:
        """Ctrl-C right after Enter is for the answer that begins now.

        Until the prompt gave the terminal back, it was a key like others. By now it is a signal, so
        after this none is left among the keys.
        """
        keys = [*get_typeahead(self._input), *self._input.read_keys()]
        others = [key for key in keys if key.key != Keys.ControlC]
        store_typeahead(self._input, others)
        self._signals.keep(len(keys) - len(others))

    def _shown(self, _: object) -> None:
        shown, self.when_shown = self.when_shown, do_nothing
        shown()

    def _keys(self) -> KeyBindings:
        keys = KeyBindings()
        typing = has_focus(DEFAULT_BUFFER)
        has_text = Condition(lambda: bool(self._prompt.default_buffer.text))

        @keys.add("enter", filter=typing)
        def send_or_continue(event: KeyPressEvent) -> None:
            buffer = event.current_buffer
            if buffer.document.is_cursor_at_the_end and buffer.text.endswith("\\"):
                buffer.delete_before_cursor()
                buffer.newline(copy_margin=False)
            else:
                buffer.validate_and_handle()

        @keys.add("escape", "enter", filter=typing)
        @keys.add("escape", "c-j", filter=typing)
        @keys.add("c-j", filter=typing & has_text)
        def add_line(event: KeyPressEvent) -> None:
            event.current_buffer.newline(copy_margin=False)

        @keys.add("c-j", filter=typing & ~has_text)
        def ignore(event: KeyPressEvent) -> None: ...

        @keys.add("c-x", "c-e", filter=typing)
        def open_in_editor(event: KeyPressEvent) -> None:
            # Not sent right after it, as a shell would: a question may cost money.
            event.current_buffer.open_in_editor()

        @keys.add(Keys.BracketedPaste, filter=typing)
        def paste(event: KeyPressEvent) -> None:
            text = event.data.replace("\r\n", "\n").replace("\r", "\n")
            event.current_buffer.insert_text(safe_text(text))

        @keys.add("c-d", filter=typing & ~has_text)
        def leave(event: KeyPressEvent) -> None:
            event.app.exit(exception=EOFError())

        # Also during a search, which by default would only end.
        @keys.add("c-c", eager=True)
        def interrupt(event: KeyPressEvent) -> None:
            self._interrupt(event.app)

        return keys


def _terminal_output() -> Output:
    output = Vt100_Output.from_pty(terminal_file(sys.stdout), term=os.environ["TERM"])
    # The answer to a request for the cursor's position could become typed text.
    output.enable_cpr = False
    return output


class KeyInput(Vt100Input):
    """Reads everything that has arrived: a long line from a script comes in pieces."""

    def read_keys(self) -> list[KeyPress]:
        typed_ahead, STATE.typed_ahead = STATE.typed_ahead, b""
        self.vt100_parser.feed(typed_ahead.decode(errors="replace"))
        keys: list[KeyPress] = []
        while more := super().read_keys():
            keys += more
        return keys if self.has_text() else lines_of(keys)

    def has_text(self) -> bool:
        """Whether something was typed before. The editor replaces it."""
        return False


def lines_of(keys: list[KeyPress]) -> list[KeyPress]:
    """The keys that arrived at once, with Enter for each Ctrl-J that ends a line.

    A script sends whole lines that end with the character of Ctrl-J, because it knows of no keys.
    A person sends single keys, and Enter is another key than Ctrl-J.
    """
    names = [key.key for key in keys]
    if Keys.ControlM in names or names[:1] == [Keys.ControlJ] or names[-1:] != [Keys.ControlJ]:
        return keys
    return [
        KeyPress(Keys.ControlM, key.data)
        if key.key == Keys.ControlJ and before != Keys.Escape
        else key
        for before, key in zip(["", *names], keys, strict=False)
    ]


class _History(History):
    """What was typed earlier. New entries are written by the chat."""

    def __init__(self, entries: Iterable[str]) -> None:
        super().__init__()
        self._entries = list(entries)

    def load_history_strings(self) -> Iterable[str]:
        return self._entries[::-1]

    def store_string(self, string: str) -> None:
        """Nothing to do."""


def _after_the_last_line(keys: list[KeyPress]) -> list[KeyPress]:
    ends = [number for number, key in enumerate(keys, start=1) if key.key == _SENDING]
    return keys[max(ends, default=0) :]


class ChatCompleter(Completer):
    """Completes commands at the beginning, models after `/model`, and paths after `@`, `/attach`
    and `/save`.
    """

    def __init__(self, models: Callable[[], Collection[str]]) -> None:
        self._models = models

    def get_completions(
        self, document: Document, complete_event: CompleteEvent
    ) -> Iterator[Completion]:
        for typed, whole in completions(document.text_before_cursor, self._models()):
            yield Completion(whole, start_position=-len(typed))


def completions(text: str, models: Collection[str] = ()) -> Iterator[tuple[str, str]]:
    """Pairs of the end of the text, and what can be in its place."""
    # Imported here: until Tab is pressed nobody needs it.
    from oracle.services.attachments import completion

    fragment = completion.fragment_in(text)
    if fragment:
        yield from ((fragment, path) for path in completion.completions(text, Path()))
    elif found := _WITH_MODEL.fullmatch(text):
        from oracle.services.llm.name_completion import names_beginning

        names = names_beginning(found[1], os.environ, also=[*models])
        yield from ((found[1], name) for name in names)
    elif found := _WITH_FILE.match(text):
        typed = found[1]
        yield from ((typed, path) for path in completion.paths(typed, Path()))
    else:
        for command in COMMANDS:
            if text and command.name.startswith(text.lower()):
                yield text, command.name + (" " if command.argument else "")
