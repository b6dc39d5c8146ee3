"""What a question needs: its own words, as far as they are specific. A result that has a word which
no result had before brings something; one more place with the same words brings little.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, Final, Literal, cast

from oracle.patterns import lazy_pattern
from oracle.services.project.redaction import redact
from oracle.services.questions.search_words import bare_name, search_words, specific_words
from oracle.services.quoting.terms import Term, split_humps, terms_for

Yield = Literal["words", "lead", "same", "nothing"]
"""What a call brought.

| value | meaning |
| --- | --- |
| words | words of the question that no result had before |
| lead | none, but the call followed a name that an earlier result had shown |
| same | something, with the same words or without any |
| nothing | it failed or found nothing |
"""

_LONGEST_TEXT: Final = 40_000
_SHORTEST_NAME: Final = 3
_COMMON: Final = frozenset(
    (
        *("api", "app", "cd", "ci", "cli", "cpu", "css", "csv", "db", "gui", "html", "http"),
        *("https", "id", "ide", "io", "ip", "json", "mr", "os", "pdf", "pr", "qa", "ram", "readme"),
        *("rest", "sdk", "sql", "ssh", "ssl", "tcp", "tls", "todo", "ui", "url", "utc", "xml"),
        *("january", "february", "march", "april", "may", "june", "july", "august", "september"),
        *("october", "november", "december"),
        *("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"),
    )
)
_REDACTED: Final = lazy_pattern(r"\[redacted[^\]]*\]")
_NAME: Final = lazy_pattern(r"[\w./-]*\w")
# What is no plain word: `a_b`, `aB`, `AbC`, `a.b`, `a/b`, `x2`.
_IDENTIFIER: Final = lazy_pattern(r"_|[a-z][A-Z]|[A-Z][a-z]+[A-Z]|\w[./]\w|[a-zA-Z]\d")


_QUESTION_WORDS: Final = (
    r"(?:what|how|who|whose|when|where|why|which|is|are|was|were|do|does|did|can|could|should|has"
    r"|have|will|would)\b"
)
_BETWEEN_PARTS: Final = lazy_pattern(
    rf"(?i)(?<=[?.!])\s+|[,;:]\s*(?:and|or|but|so)?\s*(?={_QUESTION_WORDS})"
    rf"|\s(?:and|or|but)\s+(?={_QUESTION_WORDS})"
)
_ASKS: Final = lazy_pattern(rf"(?i){_QUESTION_WORDS}|[^.!]*\?$")


# As many as a server may have at once: each of its questions is looked at again and again.
@lru_cache(maxsize=1024)
def _terms_of(question: str) -> Sequence[Term]:
    # A secret in a question must not decide anything: a recording is exported without it.
    words = search_words(_REDACTED.sub(" ", redact(question)))
    wanted = set(specific_words(words))
    return tuple(term for term in terms_for(words, ()) if term.word in wanted)


def words_in(question: str, text: str) -> list[str]:
    """The specific words of the question that the text has."""
    text = text[:_LONGEST_TEXT]
    in_parts, lower = split_humps.__wrapped__(text), text.lower()
    # Other letters may be the same to a pattern that ignores case (the Kelvin sign and k).
    low_parts = in_parts.lower() if text.isascii() else None
    found: list[str] = []
    for term, core in _looked_for(question):
        if term.is_name and core in lower:
            found.append(term.word)
        elif low_parts is not None and core not in lower and core not in low_parts:
            # Most texts lack most words, and a search for a pattern takes longer.
            continue
        elif term.pattern.search(text) or term.pattern.search(in_parts):
            found.append(term.word)
    return found


@lru_cache(maxsize=1024)
def _looked_for(question: str) -> Sequence[tuple[Term, str]]:
    """The terms, each with the text, in small letters, without which its pattern finds nothing. It
    is empty if it has letters of which the same may be said in others.
    """
    cores = [(term, term.core.lower()) for term in _terms_of(question)]
    return tuple((term, core if core.isascii() or term.is_name else "") for term, core in cores)


def share_of_words(question: str, found: Collection[str]) -> float:
    """How much of the question was found, from 0 to 1. Names, quoted strings and paths count twice.
    1 if the question has no word to look for.
    """
    terms = _terms_of(question)
    weight = sum([term.weight for term in terms])
    return sum([term.weight for term in terms if term.word in found]) / weight if weight else 1.0


def words_left_out(
    question: str, answer: str, found: Collection[str], *, of_found: float, of_all: float
) -> list[str]:
    """The words of the question that the answer lacks, if it has less than these shares of them: of
    those that were `found`, or of all. None if it has enough.

    An answer speaks of what was asked. One that does not was written for another question, or
    quotes a line beside it. If the sources have other words for it, an answer still repeats those
    of the question. A single word that is no name is too little to judge by: "licence" may be
    answered with `license`.
    """
    terms, said = _terms_of(question), words_in(question, answer)
    if len(terms) == 1 and not terms[0].is_name:
        return []
    share = share_of_words(question, said)
    if share >= of_all and share >= of_found * share_of_words(question, found):
        return []
    return [term.word for term in terms if term.word not in said]


def parts_left_open(question: str, answer: str) -> list[str]:
    """The parts of a question in several parts that the answer has no word of. "What stops it, and
    when does it go on?" has two parts. Only English ones are recognised; a sentence that states
    something is not a part.
    """
    parts = [part.strip() for part in _BETWEEN_PARTS.split(question) if part.strip()]
    asked = [part for part in parts if _ASKS.match(part) and _terms_of(part)]
    if len(asked) < 2:
        return []
    return [part for part in asked if not words_in(part, answer)]


def has_words(question: str) -> bool:
    """Whether it has a word to look for."""
    return bool(_terms_of(question))


def is_only_words_to_look_for(question: str) -> bool:
    """Whether this is what one types into a search box: two words or more to look for, or a single
    identifier, and nothing else.
    """
    words = {word.lower() for word in _NAME.findall(question)}
    if words != {term.word.lower() for term in _terms_of(question)}:
        return False
    return len(words) > 1 or any(map(_IDENTIFIER.search, words))


def names_in(question: str) -> list[str]:
    """What the question calls by name: nothing that lacks it is about it. Common abbreviations and
    dates are left out, because a source may have other words for them.
    """
    names = (term.word for term in _terms_of(question) if term.is_name)
    return [name for name in names if name.lower() not in _COMMON]


def follows_a_lead(
    arguments: object, *, question: str, shown: str, found: Collection[str], takes_a_name: bool
) -> bool:
    """Whether a call asks for a name that a result has shown and the question does not have.

    Places that a search has `found` are no leads: reading one more of them, or searching for the
    question in other words, is gathering. A plain word counts only if the tool `takes_a_name`.
    """
    known = _known_words(question)
    for name in _names_in(arguments):
        is_name = takes_a_name or _IDENTIFIER.search(name)
        if not is_name or len(name) < _SHORTEST_NAME or name in found:
            continue
        if bare_name(name).lower() not in known and _is_in(name, shown):
            return True
    return False


@lru_cache(maxsize=1024)
def _known_words(question: str) -> Collection[str]:
    return frozenset(word.lower() for word in search_words(question).all)


def last_in_vain(yields: Sequence[Yield]) -> list[Yield]:
    """The calls since the last new word of the question."""
    last = len(yields)
    while last and yields[last - 1] != "words":
        last -= 1
    return list(yields[last:])


def _is_in(name: str, text: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text) is not None


def _names_in(arguments: object) -> Iterator[str]:
    if isinstance(arguments, Mapping):
        for value in cast("Mapping[str, Any]", arguments).values():
            yield from _names_in(value)
    elif isinstance(arguments, str):
        yield from _NAME.findall(arguments)
