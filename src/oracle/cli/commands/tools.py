"""`oracle tools`: list all tools, and say which code of a project is trusted."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Annotated

import typer

from oracle.cli.options import JsonOption
from oracle.cli.project import settings_with
from oracle.cli.terminal.output import counted, say, show_json
from oracle.cli.terminal.tables import Column, show_table
from oracle.errors import InputError, did_you_mean

if TYPE_CHECKING:
    from oracle.services.own_code.collecting import Brought
    from oracle.services.own_code.files import CodeFile, CodeFiles
    from oracle.settings import Settings

Row = dict[str, str | list[str]]
COLUMNS = (
    Column("NAME"),
    Column("DOES"),
    Column("TRUSTED", drop=1),
    Column("FROM", cut_to=12),
    Column("FOR", cut_to=12, drop=2),
)

app = typer.Typer(
    help="List the tools of the model, and trust those of a project.", invoke_without_command=True
)
FilesArgument = Annotated[
    list[str] | None, typer.Argument(metavar="[FILE]…", help="Only these files. Default: all.")
]


@app.callback()
def tools(context: typer.Context, json: JsonOption = False) -> None:
    """List all tools: where each comes from, for which questions it is offered, what it does.

    Own tools are in .oracle/tools/*.py of a project that you trust, or in a package.

    Examples:
      oracle tools
      oracle tools trust
      oracle tools untrust
    """
    if context.invoked_subcommand is not None:
        return
    from oracle.cli.terminal.trusting import guard_stdout, say_problems
    from oracle.services.own_code.collecting import load_tools

    settings = settings_with()
    guard_stdout(settings)
    own = load_tools(settings.root)
    rows = [*_built_in(settings), *(_own(each) for each in own.tools), *_files(settings)]
    if json:
        show_json(rows)
    else:
        names = [column.heading.lower() for column in COLUMNS]
        show_table(COLUMNS, ([_cell(row[name]) for name in names] for row in rows))
    say_problems(own.problems)


@app.command()
def trust(files: FilesArgument = None) -> None:
    """Trust the own code of this project, as it is now. A change is asked about again."""
    from oracle.cli.terminal.trusting import guard_stdout, say_problems, trust_notice
    from oracle.services.own_code.collecting import load_tools
    from oracle.services.own_code.trust import remember_trust

    code, chosen = _chosen(files)
    say(trust_notice(code, chosen))
    remember_trust(code, "trusted", [file.name for file in chosen])
    settings = settings_with()
    guard_stdout(settings)
    typer.echo(f"{counted(len(chosen), 'file')} trusted")
    # A mistake in a file is said now, and not only when the first question lacks the tool.
    say_problems(load_tools(settings.root).problems)


@app.command()
def untrust(files: FilesArgument = None) -> None:
    """Do not use the own code of this project any more."""
    from oracle.services.own_code.trust import remember_trust
    from oracle.services.settings.trust import VARIABLE, is_trusted

    code, chosen = _chosen(files)
    remember_trust(code, "refused", [file.name for file in chosen])
    if is_trusted(code.root, code.digest, os.environ.get(VARIABLE, "")):
        raise InputError(
            f"{VARIABLE} still trusts this project, so its code is used; remove it there: "
            f"unset {VARIABLE}"
        )
    typer.echo(f"{counted(len(chosen), 'file')} not trusted")


def _chosen(names: list[str] | None) -> tuple[CodeFiles, list[CodeFile]]:
    """The files that a user names: by path from here or from the root, or by their name alone."""
    from oracle.services.own_code.files import find_code

    root = settings_with().root
    code = None if root is None else find_code(root)
    if code is None or not code.files:
        raise InputError(
            "this project has no own code; put a typed function with @oracle.tool and a docstring "
            "into .oracle/tools/NAME.py"
        )
    if not names:
        return code, list(code.files)
    wanted = {os.path.realpath(name) for name in names} | set(names)
    chosen = [
        file
        for file in code.files
        if not wanted.isdisjoint({str(file.path), file.name, file.path.name, file.module})
    ]
    if not chosen:
        modules = [file.module for file in code.files]
        hint = did_you_mean(names[0], modules) or f"; there is {', '.join(modules)}"
        raise InputError(f"no own code is called {names[0]!r}{hint}")
    return code, chosen


def _built_in(settings: Settings) -> list[Row]:
    from oracle.bt.wrappers.project_agent import tools_of
    from oracle.services.project.root import here

    specs = tools_of(settings, settings.root or here(), os.environ).specs
    return [
        _row(spec.name, "oracle", sorted(spec.query_types), writes=spec.writes, trusted="yes")
        for spec in specs
    ]


def _own(brought: Brought) -> Row:
    own = brought.tool
    return _row(own.name, brought.place, sorted(own.query_types), writes=own.writes, trusted="yes")


def _files(settings: Settings) -> list[Row]:
    """Files with leaves, and files that are not run, so that nobody knows what they have."""
    from oracle.services.own_code.files import find_code
    from oracle.services.own_code.trust import trust_in

    code = None if settings.root is None else find_code(settings.root)
    trust = {} if code is None else trust_in(code, os.environ)
    rows: list[Row] = []
    for name, said in trust.items():
        is_leaf, is_trusted = "/leaves/" in name, said == "trusted"
        if is_leaf or not is_trusted:
            does, types = ("leaves", "trees") if is_leaf else ("?", "?")
            known = {"does": does, "for": types, "trusted": "yes" if is_trusted else "no"}
            rows.append({"name": name.rpartition("/")[2], "from": name, **known})
    return rows


def _row(name: str, place: str, types: list[str], *, writes: bool, trusted: str) -> Row:
    does = "writes" if writes else "reads"
    return {"name": name, "from": place, "for": types, "does": does, "trusted": trusted}


def _cell(value: str | list[str]) -> str:
    return value if isinstance(value, str) else ", ".join(value) or "on request"
