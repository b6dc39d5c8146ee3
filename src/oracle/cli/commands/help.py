"""`oracle help [COMMAND…]`: the same text as `oracle COMMAND --help`."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from oracle.cli.completing import commands_beginning
from oracle.errors import InputError, did_you_mean, named


def help_(
    context: typer.Context,
    command: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="COMMAND",
            help="A command, such as: sessions show.",
            autocompletion=commands_beginning,
        ),
    ] = None,
) -> None:
    """Explain a command, or list all of them.

    Examples:
      oracle help
      oracle help ask
      oracle help sessions show
    """
    shown: Any = context.parent
    for word in command or ():
        below: dict[str, Any] = getattr(shown.command, "commands", {})
        found = shown.command.get_command(shown, word) if below else None
        if found is None:
            asked = " ".join(command or ())
            step = f'to ask a question, put it in quotes: oracle "help {asked[:60]}"'
            hint = did_you_mean(word, below, step=step)
            path = f"{shown.command_path} {word}".removeprefix("oracle ")
            raise InputError(f"there is no command {named(path)}{hint}")
        shown = type(shown)(found, info_name=word, parent=shown)
    typer.echo(shown.get_help())
