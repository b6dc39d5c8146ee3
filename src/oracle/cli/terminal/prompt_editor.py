"""The editor of a chat at a terminal: several lines, a history to search, completion.

It needs `prompt_toolkit`, which takes a tenth of a second to import. So only a chat at a terminal
imports this module.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document
from prompt_toolkit.enums import DEFAULT_BUFFER
from prompt_toolkit.filters import Condition, has_focus
from prompt_toolkit.history import History
from prompt_toolkit.input import Input
from prompt_toolkit.input.vt100 import Vt100Input
from prompt_toolkit.key_binding import KeyBindings, KeyPress, KeyPressEvent
from prompt_toolkit.keys import Keys
from prompt_toolkit.lexers import SimpleLexer
from prompt_toolkit.output import Output
from prompt_toolkit.output.vt100 import Vt100_Output
from prompt_toolkit.shortcuts import CompleteStyle, PromptSession

from oracle.cli.terminal.chat_commands import COMMANDS
from oracle.cli.terminal.chat_history import read_history
from oracle.cli.terminal.console import terminal_file
from oracle.cli.terminal.interrupts import ChatSignals
from oracle.cli.terminal.line_editor import CONTINUED, PROMPT, LineEditor
from oracle.cli.terminal.safe_text import safe_text

_PLAIN: Final = "fg:ansidefault"
"""Blanks without a style are not written: the cursor jumps over them, and a log would lack them."""
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
        self._prompt: PromptSession[str] = PromptSession(
            [(_PLAIN, PROMPT)],
            multiline=True,
            prompt_continuation=[(_PLAIN, CONTINUED)],
            lexer=SimpleLexer(_PLAIN),
            history=_History(read_history(history)),
            completer=ChatCompleter(),
            complete_while_typing=False,
            # Completions are printed below, as in a shell: a menu would need room on the screen.
            complete_style=CompleteStyle.READLINE_LIKE,
            key_bindings=self._keys(),
            enable_suspend=True,
            enable_open_in_editor=True,
            tempfile_suffix=".md",
            search_ignore_case=True,
            include_default_pygments_style=False,
            input=input_ or KeyInput(sys.stdin),
            output=output or _terminal_output(),
        )

    def _typed(self, prefill: str) -> str:
        # A loop of its own that prints no tracebacks: errors end the chat like others.
        return self._prompt.prompt(default=prefill, set_exception_handler=False)

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
        @keys.add("c-j", filter=typing)
        def add_line(event: KeyPressEvent) -> None:
            event.current_buffer.newline(copy_margin=False)

        @keys.add(Keys.BracketedPaste, filter=typing)
        def paste(event: KeyPressEvent) -> None:
            text = event.data.replace("\r\n", "\n").replace("\r", "\n")
            event.current_buffer.insert_text(safe_text(text))

        @keys.add("c-d", filter=typing & ~has_text)
        def leave(event: KeyPressEvent) -> None:
            event.app.exit(exception=EOFError())

        @keys.add("c-c", filter=typing)
        @keys.add("<sigint>")
        def interrupt(event: KeyPressEvent) -> None:
            self._had_text = bool(event.current_buffer.text)
            event.app.exit(exception=KeyboardInterrupt())

        return keys


def _terminal_output() -> Output:
    output = Vt100_Output.from_pty(terminal_file(sys.stdout), term=os.environ["TERM"])
    # The answer to a request for the cursor's position could become typed text.
    output.enable_cpr = False
    return output


_NOTHING: Final = KeyPress(Keys.Ignore, "")


class KeyInput(Vt100Input):
    """Tells Ctrl-J from the end of a line that was typed before the prompt was there.

    Until then the terminal turns Enter into the character of Ctrl-J. A line that is typed ahead, or
    sent by a script, arrives as a whole; a key that is pressed arrives alone.
    """

    def read_keys(self) -> list[KeyPress]:
        return ends_of_lines(super().read_keys())


def ends_of_lines(keys: list[KeyPress]) -> list[KeyPress]:
    """The keys that arrived at once, with Enter for each Ctrl-J that ends a line."""
    return [
        KeyPress(Keys.ControlM, key.data)
        if key.key == Keys.ControlJ and before.key not in (Keys.Ignore, Keys.Escape)
        else key
        for before, key in zip([_NOTHING, *keys], keys, strict=False)
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


class ChatCompleter(Completer):
    """Completes commands at the beginning, and paths after `@`, `/attach` and `/save`."""

    def get_completions(
        self, document: Document, complete_event: CompleteEvent
    ) -> Iterator[Completion]:
        for typed, whole in completions(document.text_before_cursor):
            yield Completion(whole, start_position=-len(typed))


def completions(text: str) -> Iterator[tuple[str, str]]:
    """Pairs of the end of the text, and what can be in its place."""
    # Imported here: until Tab is pressed nobody needs it.
    from oracle.services.attachments import completion

    fragment = completion.fragment_in(text)
    if fragment:
        yield from ((fragment, path) for path in completion.completions(text, Path()))
    elif found := _WITH_FILE.match(text):
        typed = found[1]
        yield from ((typed, path) for path in completion.paths(typed, Path()))
    else:
        for command in COMMANDS:
            if text and command.name.startswith(text.lower()):
                yield text, command.name + (" " if command.argument else "")
