"""What a tool raises when it cannot do what was asked; its text is what the model reads."""

from __future__ import annotations

from oracle.errors import Failure


class ToolProblem(Failure):
    """Says what is wrong with which value, and what to do instead."""


def named(value: object, longest: int = 120) -> str:
    """A value that a model wrote, on one line and short enough for a message."""
    text = repr(value)
    return text if len(text) <= longest else f"{text[:longest]}…"
