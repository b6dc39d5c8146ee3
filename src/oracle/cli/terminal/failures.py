"""How a command fails: one line on stderr, with the next step, and an exit code.

With `--json` the same text is also an `error` chunk on stdout, for programs that read only that.
"""

from __future__ import annotations

import json
import os
import re
import signal
import sys
from collections.abc import Sequence
from difflib import get_close_matches
from typing import Final

import typer

from oracle.cli.synonyms import known_option, meant_by
from oracle.cli.terminal.output import say, show_traceback, shown_bug, shown_error
from oracle.cli.terminal.safe_text import printable
from oracle.errors import DeveloperError, OracleError

CANNOT_WRITE: Final = 74
_PLAINER: Final = {
    "Value error, ": "",
    "Input should be a valid integer, unable to parse string as an integer": "write a whole number",
    "Input should be a valid number, unable to parse string as a number": "write a number",
    "Input should be ": "it must be ",
    ". Choose from:": "; choose from:",
}
"""Words of the libraries below, which are written for programmers."""
_PLAINER_PATTERNS: Final = {
    r"\. Did you mean (.+)\?$": r" (did you mean \1?)",
    r"\(Possible options?: (.+)\)": r"(did you mean \1?)",
    r"^Got unexpected extra arguments?(?:\(s\))? \((.+)\)": r"there is one word too many: \1",
    # As the errors of `oracle` itself, where no library has read the words yet.
    r"^No such option: (\S+)": r"there is no option '\1'",
    r"^No such command ": "there is no command ",
}
_QUESTION_AS_COMMAND: Final = ("No such command", "Got unexpected extra argument")
_FREE_A_DISK: Final = "; free some space, or write to another place"


def fail(problem: Exception, arguments: Sequence[str]) -> int:
    """Report an exception in the right words, and return the exit code."""
    if isinstance(problem, BrokenPipeError):
        # Whatever still writes to stdout, such as the thread that draws, must not fail again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 128 + signal.SIGPIPE
    text, code = _words(problem, arguments)
    if not text:  # typer has printed the help
        return code
    options = list(arguments)
    own = options[: options.index("--") if "--" in options else None]
    wants_json = "--json" in own or "--format json" in " ".join(own).replace("=", " ")
    # What could not be written to stdout cannot be reported there.
    if wants_json and not isinstance(problem, OSError):
        try:
            print(json.dumps({"type": "error", "turn": 0, "content": text}), flush=True)
        except OSError as unwritable:
            return fail(unwritable, arguments)
    say(text)
    return code


def _words(problem: Exception, arguments: Sequence[str]) -> tuple[str, int]:
    if isinstance(problem, OracleError):
        from oracle.services.project.redaction import redact

        # Cleaned first: an invisible character could split a secret.
        return redact(shown_error(problem)), problem.exit_code
    if isinstance(problem, typer.TyperException):
        _drop_unlike(problem)
        message = problem.format_message()
        # A group without a command. For a terminal, typer has printed the help by now.
        if not message or type(problem).__name__ == "NoArgsIsHelpError":
            print(message, end="\n" if message else "", file=sys.stderr)
            return "", 2
        if not message.startswith("No such option") and (meant := meant_by(arguments)):
            # Without the suggestion of typer, which knows fewer commands.
            text = plainer(printable(message).partition(". ")[0])
            return f"{text}; did you mean `{printable(meant)}`?", 2
        if meant := known_option(str(getattr(problem, "option_name", ""))):
            return f"{plainer(printable(message))}; did you mean `{meant}`?", 2
        command = _command(problem, arguments)
        return usage_error(message, command) + _asking(message, command, arguments), 2
    if isinstance(problem, typer.Abort):
        return "stopped: nothing was changed", OracleError.exit_code
    if isinstance(problem, OSError):
        where = printable(str(problem.filename or "the output"))
        return f"{where}: {problem.strerror}{_step(problem)}", CANNOT_WRITE
    show_traceback(problem)
    return shown_bug(problem), DeveloperError.exit_code


def _command(problem: typer.TyperException, arguments: Sequence[str]) -> str:
    """The command that was misused. A few errors of typer do not say it."""
    context = getattr(problem, "ctx", None)
    if context is not None:
        return str(context.command_path)
    first = arguments[0] if arguments else ""
    return f"oracle {first}" if first.isidentifier() else "oracle"


def _drop_unlike(problem: typer.TyperException) -> None:
    """typer counts the dashes, so it finds `--bogus` similar to `--verbose`."""
    if possible := getattr(problem, "possibilities", None):
        wrong = str(getattr(problem, "option_name", "")).lstrip("-")
        close = get_close_matches(wrong, [name.lstrip("-") for name in possible], n=3)
        problem.__dict__["possibilities"] = [name for name in possible if name.lstrip("-") in close]


def _asking(message: str, command: str, arguments: Sequence[str]) -> str:
    """How to ask, if a question was typed without quotes and begins with a command's name."""
    words = [printable(word) for word in arguments if not word.startswith("-")]
    if words[:1] == ["chat"] and message.startswith(_QUESTION_AS_COMMAND):
        return ". It takes no question: start it, then type"
    if len(words) >= 3 and message.startswith(_QUESTION_AS_COMMAND):
        return f'. To ask a question, put it in quotes: oracle "{" ".join(words)[:60]}"'
    if command == "oracle ask" and len(words) >= 2 and message.startswith("No such option"):
        return ". If it belongs to a question, put the question in quotes"
    return ""


def _step(problem: OSError) -> str:
    from errno import EACCES, EBADF, EDQUOT, ENOSPC, EPERM, EROFS

    if problem.errno in (ENOSPC, EDQUOT):
        return _FREE_A_DISK
    if problem.errno in (EACCES, EPERM, EROFS):
        return "; check its permissions"
    return "; write to a terminal, a pipe or a file" if problem.errno == EBADF else "; try again"


def usage_error(message: str, command: str) -> str:
    """A usage error of typer as one line with the next step.

    >>> usage_error("No such option: --modle (Possible options: --model)", "oracle ask")
    "there is no option '--modle' (did you mean --model?); see `oracle ask --help`"
    """
    return f"{plainer(printable(message))}; see `{command} --help`"


def plainer(message: str) -> str:
    """What typer says, in our words."""
    text = message.removesuffix(".")
    for theirs, ours in _PLAINER.items():
        text = text.replace(theirs, ours)
    for theirs, ours in _PLAINER_PATTERNS.items():
        text = re.sub(theirs, ours, text)
    return f"{text[:1].lower()}{text[1:]}"
