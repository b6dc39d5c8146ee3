"""A response, written so that nothing in a quotation can pretend to be ours.

A quotation is in a fence that is longer than any fence inside it. A name or a word is in inline
code without a backtick. So a `<signal>` in a file stays a quotation, and the only signal is our
own, at the end.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import field
from html import escape
from typing import Final

from oracle.lazy_dataclass import dataclass
from oracle.services.tools.answer import codes, fence, one_line

_LONGEST_LINE: Final = 600
_LONGEST_ITEM: Final = 300
_LANGUAGES: Final = {
    "py": "python",
    "pyi": "python",
    "js": "javascript",
    "ts": "typescript",
    "rs": "rust",
    "rb": "ruby",
    "sh": "sh",
    "md": "markdown",
    "yml": "yaml",
}
_AS_THEY_ARE: Final = "go java c h cpp lua sql toml yaml json html css tsx jsx kt swift php"


@dataclass(frozen=True, kw_only=True, slots=True)
class Response:
    text: str = ""
    calls: Sequence[tuple[str, dict[str, object]]] = field(default_factory=tuple)
    signal: str


def counted(count: int, one: str, many: str = "") -> str:
    return f"{count:,} {one}" if count == 1 else f"{count:,} {many or one + 's'}"


def quoted(lines: Sequence[str], path: str = "") -> str:
    text = "\n".join(_shortened(line) for line in lines)
    bar = fence(text)
    return f"{bar}{language_of(path)}\n{text}\n{bar}"


def exact_line(line: str) -> str:
    """A line as inline code, byte for byte: its row of backticks is longer than any inside."""
    shown = re.sub(r"[\x00-\x1f\x7f\u2028\u2029\x85]", " ", line.strip())
    if not shown:
        return "(nothing)"
    shown = shown if len(shown) <= _LONGEST_ITEM else f"{shown[:_LONGEST_ITEM]}…"
    row = "`" * (max(map(len, re.findall(r"`+", shown)), default=0) + 1)
    # A backtick at an end would make the row longer. Markdown removes one blank at both ends.
    blank = " " if shown.startswith("`") or shown.endswith("`") else ""
    return f"{row}{blank}{shown}{blank}{row}"


def language_of(path: str) -> str:
    ending = path.rpartition(".")[2].lower()
    return _LANGUAGES.get(ending) or (ending if ending in _AS_THEY_ARE.split() else "text")


def signal(type_: str, confidence: float, **fields: str | int | Sequence[str]) -> str:
    inside = "".join(f"  <{name}>{_value(value)}</{name}>\n" for name, value in fields.items())
    return (
        f'<signal type="{type_}">\n{inside}  <confidence>{confidence:.2f}</confidence>\n</signal>'
    )


def _value(value: str | int | Sequence[str]) -> str:
    if isinstance(value, int):
        return str(value)
    if isinstance(value, str):
        return escape(one_line(value, 400), quote=False)
    return escape(json.dumps([one_line(item, 120) for item in value[:12]]), quote=False)


def _shortened(line: str) -> str:
    # Control characters and line separators could end the line for a terminal or a parser.
    shown = re.sub(r"[\x00-\x08\x0b-\x1f\x7f\u2028\u2029\x85]", " ", line.rstrip())
    return shown if len(shown) <= _LONGEST_LINE else f"{shown[:_LONGEST_LINE]}…"


def nothing_about(words: Sequence[str]) -> str:
    """A sentence about the words of the question that nothing has; "" without any."""
    return f"In what I read there is nothing about {codes(words)}." if words else ""
