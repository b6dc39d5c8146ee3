"""Text that can be encoded. JSON can spell halves of characters, and models do write them."""

from __future__ import annotations


def well_formed(text: str) -> str:
    """Halves that belong together are joined; a half alone becomes the mark for what is lost."""
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text
