"""The user's own leaves, for commands that load trees."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import Annotated

import typer

from oracle.errors import InputError

LeavesOption = Annotated[
    list[str] | None,
    typer.Option(
        "--leaves",
        help="A module, or a .py file, that registers leaves of your own.",
        metavar="MODULE",
    ),
]


def import_leaves(modules: list[str]) -> None:
    """Register our own leaves, and those of the user, whose code may fail in any way."""
    from oracle.bt.wrappers.recipe import import_our_leaves

    import_our_leaves()
    for module in modules:
        is_file = module.endswith(".py")
        sys.path.insert(0, str(Path(module).parent.absolute()) if is_file else "")
        try:
            importlib.import_module(Path(module).stem if is_file else module)
        except Exception as problem:
            raise InputError(f"--leaves {module}: {type(problem).__name__}: {problem}") from problem
