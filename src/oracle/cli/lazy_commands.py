"""Commands that are imported when they are called, so that starting one does not load the others.

A table names each command, where its function is, and one line of help. The help and the completion
of the root need no more than that table. Everything else is typer's.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, MutableMapping
from copy import copy
from importlib import import_module
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

from oracle.lazy_dataclass import dataclass


@dataclass(frozen=True)
class LazyCommand:
    """A command of the root. `place` is `module:name`, where the name is that of a function, or of
    a `typer.Typer` for a command with subcommands. `help` is the first line of the command's help,
    `group` the heading that it is listed under. `kind` replaces typer's own class of a command.
    """

    name: str
    place: str
    help: str
    group: str
    kind: type[TyperCommand] | None = None

    def load(self) -> Any:
        module, _, name = self.place.partition(":")
        found = getattr(import_module(module), name)
        inner = typer.Typer(add_completion=False)
        if isinstance(found, typer.Typer):
            inner.add_typer(found, name=self.name)
        else:
            # The callback makes typer build a group, even for a single command.
            inner.callback()(lambda: None)
            inner.command(self.name, cls=self.kind)(found)
        command: Any = typer.main.get_group(inner).commands[self.name]
        command.rich_help_panel = self.group
        return command


class CommandMap(MutableMapping[str, Any]):
    """Commands by name, in the order of the table. Each is loaded when it is looked up."""

    def __init__(self, table: Mapping[str, LazyCommand], others: Mapping[str, Any]) -> None:
        self._table = table
        self._loaded = dict(others)

    def __getitem__(self, name: str) -> Any:
        if name not in self._loaded:
            self._loaded[name] = self._table[name].load()
        return self._loaded[name]

    def __setitem__(self, name: str, command: Any) -> None:
        self._loaded[name] = command

    def __delitem__(self, name: str) -> None:
        raise TypeError(f"{name!r} cannot be removed: commands are only added")

    def __iter__(self) -> Iterator[str]:
        return iter(dict.fromkeys((*self._table, *self._loaded)))

    def __contains__(self, name: object) -> bool:
        return name in self._table or name in self._loaded

    def __len__(self) -> int:
        return len({*self._table, *self._loaded})


class ListingGroup(TyperGroup):
    """A group whose command `list` is also called by the group's name alone: `oracle keys`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        first = args[0] if args else ""
        if not ctx.resilient_parsing and first not in ("-h", "--help"):
            args = ["list", *args] if first.startswith("-") or not first else args
        parsed: list[str] = super().parse_args(ctx, args)
        return parsed


class LazyGroup(TyperGroup):
    """The root. A subclass sets `table`."""

    table: Mapping[str, LazyCommand] = {}

    def __init__(self, *, commands: Any = None, **attributes: Any) -> None:
        super().__init__(commands={}, **attributes)
        self.commands = CommandMap(self.table, commands or {})

    def list_commands(self, ctx: Any) -> list[str]:
        # Typer's own asks for each command as well, which would load it.
        return list(self.commands)

    def format_help(self, ctx: Any, formatter: Any) -> None:
        TyperGroup.format_help(self._listing(), ctx, formatter)

    def shell_complete(self, ctx: Any, incomplete: str) -> list[Any]:
        listing = copy(ctx)
        listing.command = self._listing()
        return TyperGroup.shell_complete(listing.command, listing, incomplete)

    def _listing(self) -> LazyGroup:
        """A copy of this group that lists names and help, but cannot call anything."""
        listing = copy(self)
        listing.commands = {
            name: TyperCommand(
                name=name, help=self.table[name].help, rich_help_panel=self.table[name].group
            )
            if name in self.table
            else self.commands[name]
            for name in self.commands
        }
        return listing
