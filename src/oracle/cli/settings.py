"""The settings of a command: its flags win, and warnings go to stderr."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from oracle.settings import Settings


def settings_with(flags: Mapping[str, object] | None = None) -> Settings:
    """`flags` has what was given on the command line, by the setting's name."""
    from oracle.settings import load_settings

    settings = load_settings(flags=flags)
    for warning in settings.warnings:
        typer.echo(f"oracle: warning: {warning}", err=True)
    return settings
