"""How much a line, and the file that it is in, can say about a project."""

from __future__ import annotations

import re
from typing import Final

from oracle.patterns import lazy_pattern

IN_TESTS: Final = lazy_pattern(
    r"(?:^|/)tests?/|(?:^|/)test_|[._]test\.|\.spec\.|(?:^|/)benchmarks?/"
)
_DATA: Final = (".json", ".jsonl", ".csv", ".tsv", ".lock", ".svg", ".min.js", ".map")
# Imports, lines of a list, closing brackets, `name=name,` and decorators.
_DULL: Final = lazy_pattern(
    r"\s*(?:from\s+\S+\s+import|import\s|#include|use\s|__all__|\"(?!\"\")|['\])}]|\w+,$|(\w+)=\1,?$|@\w+\s)"
)
# Copies, other people's code and files for machines say little about the project.
_FOREIGN: Final = lazy_pattern(
    r"(?:^|/)(?:\.[^/.][^/]*|vendor|vendored|third_party|node_modules|locales?|fixtures)/"
    r"|\.min\.|(?:^|/)lunr|\.(?:html|css|svg)$|(?:^|/)(?:LICEN[CS]E|COPYING)[^/]*$"
)
_OF_CHANGES: Final = lazy_pattern(
    r"(?:^|/)(?:change|history|news|release|migrat)[^/]*$|/(?:changelogs?|releases?)/", re.I
)


def is_dull(line: str) -> bool:
    """Whether the line has a word but says nothing about it: an import, a name in a list."""
    return bool(_DULL.match(line))


def is_in_tests(path: str) -> bool:
    return bool(IN_TESTS.search(path))


def is_foreign(path: str) -> bool:
    return bool(_FOREIGN.search(path))


def is_of_changes(path: str) -> bool:
    """What was true once may not be true any more."""
    return bool(_OF_CHANGES.search(path))


def is_data(path: str) -> bool:
    """Tables have every word. A `.txt` file outside the folders for prose is usually a table."""
    low = path.lower()
    return low.endswith(_DATA) or (low.endswith(".txt") and not re.search(r"(?:docs?|notes)/", low))
