"""`oracle tree`: check tree files and show trees."""

from __future__ import annotations

import importlib
import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from oracle.errors import InputError

if TYPE_CHECKING:
    from oracle.bt.lua.library import TreeLibrary

app = typer.Typer(help="Check tree files and show trees.", no_args_is_help=True)

LeavesOption = Annotated[
    list[str] | None,
    typer.Option(
        "--leaves",
        help="A module, or a .py file, that registers leaves of your own.",
        metavar="MODULE",
    ),
]


BUILT_IN_TREES = Path(__file__).parents[1] / "bt" / "trees"


class Format(StrEnum):
    ASCII = "ascii"
    MERMAID = "mermaid"
    JSON = "json"
    GROOT = "groot"


@app.command()
def check(
    paths: Annotated[list[Path], typer.Argument(help="Tree files, or folders of them.")],
    leaves: LeavesOption = None,
) -> None:
    """Load tree files and check every name, option, key and subtree in them."""
    library = _library(paths, leaves or [])
    for name in library:
        alone = library.definitions.get(name)
        print(f"{name}: {'checked where it stands' if alone is None else _counted(len(alone))}")


@app.command()
def show(
    name: Annotated[str, typer.Argument(help="The tree's name.")],
    paths: Annotated[
        list[Path] | None,
        typer.Option("--in", help="A tree file or folder; the built-in trees if not given."),
    ] = None,
    format_: Annotated[Format, typer.Option("--format", help="How to draw it.")] = Format.ASCII,
    leaves: LeavesOption = None,
) -> None:
    """Draw a tree."""
    from oracle.bt.render import FORMATS

    print(FORMATS[format_.value](_library(paths or [], leaves or [])[name]), end="")


def _library(paths: list[Path], leaves: list[str]) -> TreeLibrary:
    from oracle.bt.lua.library import TreeLibrary

    for module in leaves:
        _import_leaves(module)
    return TreeLibrary(paths or [BUILT_IN_TREES])


def _import_leaves(module: str) -> None:
    """Import what the user named: their own code, which may do and fail as it likes."""
    is_file = module.endswith(".py")
    sys.path.insert(0, str(Path(module).parent.absolute()) if is_file else "")
    try:
        importlib.import_module(Path(module).stem if is_file else module)
    except Exception as problem:
        raise InputError(f"--leaves {module}: {type(problem).__name__}: {problem}") from problem


def _counted(nodes: int) -> str:
    return "1 node" if nodes == 1 else f"{nodes} nodes"
