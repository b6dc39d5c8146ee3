"""Options of `ask` whose value may be left out: `--diff [REV]` and `-t [NAME]`.

oracle ask --diff "is this safe?"        the text has blanks: it is the question
oracle ask --diff is this safe           `is` is not a revision: it is the question
oracle ask --diff main "is this safe?"   `main` is a revision
oracle ask --diff=main review            always the revision
oracle ask -t                            no name: the templates are listed
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final

from typer.core import TyperCommand

if TYPE_CHECKING:
    from typer._click import Context  # typer has its own copy of click

_TEMPLATE: Final = ("-t", "--template")


def with_values(arguments: Sequence[str], is_revision: Callable[[str], bool]) -> list[str]:
    """The same arguments, with an empty value where one was left out."""
    given: list[str] = []
    rest = [*arguments]
    while rest:
        argument = rest.pop(0)
        if argument == "--":
            return [*given, argument, *rest]
        if argument == "--diff":
            value = rest.pop(0) if rest and is_revision(rest[0]) else ""
            given.append(f"--diff={value}")
        elif argument in _TEMPLATE and (not rest or rest[0].startswith("-")):
            given.append("--template=")
        else:
            given.append(argument)
    return given


class WithOptionalValues(TyperCommand):
    def parse_args(self, ctx: Context, args: list[str]) -> list[str]:
        # While a shell completes the words, `-t` is followed by the word that is being typed.
        if not ctx.resilient_parsing:
            args = with_values(args, _is_revision)
        parsed: Any = super().parse_args(ctx, args)  # pyright: ignore
        return parsed


def _is_revision(text: str) -> bool:
    from oracle.services.attachments.git_diff import is_revision
    from oracle.services.project.root import here

    return is_revision(text, here())
