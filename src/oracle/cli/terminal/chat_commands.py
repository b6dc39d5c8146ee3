"""What a line typed into a chat is: a command or a question."""

from __future__ import annotations

import re
from typing import Final

from oracle.cli.terminal.safe_text import printable
from oracle.errors import InputError, did_you_mean, named
from oracle.lazy_dataclass import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class ChatCommand:
    """`argument` is what `/help` shows after the name; empty if the command takes none."""

    name: str
    argument: str = ""
    meaning: str


COMMANDS: Final = (
    ChatCommand(name="/model", argument="[NAME]", meaning="show the model, or switch to another"),
    ChatCommand(name="/tokens", meaning="show what this conversation has cost, and the limits"),
    ChatCommand(name="/sources", meaning="list all sources of the last answer"),
    ChatCommand(name="/retry", meaning="ask the last question again"),
    ChatCommand(
        name="/edit", argument="[QUESTION]", meaning="change the last question and ask it again"
    ),
    ChatCommand(
        name="/attach", argument="[FILE]", meaning="attach a file, or lines of it (a.py:10-40)"
    ),
    ChatCommand(name="/detach", meaning="attach nothing to the next question"),
    ChatCommand(name="/undo", meaning="continue from before the last question"),
    ChatCommand(name="/new", meaning="start a new conversation"),
    ChatCommand(
        name="/session", argument="[ID]", meaning="show which conversation this is, or continue ID"
    ),
    ChatCommand(name="/save", argument="[FILE]", meaning="save this conversation as markdown"),
    ChatCommand(name="/clear", meaning="clear the screen"),
    ChatCommand(name="/help", meaning="show this help; so do /? and ?"),
    ChatCommand(name="/exit", meaning="leave; so do exit, quit, /quit and Ctrl-D"),
)
KEYS: Final = """\
Enter sends. Alt-Enter, Ctrl-J or a \\ at the end of the line adds a line.
@path in a question attaches a file too. Tab completes /commands and paths.
Ctrl-R searches earlier questions.
Ctrl-X Ctrl-E opens the text in your editor.
Ctrl-C stops an answer or clears the line; twice on an empty line, it leaves.
A line that starts with a blank is never a command."""

_BY_NAME: Final = {command.name: command for command in COMMANDS}
_ALIASES: Final = {"/quit": "/exit", "/q": "/exit", "/?": "/help", "/h": "/help"}
_WORDS: Final = {
    **dict.fromkeys(("exit", "quit", "exit()", "quit()", ":q"), "/exit"),
    **dict.fromkeys(("help", "?"), "/help"),
}
"""Whole lines without a slash that are commands as well: what people type by habit."""
_COMMAND: Final = re.compile(r"(/[^\s/]*)(?:\s+(.*))?|/+()")
_QUOTED: Final = re.compile(r"(['\"])(.*)\1")


@dataclass(frozen=True, kw_only=True, slots=True)
class Command:
    name: str
    argument: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Question:
    text: str


def parse(line: str) -> Command | Question | None:
    """The command or the question of a line; None if it is blank.

    A path such as `/usr/lib` begins a question, and so does a single unknown `/word` if more words
    follow that resemble no command. Several lines are never a command, nor is a line that starts
    with a blank.
    """
    text = line.strip()
    if not text:
        return None
    if line[0].isspace() or "\n" in text:
        return Question(text=text)
    if name := _WORDS.get(text.casefold()):
        return Command(name=name)
    found = _COMMAND.fullmatch(text)
    if found is None:
        return Question(text=text)
    typed, argument = (found[1] or text).casefold(), found[2] or ""
    if typed == "/" and argument:
        # A blank that slipped in: `/ help`.
        word, _, argument = argument.partition(" ")
        typed += word.casefold()
    return _command(text, typed, argument.strip())


def _command(text: str, typed: str, argument: str) -> Command | Question:
    command = _BY_NAME.get(_ALIASES.get(typed, typed))
    if command is None:
        hint = did_you_mean(typed, [*_BY_NAME, "/quit"])
        if argument and not hint:
            return Question(text=text)
        hint = hint or "; /help lists the commands, and a blank before it makes it a question"
        raise InputError(f"no command {named(printable(typed))}{hint}")
    if argument and not command.argument:
        raise InputError(
            f"{command.name} takes no argument; to ask this as a question, begin with a blank"
        )
    unquoted = _unquoted(argument)
    if command.name == "/save" and unquoted == argument and len(argument.split()) > 1:
        raise InputError("/save takes one file; put a name with blanks in quotes")
    return Command(name=command.name, argument=unquoted)


def _unquoted(argument: str) -> str:
    """People quote a file name with blanks, as in a shell."""
    found = _QUOTED.fullmatch(argument)
    return found[2] if found else argument


def help_text(width: int | None = None) -> str:
    """With a width, lines end between words; on a narrow terminal meanings are below the names."""
    from oracle.cli.terminal.tables import wrapped

    left = [f"{command.name} {command.argument}".strip() for command in COMMANDS]
    indent = max(map(len, left)) + 2
    lines: list[str] = []
    for name, command in zip(left, COMMANDS, strict=True):
        if width is None or width >= 2 * indent + 20:
            blank = " " * indent
            lines += wrapped(command.meaning, width, first=f"{name:<{indent}}", rest=blank)
        else:
            lines += [name, *wrapped(command.meaning, width, first="  ", rest="  ")]
    keys = [line for text in KEYS.splitlines() for line in wrapped(text, width, rest="  ")]
    return "\n".join([*lines, "", *keys])
