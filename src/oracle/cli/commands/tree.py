"""`oracle tree`: check tree files and show trees."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from oracle.cli.completing import trees_beginning
from oracle.cli.lazy_commands import ListingGroup
from oracle.cli.options import JsonOption, LeavesOption
from oracle.cli.project import import_leaves, settings_with
from oracle.cli.terminal.output import counted, show_json
from oracle.cli.terminal.safe_text import printable
from oracle.cli.terminal.tables import Column, StyledLine, cut, show_lines, show_table

if TYPE_CHECKING:
    from collections.abc import Mapping

    from oracle.bt.lua.library import TreeLibrary

app = typer.Typer(help="List, check and show trees.", cls=ListingGroup)


AGENT = "oracle-agent"
TreeArgument = Annotated[
    str, typer.Argument(help="The tree's name.", autocompletion=trees_beginning)
]


class Format(StrEnum):
    ASCII = "ascii"
    MERMAID = "mermaid"
    JSON = "json"
    GROOT = "groot"


@app.command("list")
def list_(json: JsonOption = False) -> None:
    """List the trees in use, and the file of each."""
    files = {name: file for name, (file, _) in _sources_in_use().items()}
    if json:
        show_json([{"name": name, "file": file} for name, file in files.items()])
    else:
        show_table((Column("TREE"), Column("FILE", cut_to=12, drop=1)), files.items())


@app.command()
def check(
    paths: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="PATH", help="Tree files, or folders with them. Default: the trees in use."
        ),
    ] = None,
    leaves: LeavesOption = None,
) -> None:
    """Load tree files and check every name, option, key and subtree in them."""
    library = _library(paths or [], leaves or [])
    for name in library:
        alone = library.definitions.get(name)
        if name not in library.misplaced:
            used = "used by others" if alone is None else counted(len(alone), "node")
            print(f"{printable(name)}: {used}")
    for problem in library.misplaced.values():
        raise problem


@app.command()
def show(
    name: TreeArgument = AGENT,
    paths: Annotated[
        list[Path] | None,
        typer.Option(
            "--in", metavar="PATH", help="A tree file or folder. Default: the setting trees.folder."
        ),
    ] = None,
    format_: Annotated[Format, typer.Option("--format", help="Output format.")] = Format.ASCII,
    leaves: LeavesOption = None,
) -> None:
    """Draw a tree; by default that of the agent.

    Examples:
      oracle tree show
      oracle tree show oracle-agent --format mermaid > tree.mmd
    """
    from oracle.bt.render import FORMATS

    library = _library(paths or [], leaves or [])
    drawn = FORMATS[format_.value](library.as_it_stands(name))
    if format_ is Format.ASCII:
        show_lines(lambda width: map(StyledLine, fitted(drawn, width)))
    else:
        print(drawn, end="")


def fitted(drawn: str, width: int | None) -> list[str]:
    """The lines of a drawing. On a narrow terminal the indents are smaller, and lines are cut."""
    lines = drawn.splitlines()
    if width is None:
        return lines
    indents = [len(line) - len(line.lstrip("|`- ")) for line in lines]
    deepest = max(indents, default=0)
    step = 4 if deepest <= width // 2 else 2 if deepest <= width else 1
    return [
        cut(_narrower(line[:indent], step) + line[indent:], width)
        for line, indent in zip(lines, indents, strict=True)
    ]


def _narrower(indent: str, step: int) -> str:
    return "".join(indent[at : at + step] for at in range(0, len(indent), 4))


@app.command()
def source(
    name: TreeArgument,
    own: Annotated[
        bool, typer.Option("--own", help="The tree in use: that of trees.folder, if it has one.")
    ] = False,
) -> None:
    """Print the Lua file of a built-in tree, to make your own from it.

    Examples:
      oracle tree source finish > trees/finish.lua
    """
    from oracle.bt.wrappers.recipe import built_in_trees
    from oracle.errors import NotFound, did_you_mean

    # Own trees may be broken: this is how to get a good one.
    files = _sources_in_use() if own else _by_tree(built_in_trees())
    if name not in files:
        hint = did_you_mean(name, files) or "; `oracle tree list` names all"
        raise NotFound(f"no tree {name!r}{hint}")
    print(files[name][1], end="")


def _sources_in_use() -> dict[str, tuple[str, str]]:
    from oracle.bt.wrappers.own_trees import trees_in_use

    return _by_tree(trees_in_use(settings_with())[0])


def _by_tree(sources: Mapping[str, str]) -> dict[str, tuple[str, str]]:
    """The file of each tree, and its text."""
    from oracle.bt.lua.declarations import declared_trees

    return {
        tree.name: (file, text)
        for file, text in sources.items()
        for tree in declared_trees(text, file)
    }


def _library(paths: list[Path], leaves: list[str]) -> TreeLibrary:
    from oracle.bt.lua.library import TreeLibrary
    from oracle.bt.wrappers.own_trees import trees_in_use

    import_leaves(leaves)
    return TreeLibrary(paths) if paths else TreeLibrary(sources=trees_in_use(settings_with())[0])
