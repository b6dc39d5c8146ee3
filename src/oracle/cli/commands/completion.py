"""`oracle completion`: the script by which a shell completes commands, options and settings."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer


class Shell(StrEnum):
    BASH = "bash"
    ZSH = "zsh"
    FISH = "fish"
    POWERSHELL = "powershell"


def completion(
    shell: Annotated[Shell, typer.Argument(help="The shell that will read it.")],
) -> None:
    """Print a shell's completion script; `--install-completion` sets up the current shell."""
    from typer.completion import get_completion_script as script  # pyright: ignore

    print(script(prog_name="oracle", complete_var="_ORACLE_COMPLETE", shell=shell.value))
