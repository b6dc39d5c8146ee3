"""Questions that somebody who sees a project for the first time could ask, in its own words."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import islice
from pathlib import PurePosixPath
from typing import Final

from oracle.patterns import lazy_pattern

_TEST: Final = lazy_pattern(r"(?:^|[/_.-])(?:tests?|spec|conftest|examples?|benchmarks?|scripts)\b")
_CLASS: Final = lazy_pattern(r"[A-Z][a-z0-9]+(?:[A-Z][a-z0-9]+)+$")
_FUNCTION: Final = lazy_pattern(r"[a-z][a-z0-9]{2,}(?:_[a-z0-9]{3,}){1,3}$")
_WORD: Final = lazy_pattern(r"[A-Z]?[a-z0-9]{5,}|[A-Z][a-z0-9]{3,}")
"""Shorter ones, such as "for" and "with", are in names of any project."""
_MOST: Final = 3
_FEWEST_FILES: Final = 3
"""A folder with fewer is not worth a question about all of it."""


def questions_about(
    names: Mapping[str, Sequence[str]], paths: Sequence[str]
) -> list[dict[str, str]]:
    """Three at most: about one thing, about how one works, about a whole folder.

    `names` are what each file defines. The result has a `question` and its `kind`.
    """
    code = {path: found for path, found in names.items() if found and not _TEST.search(path)}
    class_, function = _telling(code, _CLASS), _telling(code, _FUNCTION)
    found: list[dict[str, str]] = []
    if function:
        found.append({"question": f"How does {function} work?", "kind": "code"})
    if class_:
        found.append({"question": f"Where is {class_} defined, and who uses it?", "kind": "code"})
    if folder := _largest_folder([*code]):
        question = f"What are all the parts of {folder}, and what is each for?"
        found.append({"question": question, "kind": "broad: reads every part"})
    found += [{"question": f"What does {path} do?", "kind": "code"} for path in _files(paths)]
    return found[:_MOST]


def _telling(code: Mapping[str, Sequence[str]], form: re.Pattern[str]) -> str | None:
    """A name of what the project is about: other names use each of its words too."""
    names = [name for path in sorted(code) for name in dict.fromkeys(code[path])]
    uses = Counter(word for name in names for word in set(_words(name)))

    def weight(name: str) -> tuple[bool, bool, int]:
        words = _words(name)
        least = min((uses[word] for word in words), default=0)
        return least > 1, len(words) > 1, least

    return max((name for name in names if form.match(name)), key=weight, default=None)


def _words(name: str) -> list[str]:
    return [word.lower() for word in _WORD.findall(name)]


def _largest_folder(paths: Sequence[str]) -> str | None:
    counts: dict[str, int] = {}
    for path in paths:
        folder = str(PurePosixPath(path).parent)
        # Of files at the root of a project, nobody asks for all.
        if folder != ".":
            counts[folder] = counts.get(folder, 0) + 1
    best = max(counts, key=lambda folder: (counts[folder], folder), default=None)
    return best if best is not None and counts[best] >= _FEWEST_FILES else None


def _files(paths: Sequence[str]) -> list[str]:
    """For a project without names: its own files, those with little in front of them first."""
    ordered = sorted(paths, key=lambda path: (path.count("/"), path))
    return list(islice((path for path in ordered if not path.startswith(".")), _MOST))
