"""Options of `ask` whose value may be left out: `--diff [REV]` and `-t [NAME]`.

oracle ask --diff "is this safe?"        the text has blanks: it is the question
oracle ask --diff is this safe           `is` is not a revision: it is the question
oracle ask --diff main "is this safe?"   `main` is a revision
oracle ask --diff mian "is this safe?"   an error: git knows no revision `mian`
oracle ask --diff=main review            always the revision
oracle ask -t                            no name: the templates are listed
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final

from typer.core import TyperCommand

from oracle.errors import InputError, named

if TYPE_CHECKING:
    from typer._click import Context  # typer has its own copy of click

_TEMPLATE: Final = ("-t", "--template")
_WITH_VALUES: Final = (
    *("-f", "--file", "-m", "--model", "--set", "--session", *_TEMPLATE),
    *("--max-turns", "--max-cost", "--timeout"),
)


def with_values(arguments: Sequence[str], is_revision: Callable[[str], bool]) -> list[str]:
    """The same arguments, with an empty value where one was left out."""
    given: list[str] = []
    rest = [*arguments]
    while rest:
        argument = rest.pop(0)
        if argument == "--":
            return [*given, argument, *rest]
        if argument == "--diff":
            is_given = bool(rest) and is_revision(rest[0])
            if rest and not is_given:
                _check_not_misspelt(rest[0], before=given, after=rest[1:])
            given.append(f"--diff={rest.pop(0) if is_given else ''}")
        elif argument in _TEMPLATE and (not rest or rest[0].startswith("-")):
            given.append("--template=")
        else:
            given.append(argument)
    return given


def _check_not_misspelt(word: str, *, before: Sequence[str], after: Sequence[str]) -> None:
    """A single word next to a question in quotes is no part of that question."""
    if _has_blanks(word) or word.startswith("-"):
        return
    is_after = bool(after) and _has_blanks(after[0])
    is_before = bool(before) and _has_blanks(before[-1]) and not before[-1].startswith("-")
    # The text before may be the value of an option: `-f "my file.py"`.
    is_before = is_before and not (len(before) > 1 and before[-2] in _WITH_VALUES)
    is_before = is_before and (not after or after[0].startswith("-"))
    if is_after or is_before:
        raise InputError(
            f"git knows no revision {named(word)}; check it, or if it belongs to the question, "
            "put the question in one pair of quotes"
        )


def _has_blanks(text: str) -> bool:
    return any(letter.isspace() for letter in text)


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
