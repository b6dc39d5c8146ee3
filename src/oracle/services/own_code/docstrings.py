"""What a docstring says about a function and its arguments.

Three usual styles are read: Google (`Args:`), Sphinx (`:param name:`) and NumPy (`Parameters` above
a row of dashes). A plain line `name: text` about an argument counts in any of them.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import field
from typing import Final

from oracle.lazy_dataclass import dataclass

_LONGEST: Final = 1_000
_SECTION: Final = re.compile(
    r"\s*(?:Args|Arguments|Parameters|Params|Returns?|Raises|Yields|Examples?|Notes?)\s*:?\s*"
)
_ITEM: Final = re.compile(
    r"(?P<indent>\s*)(?:[-*]\s+)?(?::param\s+(?:[^:]*\s)?)?[`*]*(?P<name>\w+)[`*]*"
    r"\s*(?:\([^)]*\))?(?P<colon>\s*(?::|--|–|—)\s+|\s+-\s+|\s*:$)(?P<text>.*)"
)
_LISTS: Final = ("Args", "Arguments", "Parameters", "Params")
_RULE: Final = re.compile(r"\s*-{3,}\s*")


@dataclass(frozen=True, kw_only=True, slots=True)
class Described:
    """`summary` is the first paragraph, on one line. `arguments` are descriptions by name.

    `unknown` are names in a list of arguments that the function does not have.
    """

    summary: str = ""
    arguments: dict[str, str] = field(default_factory=dict[str, str])
    unknown: tuple[str, ...] = ()


def described(docstring: str | None, names: Collection[str]) -> Described:
    """`names` are the arguments of the function: only lines about these are read."""
    lines = inspect.cleandoc(docstring or "").split("\n")
    end = next((n for n, line in enumerate(lines) if _ends_summary(line)), len(lines))
    arguments: dict[str, str] = {}
    for name, text in _items(lines[end:], names):
        arguments.setdefault(name, text)
    unknown = tuple(name for name in _listed(lines[end:]) if name not in names)
    return Described(summary=_one_line(lines[:end]), arguments=arguments, unknown=unknown)


def _listed(lines: Sequence[str]) -> Iterator[str]:
    """The names below `Args:`, and after `:param`. Other lines may look like items by chance."""
    indent: int | None = None
    is_list = False
    for line in lines:
        found = _ITEM.fullmatch(line)
        if line.lstrip().startswith(":param") and found:
            yield found["name"]
        elif _SECTION.fullmatch(line):
            is_list, indent = line.strip().rstrip(" :") in _LISTS and line.endswith(":"), None
        elif is_list and found:
            indent = len(found["indent"]) if indent is None else indent
            if len(found["indent"]) == indent > 0:
                yield found["name"]


def _ends_summary(line: str) -> bool:
    is_item = line.lstrip().startswith(":param")
    return not line.strip() or is_item or _SECTION.fullmatch(line) is not None


def _items(lines: Sequence[str], names: Collection[str]) -> Iterator[tuple[str, str]]:
    is_numpy = False
    for number, line in enumerate(lines):
        is_numpy = is_numpy or _RULE.fullmatch(line) is not None
        found = _ITEM.fullmatch(line)
        if found is None or found["name"] not in names:
            continue
        # In NumPy's style the type is after the colon, and the text below it.
        first = "" if is_numpy else found["text"]
        text = _one_line([first, *_continued(lines[number + 1 :], len(found["indent"]))])
        if text:
            yield found["name"], text


def _continued(lines: Sequence[str], indent: int) -> Iterator[str]:
    """The lines that belong to the item above: they are indented more."""
    for line in lines:
        if not line.strip() or len(line) - len(line.lstrip()) <= indent:
            return
        yield line


def _one_line(lines: Sequence[str]) -> str:
    text = " ".join(" ".join(lines).split())
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST].rstrip()}…"
