"""What a command takes from the project: its settings, its database, and the user's own leaves.

Each function imports what it needs when it is called, so that `--help` stays quick.
"""

from __future__ import annotations

import sys
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from oracle.cli.terminal.output import say
from oracle.cli.terminal.safe_text import printable
from oracle.errors import InputError
from oracle.regular_file import check_regular

if TYPE_CHECKING:
    from oracle.services.storage.addresses import Address
    from oracle.services.storage.database import Database
    from oracle.settings import Settings

Result = TypeVar("Result")


def settings_with(flags: Mapping[str, object] | None = None) -> Settings:
    """Load the settings and print their warnings to stderr.

    `flags` are the values from the command line, by the name of the setting. They win.
    """
    from oracle.settings import load_settings

    settings = load_settings(flags=flags)
    for warning in settings.warnings:
        say(f"warning: {printable(warning)}")
    return settings


def project_listed(every: bool) -> str | None:
    """The project, or the folder outside of projects, whose sessions and runs are listed; None for
    those of all.
    """
    from oracle.services.project.root import project_name
    from oracle.settings import load_settings

    return None if every else project_name(load_settings().root)


def project_of(typed: str) -> str | None:
    """The project in which `last` is looked for; None for an id, which needs no project."""
    return project_listed(False) if typed.lower() == "last" else None


def with_database(work: Callable[[Database], Awaitable[Result]]) -> Result:
    """Open the project's database for one piece of work."""
    from oracle.services.background import run_async
    from oracle.services.storage.database import Database
    from oracle.settings import load_settings

    url = _stored_at(load_settings())

    async def run() -> Result:
        async with await Database.open(url) as database:
            return await work(database)

    return run_async(run())


def _stored_at(settings: Settings) -> Address:
    """Outside of projects there is a database as soon as something was asked."""
    from oracle.services.project.root import here
    from oracle.services.storage.database import default_url
    from oracle.services.storage.naming import ASK_FIRST

    try:
        return default_url(settings)
    except InputError:
        if settings.root is not None or settings.database.url is not None:
            raise
        raise InputError(
            f"{here()} is not in a project, and nothing was asked outside of projects yet; go to a "
            f"project, make one with `oracle init`, or {ASK_FIRST}"
        ) from None


def import_leaves(modules: list[str]) -> None:
    """Register the built-in leaves, those of the project and of packages, and those of the given
    modules or .py files.
    """
    import importlib

    from oracle.bt.wrappers.own_trees import register_leaves
    from oracle.bt.wrappers.recipe import import_our_leaves
    from oracle.cli.terminal.trusting import guard_stdout, say_problems
    from oracle.services.own_code.importing import said
    from oracle.settings import load_settings

    import_our_leaves()
    settings = load_settings()
    guard_stdout(settings)
    say_problems(register_leaves(settings))
    for module in modules:
        is_file = module.endswith(".py")
        # The rest of the user's code must be importable too: it is next to the file, or, for a
        # module, in the working directory.
        sys.path.insert(0, str(Path(module).parent.absolute()) if is_file else "")
        try:
            if is_file:
                check_regular(module)
            importlib.import_module(Path(module).stem if is_file else module)
        except Exception as problem:  # user code can fail in any way
            raise InputError(
                f"--leaves {module}: {said(problem)}; check the name, and that Python can import it"
            ) from problem
