"""Find out which text uses which other one, by the names that one defines and another contains.

This compares words and does not compile anything. It counts names that only one text defines at
its top level, and imports of a file by its name.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from oracle.patterns import lazy_pattern
from oracle.services.quoting.quotation import Quotation
from oracle.services.tools.definitions import DefinedName, definitions_in

# Shorter names are often words of the language or of comments.
_SHORTEST_NAME: Final = 4
_WORD: Final = lazy_pattern(r"(?P<dot>\.?)\b(?P<name>\w+)(?P<call>\(?)")
# `snake_case` or a capital: it looks like a name even if it is not called.
_SHAPED: Final = lazy_pattern(r"[a-z0-9]_[a-z0-9]|[A-Z]")
_IMPORT: Final = lazy_pattern(
    r"\s*(?:from|import|use|require|#\s*include)\b|.*\brequire\(|\s*export .{1,200} from\b"
)
_MODULE: Final = lazy_pattern(r"[\w./:-]+")
# Files that are imported by the name of their folder.
_FOLDER_FILES: Final = ("__init__", "index", "mod")

Uses = Mapping[int, Mapping[int, Sequence[str]]]
"""By the number of a text: the numbers of the texts that it uses, and the names that show it."""


def uses_among(texts: Sequence[Sequence[Quotation]]) -> dict[int, dict[int, list[str]]]:
    """If two texts use each other there is no direction, so neither use counts."""
    owners = owners_of(texts)
    files = {module_of(text[0].path): number for number, text in enumerate(texts) if text}
    found = {number: _used(number, text, owners, files) for number, text in enumerate(texts)}
    return {
        one: {other: names for other, names in others.items() if one not in found[other]}
        for one, others in found.items()
    }


def users_first(uses: Uses) -> list[int]:
    """Each text before those that it uses; texts without any use are last.

    In a circle the text is first that uses the most others and is used by the fewest.
    """
    left = [number for number in uses if uses[number] or _users(number, uses)]
    apart = [number for number in uses if number not in left]
    ordered: list[int] = []
    while left:
        # Uses of texts that are placed already do not count any more.
        among = {n: {o: names for o, names in uses[n].items() if o in left} for n in left}
        ordered.append(min(left, key=lambda number: _place_in_order(number, among)))
        left.remove(ordered[-1])
    return [*ordered, *apart]


def _place_in_order(number: int, uses: Uses) -> tuple[bool, int]:
    users = _users(number, uses)
    return bool(users), users - len(uses[number]) if users else 0


def _users(number: int, uses: Uses) -> int:
    return sum(number in used for used in uses.values())


def owners_of(texts: Sequence[Sequence[Quotation]]) -> dict[str, int]:
    """By name: the number of the text that defines it, if only one does."""
    owners: dict[str, set[int]] = {}
    for number, quotations in enumerate(texts):
        for quotation in quotations:
            for each in _definitions(quotation):
                if each.depth == 0 and _is_distinct(each.name):
                    owners.setdefault(each.name, set()).add(number)
    return {name: min(numbers) for name, numbers in owners.items() if len(numbers) == 1}


def _used(
    number: int,
    text: Sequence[Quotation],
    owners: Mapping[str, int],
    files: Mapping[str, int],
) -> dict[int, list[str]]:
    lines = [line for quotation in text for line in quotation.lines]
    own = {each.name for quotation in text for each in _definitions(quotation)}
    used: dict[int, list[str]] = {}
    for word in names_in(lines):
        if word in owners and word not in own:
            used.setdefault(owners[word], []).append(word)
    for module in imported_by(text):
        if module in files:
            used.setdefault(files[module], [])
    used.pop(number, None)
    return used


def _definitions(quotation: Quotation) -> list[DefinedName]:
    return list(definitions_in("\n".join(quotation.lines), quotation.path))


def _is_distinct(name: str) -> bool:
    return len(name) >= _SHORTEST_NAME and not name.startswith("_")


def names_in(lines: Iterable[str]) -> list[str]:
    """Words that look like names; a plain word only if it is called or imported."""
    found: list[str] = []
    for line in lines:
        is_import = bool(_IMPORT.match(line))
        for word in _WORD.finditer(line):
            is_called = bool(word["call"]) and not word["dot"]
            if is_import or is_called or _SHAPED.search(word["name"]):
                found.append(word["name"])
    return list(dict.fromkeys(found))


def imported_by(text: Sequence[Quotation]) -> list[str]:
    """The last word of each module that it imports, and the names that it imports from there."""
    lines = (line for quotation in text for line in quotation.lines)
    named = (found for line in lines if _IMPORT.match(line) for found in _MODULE.findall(line))
    words = (re.split(r"[./:]+", module.strip("./:"))[-1] for module in named)
    return list(dict.fromkeys(words))


def module_of(path: str) -> str:
    """The name that an import of this file ends with; for `__init__` and such, the folder's."""
    *folders, file = path.split("/")
    stem = file.partition(".")[0]
    return folders[-1] if stem in _FOLDER_FILES and folders else stem
