"""`oracle init`: a first `oracle.toml`, with every setting in it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

NEXT = """\
next: `oracle doctor` says what is missing, `oracle config` shows what counts, and why;
then: oracle ask "where is …?\""""


def init(
    folder: Annotated[
        Path | None,
        typer.Argument(
            help="Where to write it.", show_default="the project's root, else the current folder"
        ),
    ] = None,
    print_: Annotated[
        bool, typer.Option("--print", help="Print it to stdout instead of writing a file.")
    ] = False,
) -> None:
    """Write a commented oracle.toml, which also marks the root of a project."""
    from oracle.services.project.root import here
    from oracle.services.settings.resolve import root_of
    from oracle.services.settings.template import template, write_new

    if print_:
        print(template(), end="")
        return
    written = write_new(folder or root_of(here()) or here())
    print(written)
    typer.echo(NEXT, err=True)
