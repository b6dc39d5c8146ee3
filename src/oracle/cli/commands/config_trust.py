"""`oracle config trust` and `untrust`: whether the settings of this project are trusted."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import typer

from oracle.cli.terminal.output import say, show_sentence
from oracle.cli.terminal.safe_text import printable
from oracle.errors import InputError

if TYPE_CHECKING:
    from pathlib import Path


def trust() -> None:
    """Trust the values of this project's oracle.toml that need it, as they are now.

    A project's file decides where keys and questions go, and raises your limits, only if you trust
    it. A value that changes later is not trusted.
    """
    from oracle.services.settings.own_changes import trust_project
    from oracle.services.settings.resolve import shown_path
    from oracle.services.settings.toml_file import FILE_NAME

    root = _root()
    found, digest = trust_project(root)
    for each in found:
        text = f"{each.origin}: {each.name} = {each.shown} is trusted: {each.reason}"
        show_sentence(printable(text))
    if not found:
        show_sentence(printable(f"{shown_path(root / FILE_NAME)}: nothing in it needs trust"))
    else:
        # Not broken into lines: it is there to be copied.
        typer.echo(f"oracle: {printable(_variable(root, digest))}", err=True)


def untrust() -> None:
    """Trust the settings of this project no longer."""
    from oracle.services.settings.own_changes import untrust_project
    from oracle.services.settings.trust import VARIABLE, trusts

    root = _root()
    untrust_project(root)
    show_sentence(printable(f"{root}: its settings are not trusted"))
    if trusts(root, os.environ):
        say(f"{VARIABLE} still trusts this project; remove it there")


def _root() -> Path:
    from oracle.services.project.root import here
    from oracle.services.settings.resolve import root_of

    root = root_of(here())
    if root is None:
        raise InputError("this folder is not in a project; go to the project to trust")
    return root


def _variable(root: Path, digest: str) -> str:
    """What to paste into a shell, or the configuration of a CI, to the same effect."""
    import shlex

    from oracle.services.settings.trust import VARIABLE

    listed = os.environ.get(VARIABLE, "")
    entries = [*([listed] if listed else []), f"{root}@{digest}"]
    value = shlex.quote(os.pathsep.join(entries))
    return f"in CI, {VARIABLE}={value} does the same; `oracle config untrust` takes it back"
