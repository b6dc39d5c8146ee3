"""Words in `--help` that people know: `RUN` and `N`, and nothing after an option without a value.

typer shows the types of Python instead: `{RUN}`, `<str>`, `<bool>`. It has no setting for that, so
its methods are replaced. One that a version of typer does not have is left alone.
"""

from __future__ import annotations

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
