"""Words that may mean the same: `kinship.txt` has groups of words that developers use for one
thing, `idioms.txt` has what other people say for it.

The index and the embedded reader compare words in different forms, so each makes its own table
from the groups.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from importlib.resources import files
from itertools import pairwise
from typing import Final

from oracle.services.project.identifiers import without_ending

_SHORTEST: Final = 3
"""Of shorter words nothing is cut off."""


@cache
def kin_groups() -> tuple[tuple[str, ...], ...]:
    """The groups as they are written. Two words joined by an underscore belong together."""
    return tuple(tuple(line.split()) for line in _lines_of("kinship.txt"))


@cache
def idioms() -> tuple[tuple[tuple[str, ...], tuple[str, ...]], ...]:
    """What is said, and what is meant by it. They count in this direction only."""
    rows = (line.partition(":") for line in _lines_of("idioms.txt"))
    return tuple((tuple(said.split()), tuple(meant.split())) for said, _, meant in rows)


def _lines_of(name: str) -> Iterator[str]:
    text = files("oracle.services.questions").joinpath(name).read_text("utf-8")
    return (line for line in text.splitlines() if line and not line.startswith("#"))


def kin_in(words: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """By word of a question, or by two side by side ("at most"): the words related to it."""
    said = [word.lower() for word in words]
    asked = {word: _form(word) for word in said}
    asked |= {f"{one} {other}": _joined((one, other)) for one, other in pairwise(said)}
    return {words: kin for words, form in asked.items() if (kin := _by_form().get(form, ()))}


@cache
def _by_form() -> dict[str, tuple[str, ...]]:
    related: dict[str, dict[str, None]] = {}
    for group in kin_groups():
        for word in group:
            related.setdefault(_joined(word.split("_")), {}).update(dict.fromkeys(group))
    for said, meant in idioms():
        for word in said:
            related.setdefault(_joined(word.split("_")), {}).update(dict.fromkeys(meant))
    return {
        form: tuple(other for other in others if _joined(other.split("_")) != form)
        for form, others in related.items()
    }


def _joined(words: Sequence[str]) -> str:
    return "_".join(map(_form, words))


def _form(word: str) -> str:
    """What the forms of a word share: `delete` and `deleting`, `stop` and `stopped`, `retry` and
    `retries`.
    """
    bare = without_ending(word)
    if len(bare) > _SHORTEST and bare[-1] == bare[-2]:
        bare = bare[:-1]
    return bare[:-1] if len(bare) > _SHORTEST and bare[-1] in "ey" else bare
