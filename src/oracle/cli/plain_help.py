"""Words in `--help` that people know: `RUN` and `N`, and nothing after an option without a value.
In a pipe, lines without boxes: they can be searched and copied.

typer shows the types of Python instead: `{RUN}`, `<str>`, `<bool>`. It has no setting for that, so
its methods are replaced. One that a version of typer does not have is left alone.
"""

from __future__ import annotations

import inspect
import sys
from itertools import groupby
from textwrap import wrap
from typing import Any, Final

from typer import core

_PLACEHOLDERS: Final = {"str": "TEXT", "path": "PATH", "int": "N", "float": "N"}


def use_plain_help() -> None:
    """To be called before help or an error of usage is printed."""
    argument: Any = core.TyperArgument
    option: Any = core.TyperOption
    if not hasattr(option, "display_type_rich"):
        return
    shown_by_typer = option.display_type

    def value_of_option(self: Any, ctx: Any) -> str | None:
        if self.metavar is not None or self.is_flag or self.count:
            return self.metavar
        return _placeholder(str(shown_by_typer(self, ctx)))

    option.display_type_rich = value_of_option
    # The name of an argument says what it is. Its type adds nothing.
    argument.display_type_rich = lambda _self, ctx: None  # pyright: ignore[reportUnknownLambdaType]
    argument.display_name_raw = property(_name_of_argument)
    argument._usage_display_name = _usage_of_argument
    if not sys.stdout.isatty():
        _use_no_boxes()


def _use_no_boxes() -> None:
    command: Any = core.TyperCommand
    group: Any = core.TyperGroup
    core.HAS_RICH = False
    command.format_help_text = group.format_help_text = _write_lines
    group.format_commands = _write_commands


def _write_lines(self: Any, ctx: Any, formatter: Any) -> None:
    """Each line of the text is a line of the help, as on a terminal: examples stay examples."""
    formatter.write_paragraph()
    for line in inspect.cleandoc(self.help or "").splitlines():
        indented = "  " + line[: len(line) - len(line.lstrip())]
        lines = wrap(line, formatter.width, initial_indent="  ", subsequent_indent=indented)
        formatter.write("".join(f"{part}\n" for part in lines or [""]))


def _write_commands(self: Any, ctx: Any, formatter: Any) -> None:
    listed = [(name, self.get_command(ctx, name)) for name in self.list_commands(ctx)]
    for heading, group in groupby(listed, key=lambda row: row[1].rich_help_panel):
        rows = [(name, command.get_short_help_str(200)) for name, command in group]
        with formatter.section(heading if isinstance(heading, str) else "Commands"):
            formatter.write_dl(rows)


def _placeholder(shown: str) -> str:
    """>>> _placeholder("<list[Path]>"), _placeholder("<int range>"), _placeholder("<a|b>")
    ('PATH', 'N', 'a|b')
    """
    shown = shown.strip("<>").removeprefix("list[").removesuffix("]")
    return _PLACEHOLDERS.get(shown.lower().split()[0], shown)


def _name_of_argument(self: Any) -> str:
    return self.metavar or str(self.name).upper()


def _usage_of_argument(self: Any) -> str:
    name = self.display_name_raw if self.required else f"[{self.display_name_raw}]"
    return name if self.nargs == 1 else f"{name}..."
