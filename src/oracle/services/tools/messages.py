"""How messages name what a model wrote."""

from __future__ import annotations


def named(value: object, longest: int = 120) -> str:
    """A value that a model wrote, on one line and short enough for a message."""
    text = repr(value)
    return text if len(text) <= longest else f"{text[:longest]}…"
