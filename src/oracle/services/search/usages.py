"""Where a name is used. The catalogue knows the files; the lines are read from the files."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Final

from oracle.services.search.catalogue import Catalogue
from oracle.services.search.grammar_pool import lines_that_use
from oracle.services.search.intake import decode, distinctive, lines_of, read_bytes
from oracle.services.search.languages import PARSED, language_of
from oracle.services.search.outline import outline_of
from oracle.services.search.passages import Passages
from oracle.services.search.records import Reference
from oracle.services.search.terms import terms_of_word

_MOST_FILES: Final = 2_000
"""Each of them is read and parsed, so this bounds the time for a name that is everywhere."""


def find_references(
    root: Path, name: str, catalogue: Catalogue, passages: Passages, *, limit: int
) -> list[Reference]:
    found = (
        Reference(name=name, path=path, line=line)
        for path in _candidates(name, catalogue, passages)
        for line in _lines(root, path, name)
    )
    return list(islice(found, limit))


def _candidates(name: str, catalogue: Catalogue, passages: Passages) -> Iterable[str]:
    # The catalogue has distinctive names only. For others the text index narrows the files down.
    if distinctive(name):
        return catalogue.users_of(name, limit=_MOST_FILES)
    terms = terms_of_word(name)
    if not terms:
        return _all_code(catalogue)
    # Several passages of one file match, so more are asked for than files are wanted.
    matches = passages.search({"body": {terms[0]: 1.0}}, kind=None, limit=5 * _MOST_FILES)
    numbers = list(dict.fromkeys(match.file for match in matches))[:_MOST_FILES]
    return sorted(card.path for card in catalogue.cards(numbers).values())


def _all_code(catalogue: Catalogue) -> Iterable[str]:
    """For a name that has no terms in the index, such as `f` or `get`."""
    paths = (card.path for card in catalogue.all_cards() if language_of(card.path) in PARSED)
    return islice(sorted(paths), _MOST_FILES)


def _lines(root: Path, path: str, name: str) -> Iterator[int]:
    opened = read_bytes(root, path)
    if isinstance(opened, str):
        return
    content, _ = opened
    language = language_of(path)
    if language in PARSED:
        yield from lines_that_use(content, language, name)
    elif language != "markdown":
        text = decode(content)
        found = outline_of(text, path).symbols
        defined = {symbol.start for symbol in found if symbol.name == name}
        whole = re.compile(rf"(?<!\w){re.escape(name)}(?!\w)")
        for number, line in enumerate(lines_of(text), start=1):
            if number not in defined and whole.search(line):
                yield number
