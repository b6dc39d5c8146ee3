"""Options that several commands share, and the values made from them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Final

import typer

from oracle.cli.completing import sessions_beginning
from oracle.errors import InputError

if TYPE_CHECKING:
    from oracle.cli.terminal.progress import Volume
    from oracle.cli.terminal.screen import AskOptions
    from oracle.settings import Settings

_VOLUMES: Final[Sequence[Volume]] = ("normal", "verbose", "everything")

ModelOption = Annotated[
    str | None,
    typer.Option(
        "--model", "-m", metavar="NAME", help="Model to use, such as sonnet; see oracle models."
    ),
]
TurnsOption = Annotated[
    str | None,
    typer.Option("--max-turns", metavar="N", help="Maximum number of model requests."),
]
CostOption = Annotated[
    str | None,
    typer.Option("--max-cost", metavar="N", help="Maximum cost, or off for no limit."),
]
TimeoutOption = Annotated[
    str | None, typer.Option("--timeout", metavar="SECONDS", help="Maximum time in seconds.")
]
SessionOption = Annotated[
    str | None,
    typer.Option(
        "--session",
        metavar="ID",
        help="Continue a session, or branch off at an exchange: the start of its id, or last.",
        autocompletion=sessions_beginning,
    ),
]
ChunksOption = Annotated[bool, typer.Option("--json", help="Print each chunk as a line of JSON.")]
TraceOption = Annotated[
    bool, typer.Option("--trace", help="Print each status change in the tree to stderr.")
]
DryRunOption = Annotated[
    bool, typer.Option("--dry-run", help="Show what would be written, but write nothing.")
]
YesOption = Annotated[bool, typer.Option("--yes", "-y", help="Answer yes to every request.")]
QuietOption = Annotated[
    bool, typer.Option("--quiet", "-q", help="Print only the answer, and errors.")
]
VerboseOption = Annotated[
    int,
    typer.Option(
        "--verbose",
        "-v",
        count=True,
        show_default=False,
        help="Print progress; -vv prints everything.",
    ),
]


def _names_of_templates() -> list[str]:
    from oracle.services.templates.template_files import template_files
    from oracle.settings import load_settings

    files = template_files(load_settings().root)
    return [file.name for file in files if file.has_usable_name]


FilesOption = Annotated[
    list[str] | None,
    typer.Option(
        "--file",
        "-f",
        metavar="PATH[:LINES]",
        help="Attach a file, or some lines: a.py:10-40. Can be repeated.",
    ),
]
DiffOption = Annotated[
    str | None,
    typer.Option(
        "--diff",
        metavar="[REV]",
        help="Attach the changes of the git work tree, against HEAD or REV.",
    ),
]
TemplateOption = Annotated[
    str | None,
    typer.Option(
        "--template",
        "-t",
        metavar="[NAME]",
        help="Ask a named question, with name=value for its placeholders. Alone: list them.",
        autocompletion=_names_of_templates,
    ),
]
SetOption = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="NAME=VALUE", help="A value for the template."),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON.")]
LimitOption = Annotated[
    int, typer.Option("--limit", "-n", metavar="N", min=1, help="Maximum number to list.")
]
AllProjectsOption = Annotated[
    bool, typer.Option("--all", help="Also those of other projects and folders in the database.")
]
NoQuestionOption = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask for confirmation.")]
LeavesOption = Annotated[
    list[str] | None,
    typer.Option(
        "--leaves",
        metavar="MODULE",
        help="A module or .py file that registers your own leaves. Can be repeated.",
    ),
]


def settings_for(
    model: str | None = None,
    max_turns: str | None = None,
    max_cost: str | None = None,
    timeout: str | None = None,
    *,
    quiet: bool = False,
) -> Settings:
    """The project's settings, with these options on top, and a model that may be used."""
    from oracle.cli.project import settings_with
    from oracle.cli.terminal.model_consent import with_usable_model

    settings = settings_with(flags_for(model, max_turns, max_cost, timeout))
    return with_usable_model(settings, quiet=quiet)


def flags_for(
    model: str | None = None,
    max_turns: str | None = None,
    max_cost: str | None = None,
    timeout: str | None = None,
) -> dict[str, object]:
    """These options by the names of their settings."""
    return {
        "model.name": model,
        "limits.turns": max_turns,
        "limits.money": max_cost,
        "limits.seconds": timeout,
    }


def ask_options(
    *, json: bool = False, trace: bool, dry_run: bool, yes: bool, quiet: bool, verbose: int
) -> AskOptions:
    from oracle.cli.terminal.screen import AskOptions

    if quiet and verbose:
        raise InputError("--quiet and --verbose contradict each other; use one of them")
    return AskOptions(
        volume="quiet" if quiet else _VOLUMES[min(verbose, 2)],
        json=json,
        trace=trace or verbose > 1,
        dry_run=dry_run,
        yes=yes,
    )
