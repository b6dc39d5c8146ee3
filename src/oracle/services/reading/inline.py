"""Names and words as inline code, so that nothing quoted can speak for us."""

from __future__ import annotations

from collections.abc import Iterable

from oracle.services.tools.answer import one_line


def code(text: str, longest: int = 120) -> str:
    """On one line, as inline code; what could end the code is replaced."""
    plain = one_line(text, longest).replace("`", "'").strip()
    return f"`{plain}`" if plain else "(nothing)"


def codes(texts: Iterable[str]) -> str:
    return ", ".join(code(text) for text in texts)
