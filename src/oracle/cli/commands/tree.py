"""`oracle tree`: check tree files and show trees."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from oracle.cli.options import LeavesOption
from oracle.cli.project import import_leaves, settings_with
from oracle.cli.terminal.output import counted
from oracle.cli.terminal.safe_text import printable

if TYPE_CHECKING:
    from oracle.bt.lua.library import TreeLibrary

app = typer.Typer(help="Check tree files and show trees.", no_args_is_help=True)


class Format(StrEnum):
    ASCII = "ascii"
    MERMAID = "mermaid"
    JSON = "json"
    GROOT = "groot"


@app.command()
def check(
    paths: Annotated[list[Path], typer.Argument(help="Tree files, or folders with tree files.")],
    leaves: LeavesOption = None,
) -> None:
    """Load tree files and check every name, option, key and subtree in them."""
    library = _library(paths, leaves or [])
    for name in library:
        alone = library.definitions.get(name)
        if name not in library.misplaced:
            used = "used by others" if alone is None else counted(len(alone), "node")
            print(f"{printable(name)}: {used}")
    for problem in library.misplaced.values():
        raise problem


@app.command()
def show(
    name: Annotated[str, typer.Argument(help="The tree's name.")],
    paths: Annotated[
        list[Path] | None,
        typer.Option("--in", help="A tree file or folder. Default: the setting trees.folder."),
    ] = None,
    format_: Annotated[Format, typer.Option("--format", help="Output format.")] = Format.ASCII,
    leaves: LeavesOption = None,
) -> None:
    """Draw a tree."""
    from oracle.bt.render import FORMATS

    library = _library(paths or [], leaves or [])
    print(FORMATS[format_.value](library.as_it_stands(name)), end="")


def _library(paths: list[Path], leaves: list[str]) -> TreeLibrary:
    from oracle.bt.lua.library import TreeLibrary
    from oracle.bt.wrappers.own_trees import trees_in_use

    import_leaves(leaves)
    return TreeLibrary(paths) if paths else TreeLibrary(sources=trees_in_use(settings_with())[0])
