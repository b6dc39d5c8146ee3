"""What commands share on their way to a terminal or a pipe."""

from __future__ import annotations

import json
import sys
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

import typer

from oracle.errors import InputError

if TYPE_CHECKING:
    from rich.console import RenderableType

WIDTH_OF_A_PIPE: Final = 1_000


def show(renderable: RenderableType) -> None:
    """Draw on stdout: styled and cut to the width on a terminal, plain and whole in a pipe."""
    from rich.console import Console

    console = Console(highlight=False, markup=False, emoji=False)
    if not console.is_terminal:
        console.width = WIDTH_OF_A_PIPE
    with console.capture() as capture:
        console.print(renderable)
    drawn = "\n".join(line.rstrip() for line in capture.get().splitlines())
    print(drawn.encode(console.encoding, "replace").decode(console.encoding))


def show_json(value: Any) -> None:
    print(json.dumps(value, indent=2))


def printable(text: str) -> str:
    """One line that cannot steer the terminal, whatever a model or a file put into it."""
    return "".join(letter for letter in " ".join(text.split()) if letter.isprintable())


def when(seconds: float) -> str:
    """A time on the clock of the reader."""
    return datetime.fromtimestamp(seconds).astimezone().strftime("%Y-%m-%d %H:%M")


def confirm(question: str, *, yes: bool) -> None:
    """Go on only with a yes: given in advance, or by whoever sits at the terminal."""
    if yes:
        return
    if not sys.stdin.isatty():
        raise InputError("nobody is here to say yes; give --yes to delete without a question")
    typer.confirm(question, abort=True, err=True)


def counted(number: int, noun: str) -> str:
    return f"1 {noun}" if number == 1 else f"{number} {noun}s"
