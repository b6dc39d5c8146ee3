"""Decides whether the arguments of `oracle` are a command or a question.

    oracle "where is the login?"      one argument with blanks is a question
    oracle where is the login         several words are one, if the first is not close to a command
    oracle modls                      close to a command: an error that suggests it
    oracle login                      one unknown word: an error that says how to ask
    oracle login?                     one word with a question mark is a question, also `runs?`
    git diff | oracle explain         with piped text one word is a question
    oracle "-h does what?"            an argument with blanks is never an option
    oracle -f a.py explain            an option that only `ask` has makes it a question

The name of a command always wins, also before more words. `oracle -- runs` asks "runs".
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, Final

from typer.core import TyperGroup

from oracle.cli.synonyms import known_command, known_option
from oracle.errors import InputError, named
from oracle.patterns import lazy_pattern

if TYPE_CHECKING:
    from typer._click import Context  # typer has its own copy of click

ASK: Final = "ask"
OF_THE_ROOT: Final = frozenset(
    ["-h", "--help", "-V", "--version", "--install-completion", "--show-completion"]
)
TAKES_VALUE: Final = frozenset(
    [
        "-m",
        "--model",
        "--max-turns",
        "--max-cost",
        "--timeout",
        "--session",
        "-f",
        "--file",
        "-t",
        "--template",
        "--set",
    ]
)
"""Options of `ask` that have a value as their next argument."""
FLAGS: Final = frozenset(
    [
        "--json",
        "--trace",
        "--dry-run",
        "-y",
        "--yes",
        "-q",
        "--quiet",
        "-v",
        "--verbose",
        "-vv",
        "--diff",
    ]
)
ATTACHING: Final = frozenset(["-f", "--file", "--diff", "-t", "--template", "--set"])
ONLY_FOR_QUESTIONS: Final = ATTACHING | {"--session", "--max-turns", "--max-cost", "--timeout"}
LONG_NAME: Final = 7
"""A command of this length is recognised with two wrong letters; a shorter one with one."""

# English words that begin questions and are one letter away from a command.
_ORDINARY: Final = frozenset(
    ["what", "that", "as", "task", "tasks", "unit", "three", "there", "free", "true", "ran", "sun"]
)
_ASKING: Final = frozenset(
    ["what", "why", "how", "where", "when", "who", "whose", "which", "is", "are", "does", "do"]
) | frozenset(["can", "could", "should", "explain", "describe", "show", "find", "compare"])
"""Words that begin a question, so that "what is why?" is never suggested."""
_ENDS: Final = "!.,;:"
_NUMBER: Final = lazy_pattern(r"-\d[\d.,]*\W*")


def routed(typed: Sequence[str], commands: Collection[str], *, is_piped: bool = False) -> list[str]:
    """The arguments with `ask` in front if they are a question.

    Raises `InputError` if the first word is close to a command, or if it is a single unknown word
    without piped text.
    """
    arguments = _with_dashes_as_words(typed)
    place = _place_of_first_word(arguments)
    if place is None:
        return _with_options_only(arguments, commands)
    options, word = [*arguments[:place]], arguments[place]
    rest = [*arguments[place + 1 :]]
    # `oracle --diff index "is it safe?"`: `index` is a branch, because no command has --diff.
    is_attaching = any(_name_of(option) in ATTACHING for option in options)
    if word == "--":
        return [ASK, *arguments]
    if word in commands and (not is_attaching or word in (ASK, "chat")):
        # `oracle --json runs`: people put options first too.
        return [word, *options, *(rest if word == ASK else typed[place + 1 :])]
    if is_attaching or any(letter.isspace() for letter in word) or word in ("", "-"):
        return [ASK, *arguments]
    if word.endswith("?"):
        return [ASK, *arguments]
    if known := known_command(word, rest):
        raise InputError(f"there is no command {named(word)}; did you mean `{known}`?")
    near = None if word.lower() in _ORDINARY else close_command(word, commands)
    if near:
        raise InputError(
            f"there is no command {named(word)}; did you mean {near!r}? "
            f'To ask a question, put it in quotes: oracle "{word[:40]} …?"'
        )
    if not is_piped and not _words_in(rest) and _is_single_word(word, arguments):
        asking = f"{word} …?" if word.lower() in _ASKING else f"what is {word[:40].rstrip(_ENDS)}?"
        raise InputError(
            f"there is no command {named(word)}; `oracle --help` lists them. "
            f'To ask about it, write a question: oracle "{asking}"'
        )
    return [ASK, *arguments]


def _with_dashes_as_words(typed: Sequence[str]) -> list[str]:
    """A blank in front of what begins with a dash and cannot be an option: `-1`, `-h does what?`.

    The parser takes nothing that begins with a blank for an option, and `ask` removes it again.
    """
    given: list[str] = []
    is_value = False
    for number, argument in enumerate(typed):
        if argument == "--":
            return [*given, *typed[number:]]
        # The first argument is not a word of a question if it has no blanks.
        can_be_number = bool(given) and _NUMBER.fullmatch(argument)
        is_word = not is_value and (can_be_number or _has_blanks_after_dash(argument))
        given.append(f" {argument}" if is_word else argument)
        is_value = not is_value and argument in TAKES_VALUE
    return given


def _has_blanks_after_dash(argument: str) -> bool:
    """Not `--model=a b` and `-fa b.py`, which are options with a value."""
    first, *more = argument.split(maxsplit=1)[:2] or [""]
    has_value = "=" in first or first[:2] in TAKES_VALUE
    return argument.startswith("-") and bool(more) and not has_value


def close_command(word: str, commands: Collection[str]) -> str | None:
    """The command that was probably meant: few wrong letters, other case, or its beginning."""
    # A word of any length may come from the command line; no command has more letters.
    typed = word.lower()[:40]
    near = [(_distance(typed, name), name) for name in commands]
    found = [
        (wrong, name)
        for wrong, name in near
        if wrong <= (2 if len(name) >= LONG_NAME else 1) and wrong < len(typed) - 1
    ]
    if found:
        return min(found)[1]
    beginnings = [name for name in commands if len(typed) >= 3 and name.startswith(typed)]
    return min(beginnings) if beginnings else None


def _place_of_first_word(arguments: Sequence[str]) -> int | None:
    """None if there are only options, or if an option of `oracle` itself comes before any word."""
    place = 0
    while place < len(arguments):
        argument = arguments[place]
        name = _name_of(argument)
        if argument == "--" or not argument.startswith("-") or argument == "-":
            return place
        if name in OF_THE_ROOT or not _is_of_ask(name):
            return None
        place += 2 if argument in TAKES_VALUE else 1
    return None


def _with_options_only(arguments: Sequence[str], commands: Collection[str]) -> list[str]:
    """`oracle --diff` is for `ask`, which says that the question is missing."""
    first = _name_of(arguments[0]) if arguments else ""
    if first in ("-h", "--help") and arguments[1:2] and arguments[1] in commands:
        return ["help", *(word for word in arguments[1:] if not word.startswith("-"))]
    if _is_of_ask(first):
        return [ASK, *arguments]
    if first.startswith("-") and first not in OF_THE_ROOT:
        hint = _similar_option(first)
        see = " See" if hint else "; see"
        raise InputError(f"there is no option {named(first)}{hint}{see} `oracle ask --help`")
    return [*arguments]


def _similar_option(wrong: str) -> str:
    if known := known_option(wrong):
        return f"; did you mean `{known}`?"
    # Without the dashes, which would make `--list` similar to `--set`.
    names = [name[2:] for name in (*OF_THE_ROOT, *TAKES_VALUE, *FLAGS) if name.startswith("--")]
    close = get_close_matches(wrong[:40].lstrip("-"), names, n=1)
    return f"; did you mean '--{close[0]}'?" if close else ""


def _is_of_ask(name: str) -> bool:
    # `-fa.py` and `-vq` are short options with a value, or several in one.
    is_short = name[:1] == "-" and name[1:2] not in ("-", "")
    return name in TAKES_VALUE | FLAGS or (is_short and name[:2] in TAKES_VALUE | FLAGS)


def _name_of(option: str) -> str:
    is_short = option[:1] == "-" and option[1:2] != "-"
    return option[:2] if is_short and option[:2] in TAKES_VALUE else option.partition("=")[0]


def _words_in(arguments: Sequence[str]) -> bool:
    """Whether there is a word besides the options and their values."""
    is_value = False
    for argument in arguments:
        if not is_value and not argument.startswith("-"):
            return True
        is_value = argument in TAKES_VALUE
    return False


def _is_single_word(word: str, arguments: Sequence[str]) -> bool:
    """Chinese and Japanese have no blanks, so a word with such letters may be a whole question."""
    has_option = any(_name_of(each) in ONLY_FOR_QUESTIONS for each in arguments)
    return word.isascii() and not has_option


def _distance(one: str, other: str) -> int:
    """How many letters are wrong, missing, too many, or swapped with the next one."""
    before: list[int] = []
    last = [*range(len(other) + 1)]
    for row, letter in enumerate(one, start=1):
        current = [row]
        for column, wanted in enumerate(other, start=1):
            cost = min(last[column] + 1, current[-1] + 1, last[column - 1] + (letter != wanted))
            if row > 1 and column > 1 and one[row - 2] == wanted and other[column - 2] == letter:
                cost = min(cost, before[column - 2] + 1)
            current.append(cost)
        before, last = last, current
    return last[-1]


class QuestionOrCommand(TyperGroup):
    """`oracle` itself: puts `ask` in front of a question, also for the completion of its words."""

    def parse_args(self, ctx: Context, args: list[str]) -> list[str]:
        from oracle.cli.terminal.stdin_text import is_piped

        commands = self.list_commands(ctx)  # pyright: ignore
        if ctx.resilient_parsing:
            args = _routed_or_as_given(args, commands)
        elif args:
            args = routed(args, commands, is_piped=is_piped())
        elif is_piped():
            raise InputError(
                'a question is missing; to ask about piped text: … | oracle "what is this?"'
            )
        parsed: Any = super().parse_args(ctx, args)  # pyright: ignore
        return parsed


def _routed_or_as_given(arguments: list[str], commands: Collection[str]) -> list[str]:
    """While the user still types, one unknown word is the beginning of a question."""
    try:
        return routed(arguments, commands)
    except InputError:
        place = _place_of_first_word(arguments) or 0
        is_near = close_command(arguments[place], commands) is not None
        return arguments if is_near else [ASK, *arguments]
