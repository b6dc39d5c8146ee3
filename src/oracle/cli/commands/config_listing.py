"""Settings as `oracle config` shows them: a table, lines, JSON, or one value."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, cast

from oracle.cli.terminal.safe_text import printable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console, ConsoleOptions, RenderResult
    from rich.table import Table
    from rich.text import Text

    from oracle.settings import Settings

NOT_SET: Final = "not set"
NARROW: Final = 60


def as_object(settings: Settings, name: str) -> dict[str, Any]:
    from oracle.settings import setting_named

    row, origin = setting_named(name), settings.origins[name]
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
    """The value alone, empty if the setting is not set. A text has no quotes, for scripts; all
    else is written as in the file, so that it can be given to `oracle config set`.
    """
    from oracle.services.settings.template import as_toml
    from oracle.services.settings.value_types import OFF

    value = settings.shown(name)
    if value is None:
        return OFF if settings.origins[name].source != "default" else ""
    if isinstance(value, list):
        value = tuple(cast("list[str]", value))
    return printable(as_toml(value) if isinstance(value, bool | tuple) else str(value))


class SettingsListing:
    """A table, or lines on a terminal that is too narrow for three columns."""

    def __init__(self, settings: Settings, names: Sequence[str]) -> None:
        self._settings = settings
        self._names = names

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        if options.max_width < NARROW:
            yield from (self._line(name) for name in self._names)
        else:
            yield self._table()

    def _line(self, name: str) -> Text:
        from rich.text import Text

        _, value, place = self._cells(name)
        from_ = "" if self._style(name) else f" ({place})"
        return Text(f"{name} = {value}{from_}", style=self._style(name))

    def _table(self) -> Table:
        from rich.table import Table

        table = Table(box=None, pad_edge=False, header_style="bold")
        table.add_column("SETTING", no_wrap=True)
        table.add_column("VALUE", overflow="fold")
        table.add_column("FROM", overflow="fold")
        for name in self._names:
            table.add_row(*self._cells(name), style=self._style(name))
        return table

    def _cells(self, name: str) -> tuple[str, Text, Text]:
        from rich.text import Text

        value = as_text(self._settings, name) or NOT_SET
        return name, Text(value), Text(printable(str(self._settings.origins[name])))

    def _style(self, name: str) -> str:
        return "dim" if self._settings.origins[name].source == "default" else ""
