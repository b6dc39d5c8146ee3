"""`oracle keys`: keep the keys of providers, list where they are, and remove them."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Annotated

import typer

from oracle.cli.lazy_commands import ListingGroup
from oracle.cli.options import JsonOption
from oracle.cli.terminal.output import say, show_json, show_sentence
from oracle.cli.terminal.safe_text import printable
from oracle.cli.terminal.tables import Column, show_table
from oracle.errors import InputError, NotFound, did_you_mean, named

if TYPE_CHECKING:
    from collections.abc import Mapping

    from oracle.services.settings.keys import Source

app = typer.Typer(
    help="Keep the keys of providers in the keyring or in a private file.",
    cls=ListingGroup,
)

LONGEST_NAME = 16
LONGEST_INPUT = 65_536
INTERRUPTED = 130


def providers_beginning(incomplete: str) -> list[str]:
    from oracle.services.settings.keys import VARIABLES

    return [name for name in VARIABLES if name.startswith(incomplete)]


ProviderArgument = Annotated[
    str,
    typer.Argument(
        metavar="PROVIDER",
        help="A provider, such as anthropic; oracle keys list names all.",
        autocompletion=providers_beginning,
    ),
]


@app.command("set", context_settings={"ignore_unknown_options": True, "allow_extra_args": True})
def set_(
    context: typer.Context,
    provider: ProviderArgument,
) -> None:
    """Store the key of a provider. It is asked for, or read from stdin.

    It is kept in the system keyring if there is one, otherwise in keys.toml in the user's folder,
    which only the user can read.
    """
    from oracle.services.settings.keys import VARIABLES, place_of, store_key

    name = _provider(provider)
    if context.args:
        # Not repeated: what follows the provider is probably the key.
        raise InputError(
            "a key is not given as an argument, because the shell's history and other users would "
            f"see it; run `oracle keys set {name}` and type it, or pipe it in"
        )
    source, why = store_key(name, _key_from_user(name))
    show_sentence(f"the key for {name} is kept in {printable(place_of(source))}")
    if why:
        say(f"{printable(why)}, so a private file is used")
    if os.environ.get(VARIABLES[name]):
        say(f"warning: {VARIABLES[name]} is set and has priority")


@app.command("list")
def list_(json: JsonOption = False) -> None:
    """List the providers, and where the key of each is kept. Keys are never shown."""
    rows = places(os.environ)
    if json:
        fields = ("provider", "source", "place", "variable")
        show_json([dict(zip(fields, row, strict=True)) for row in rows])
        return
    columns = (Column("PROVIDER"), Column("KEY IN"))
    show_table(columns, [(name, place or "none") for name, _, place, _ in rows])
    if not any(source for _, source, _, _ in rows):
        say("`oracle keys set PROVIDER` stores a key")


@app.command()
def remove(provider: ProviderArgument) -> None:
    """Remove the stored key of a provider."""
    from oracle.services.settings.keys import VARIABLES, place_of, remove_key, stored_source

    name = _provider(provider)
    source = stored_source(name)
    if source is None:
        variable = VARIABLES[name]
        hint = f"; the one in {variable} is yours to unset" if os.environ.get(variable) else ""
        raise NotFound(f"no key for {name} is stored{hint}; `oracle keys list` shows all")
    remove_key(name)
    show_sentence(f"the key for {name} is removed from {printable(place_of(source))}")


Row = tuple[str, str | None, str | None, str]
"""A provider, the source and the place of its key, and its variable."""


def places(environment: Mapping[str, str]) -> list[Row]:
    from oracle.services.settings.keys import VARIABLES, source_of

    return [
        (name, source := source_of(name, environment), _place(name, source), variable)
        for name, variable in VARIABLES.items()
    ]


def _place(name: str, source: Source | None) -> str | None:
    from oracle.services.settings.keys import VARIABLES, place_of, stored_source

    if source == "variable":
        return f"{VARIABLES[name]}{' (another is stored)' if stored_source(name) else ''}"
    return place_of(source) if source else None


def _provider(given: str) -> str:
    from oracle.services.settings.keys import VARIABLES

    by_variable = {variable.lower(): name for name, variable in VARIABLES.items()}
    name = by_variable.get(given.lower(), given.lower())
    if name not in VARIABLES:
        # What was given may be a key. Only what cannot be one is repeated.
        shown = f": {named(given)}" if given.isalpha() and len(given) <= LONGEST_NAME else ""
        step = f"providers: {', '.join(VARIABLES)}"
        hint = did_you_mean(name[:40], VARIABLES, step=step)
        raise InputError(f"there is no such provider{shown}{hint}")
    return name


def _typed_key(name: str) -> str:
    try:
        # With a default, because typer asks again and again without a word otherwise.
        typed: str = typer.prompt(
            f"key for {name} (not shown)", "", hide_input=True, show_default=False, err=True
        )
    except typer.Abort as stop:
        # Both Ctrl-C and Ctrl-D arrive as this.
        if isinstance(stop.__context__, KeyboardInterrupt):
            raise typer.Exit(INTERRUPTED) from None
        raise _no_key(name) from None
    if not typed.strip():
        raise _no_key(name)
    return typed


def _no_key(name: str) -> InputError:
    return InputError(f"no key was typed, so none is stored; run `oracle keys set {name}` again")


def _key_from_user(name: str) -> str:
    if sys.stdin is None or sys.stdin.isatty():
        return _typed_key(name)
    given = sys.stdin.buffer.read(LONGEST_INPUT).decode(errors="replace")
    if not given.strip():
        raise InputError(
            f"no key was piped in; run `oracle keys set {name}` in a terminal and type it"
        )
    return given
