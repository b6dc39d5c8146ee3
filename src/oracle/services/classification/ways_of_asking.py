"""What is said only to ask, and of which no word should be searched for."""

from __future__ import annotations

import re
from typing import Final

_WAYS: Final = re.compile(
    r"\b(?:(?:walk|talk|take|run|guide|lead)\s+(?:me|us)\s+through|step\s+by\s+step"
    r"|(?:from\s+)?(?:end[\s-]+to[\s-]+end|start[\s-]+to[\s-]+finish)|all\s+the\s+way"
    r"|in\s+(?:detail|depth|a\s+nutshell|short|general)|at\s+a\s+high\s+level"
    r"|(?:can|could|would)\s+you(?:\s+please)?|i(?:\s+would|'d)\s+like\s+to\s+know)\b",
    re.IGNORECASE,
)


def without_ways_of_asking(question: str) -> str:
    """Where nothing else was said, it is the subject after all."""
    bare = _WAYS.sub(" ", question)
    return bare if any(letter.isalnum() for letter in bare) else question
