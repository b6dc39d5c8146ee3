"""Imports what the first question of a chat needs while the user is still typing it."""

from __future__ import annotations

import contextlib
from typing import Final

_AGENT: Final = (
    "oracle.bt.wrappers.project_agent",
    "oracle.cli.terminal.console",
    "oracle.cli.terminal.conversation",
    "oracle.services.attachments.gathering",
    "oracle.services.project.redaction",
)


def load_agent() -> None:
    """A failure is reported by the question itself."""
    from importlib import import_module

    with contextlib.suppress(Exception):
        for module in _AGENT:
            import_module(module)
