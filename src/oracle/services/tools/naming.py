"""A title becomes the name of a file: one word of letters, digits and dashes, whatever it was."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

_LONGEST: Final = 80
_MOST_BYTES: Final = 200
_RESERVED: Final = re.compile(r"(?:con|prn|aux|nul|com\d|lpt\d)")


def file_name(title: str) -> str | None:
    """Without an ending; None where the title has no letter or digit to make a name of."""
    folded = unicodedata.normalize("NFKC", title).casefold()
    name = re.sub(r"[\W_]+", "-", folded).strip("-")[:_LONGEST]
    while len(name.encode(errors="replace")) > _MOST_BYTES:
        name = name[:-1]
    name = name.strip("-")
    if _RESERVED.fullmatch(name):
        return f"note-{name}"
    return name or None
