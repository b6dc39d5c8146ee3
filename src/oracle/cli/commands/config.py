"""`oracle config`: every setting with its value, and where the value comes from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from oracle.cli.options import JsonOption
from oracle.cli.project import settings_with
from oracle.cli.terminal.output import show, show_json
from oracle.cli.terminal.safe_text import printable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.table import Table

    from oracle.settings import Settings

NOT_SET = "not set"


def names_beginning(incomplete: str) -> list[tuple[str, str]]:
    """Completions for the shell: settings and sections with their meaning.

    It reads no file, because a broken settings file must not break completion.
    """
    from oracle.settings import SECTIONS, SETTINGS

    named = [(row.name, row.meaning) for row in SETTINGS.values()]
    sections = [(section, f"all of [{section}]") for section in SECTIONS]
    return [pair for pair in [*sections, *named] if pair[0].startswith(incomplete)]


def config(
    name: Annotated[
        str | None,
        typer.Argument(
            help="A setting, such as limits.turns, or a section, such as limits.",
            autocompletion=names_beginning,
            show_default=False,
        ),
    ] = None,
    json: JsonOption = False,
) -> None:
    """Show the settings, their values and where these come from."""
    names = chosen(name)
    settings = settings_with()
    if json:
        show_json([as_object(settings, each) for each in names])
    elif name is not None and name in names:
        print(as_text(settings, name))
        typer.echo(f"oracle: {name} comes from: {printable(str(settings.origins[name]))}", err=True)
    else:
        show(settings_table(settings, names))


def chosen(name: str | None) -> Sequence[str]:
    """The names of all settings, of those in a section, or of one."""
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
    """The value alone; empty if the setting is not set."""
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
        table.add_row(name, Text(value), Text(printable(str(settings.origins[name]))), style=style)
    return table
