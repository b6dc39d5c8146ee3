"""`oracle config`: each setting, its value, and where that comes from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from oracle.cli.terminal.terminal import printable, show, show_json

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.table import Table

    from oracle.settings import Settings

NOT_SET = "not set"


def names_beginning(incomplete: str) -> list[tuple[str, str]]:
    """For the shell: settings and sections, with their meaning. Typing must not wait for more."""
    from oracle.settings import SECTIONS, SETTINGS

    named = [(row.name, row.meaning) for row in SETTINGS.values()]
    sections = [(section, f"all of [{section}]") for section in SECTIONS]
    return [pair for pair in [*sections, *named] if pair[0].startswith(incomplete)]


def config(
    name: Annotated[
        str | None,
        typer.Argument(
            help="Only this setting, such as limits.turns, or this section.",
            autocompletion=names_beginning,
            show_default=False,
        ),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON, for programs.")] = False,
) -> None:
    """Show each setting, its value, and where that comes from."""
    from oracle.cli.settings import settings_with

    names = chosen(name)
    settings = settings_with()
    if json:
        show_json([as_object(settings, each) for each in names])
    elif name is not None and name in names:
        print(as_text(settings, name))
        typer.echo(f"oracle: {name} comes from: {settings.origins[name]}", err=True)
    else:
        show(settings_table(settings, names))


def chosen(name: str | None) -> Sequence[str]:
    """All names, those of a section, or the one."""
    from oracle.settings import SECTIONS, SETTINGS, setting_named

    if name is None:
        return list(SETTINGS)
    if name in SECTIONS:
        return [row.name for row in SETTINGS.values() if row.section == name]
    return [setting_named(name).name]


def as_object(settings: Settings, name: str) -> dict[str, Any]:
    from oracle.settings import SETTINGS

    row, origin = SETTINGS[name], settings.origins[name]
    return {
        "name": name,
        "value": settings.shown(name),
        "source": origin.source,
        "place": origin.place,
        "default": row.default,
        "variable": row.variable,
        "meaning": row.meaning,
    }


def as_text(settings: Settings, name: str) -> str:
    """The bare value; nothing where nothing is set."""
    from oracle.services.settings.value_types import OFF

    value = settings.shown(name)
    if value is None:
        return OFF if settings.origins[name].source != "default" else ""
    return printable(str(value))


def settings_table(settings: Settings, names: Sequence[str]) -> Table:
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("SETTING", no_wrap=True)
    table.add_column("VALUE", overflow="fold")
    table.add_column("FROM", overflow="fold")
    for name in names:
        style = "dim" if settings.origins[name].source == "default" else ""
        value = as_text(settings, name) or NOT_SET
        table.add_row(name, Text(value), Text(str(settings.origins[name])), style=style)
    return table
