"""`oracle init` and `oracle completion`: set up a project, and set up a shell."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

NEXT = """\
next: `oracle doctor` says what is missing, `oracle config` shows every value;
then: oracle ask "where is …?\""""


class Shell(StrEnum):
    BASH = "bash"
    ZSH = "zsh"
    FISH = "fish"
    POWERSHELL = "powershell"


def init(
    folder: Annotated[
        Path | None,
        typer.Argument(
            help="The folder to write to.",
            show_default="the project's root, else the current folder",
        ),
    ] = None,
    print_: Annotated[
        bool, typer.Option("--print", help="Print the file to stdout instead of writing it.")
    ] = False,
) -> None:
    """Write an oracle.toml with every setting in comments.

    The file also marks its folder as the root of a project.
    """
    from oracle.services.project.root import here
    from oracle.services.settings.resolve import root_of
    from oracle.services.settings.template import template, write_new

    if print_:
        print(template(), end="")
        return
    written = write_new(folder or root_of(here()) or here())
    print(written)
    typer.echo(NEXT, err=True)


def completion(
    shell: Annotated[Shell, typer.Argument(help="The shell that will read the script.")],
) -> None:
    """Print a completion script for a shell.

    To set up the current shell directly, use oracle --install-completion.
    """
    from typer.completion import get_completion_script as script  # pyright: ignore

    print(script(prog_name="oracle", complete_var="_ORACLE_COMPLETE", shell=shell.value))
