"""`oracle init` and `oracle completion`: set up a project, and set up a shell."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from oracle.errors import InputError

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
    user: Annotated[
        bool, typer.Option("--user", help="Write the user's own file, for all projects.")
    ] = False,
    print_: Annotated[
        bool, typer.Option("--print", help="Print the file to stdout instead of writing it.")
    ] = False,
) -> None:
    """Write an oracle.toml with every setting in comments.

    The file also marks its folder as the root of a project, except with --user.
    """
    from oracle.services.project.root import here
    from oracle.services.settings.resolve import root_of
    from oracle.services.settings.template import made_folder, template, write_new
    from oracle.services.user_files import config_folder

    if user and folder:
        raise InputError("--user has its own folder; leave out the folder or --user")
    if print_:
        print(template(user=user), end="")
        return
    if user:
        written = write_new(made_folder(config_folder()), user=True)
    else:
        written = write_new(folder or root_of(here()) or here())
    print(written)
    typer.echo(NEXT, err=True)


def completion(
    shell: Annotated[Shell, typer.Argument(help="The shell that will read the script.")],
) -> None:
    """Print a completion script for a shell.

    To set up the current shell directly, use oracle --install-completion.
    """
    from oracle.cli.completing import use_our_script

    use_our_script()
    from typer.completion import get_completion_script as script  # pyright: ignore

    print(script(prog_name="oracle", complete_var="_ORACLE_COMPLETE", shell=shell.value))
