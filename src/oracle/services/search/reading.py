"""From bytes to text and lines, whatever the encoding."""

from __future__ import annotations

import codecs


def decode(content: bytes) -> str:
    """UTF-8, UTF-16 with a mark, or else the closest thing: text is never refused."""
    if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return content.decode("utf-16", "replace")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return content.decode("utf-8-sig", "replace")


def lines_of(text: str) -> list[str]:
    """Lines as editors count them, each with its end."""
    lines = text.split("\n")
    if lines[-1] == "":
        lines.pop()
    return [line + "\n" for line in lines]
