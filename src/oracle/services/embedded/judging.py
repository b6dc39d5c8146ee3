"""How certain it is that a place answers the question, from 0 to 1.

It is judged by one place, not by all that was found: words that are far apart say little together.
A rare word counts more than a common one. The limits were chosen on labelled questions; `oracle
eval embedded` measures them (docs/sources.md).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from oracle.patterns import lazy_pattern
from oracle.services.embedded.searching import Aim, found_in
from oracle.services.embedded.situation import Situation
from oracle.services.questions.search_words import bare_name, is_generic, specific_words
from oracle.services.questions.word_lists import STOP_WORDS
from oracle.services.quoting.kinds_of_lines import is_definition, is_heading, is_prose
from oracle.services.quoting.passages import IN_TESTS, Passage
from oracle.services.quoting.terms import VALUE, Term, terms_for

SURE: Final = 0.8
"""From here on the answer counts as whole."""
LIKELY: Final = 0.2
"""Below this, what was found is not shown as an answer: it is only near."""
_WITHOUT_THE_RAREST: Final = 0.75
_WITHOUT_WHAT_IS_ASKED: Final = 0.6
_FOR_KIN: Final = 0.5
_FOR_ONE_WORD: Final = 0.65
_FOR_TWO_WORDS: Final = 0.75
_FEW: Final = 2
_FAR_APART: Final = 0.8
_FUTURE: Final = lazy_pattern(
    r"^\W*(?:when|will|is|are|what) .{0,40}\b(?:will|planned|upcoming|next|going to)\b", re.I
)
# "Which version of X does it need?", "when was it released?": a number is the answer.
_FOR_A_NUMBER: Final = lazy_pattern(
    r"\b(?:which|what|welche\w*|quelle?s?|qué)\b.{0,30}\b(?:versions?|versión|ports?|year|date|price"
    r"|cost)\b|^\W*when\b.*\b(?:released|published|founded|born)\b|\bhow (?:many|much|old)\b",
    re.I,
)
_ADDRESS: Final = lazy_pattern(r"https?://\S+|[\w@.-]*[A-Za-z]\d[\w./-]*")
_WORD: Final = lazy_pattern(r"[^\W\d_]{2,}")
_MENTIONED: Final = 1.1
"""A little more than a place where each word of the question is on one plain line."""
_NEAR: Final = 2
"""Lines above and below the best line."""


def certainty(situation: Situation, aim: Aim, shown: Sequence[Passage]) -> float:
    """Of the first of the places, which is the best one."""
    if not shown:
        return 0.0
    best = shown[0]
    attached = {file.where for file in situation.attached_files}
    # What the user attached is what the question is about.
    if best.source.where in attached and best.words.issuperset(specific_words(aim.words)):
        return 1.0
    return _certainty_of(best, aim, terms_for(aim.words, found_in(situation)))


def _certainty_of(passage: Passage, aim: Aim, terms: Sequence[Term]) -> float:
    words = set(specific_words(aim.words))
    needed = [term for term in terms if term.word in words and not term.is_extra]
    total = sum(term.weight for term in needed)
    if not total:
        return 0.0
    there = [term for term in needed if term.word in passage.words and _is_meant(term, passage)]
    said = sum(term.weight for term in there) / total
    # Other words for the same show that the place may be meant, but not that it answers.
    meant = sum(term.weight for term in needed if term not in there and _has_kin(passage, term))
    certain = said if said >= SURE else min(said + _FOR_KIN * meant / total, SURE - 0.05)
    rarest = max(needed, key=lambda term: term.weight)
    if rarest not in there:
        certain *= _WITHOUT_THE_RAREST
    if len(there) > 1 and _on_near_lines(passage, there) < len(there):
        certain *= _FAR_APART
    # A reason or a value is what is asked for. A place without one is beside the question.
    if aim.words.asks_why and "why" not in passage.words:
        certain *= _WITHOUT_WHAT_IS_ASKED
    # What will be is seldom written down, and what was written may have changed since.
    if _FUTURE.search(aim.question):
        certain *= _WITHOUT_WHAT_IS_ASKED
    lacks_a_value = aim.words.asks_for_a_value and not _gives_a_value(passage, there)
    if lacks_a_value or (_FOR_A_NUMBER.search(aim.question) and not _has_a_number(passage)):
        certain *= _WITHOUT_WHAT_IS_ASKED
    is_name = any(term.is_name or term.is_path for term in there)
    # In another language a part of the question may be lost, so one name is not enough either.
    is_whole = is_name and aim.words.language == "en"
    if len(needed) == 1 and not is_whole and not _is_explained(passage, aim):
        certain *= _FOR_ONE_WORD
    # Two everyday words are side by side in many places. A title with both says what it is about.
    elif len(needed) == _FEW and not is_name and not _is_titled(passage, needed):
        certain *= _FOR_TWO_WORDS
    # A place about things of a kind is not the list of them, and a test only shows a use.
    is_beside = aim.members is not None or _is_a_test(passage, aim)
    if all(map(is_generic, words)) or is_beside:
        certain = min(certain, SURE - 0.05)
    # The question's words are there, but nowhere in a title, in what is defined, or twice.
    if passage.said < _MENTIONED:
        certain = min(certain, SURE - 0.05)
    # What is called exactly like a word of the question is worth showing.
    is_called_so = any(is_definition(passage.best_line, term.word, exactly=True) for term in there)
    return max(certain, LIKELY) if is_called_so else certain


def _has_kin(passage: Passage, term: Term) -> bool:
    """Whether a word related to the term is there, also one for an idiom that the term is part of:
    `interval` for "how often".
    """
    related = (word[1:].split() for word in passage.words if word.startswith("~"))
    return any(term.word in words for words in related)


def _is_a_test(passage: Passage, aim: Aim) -> bool:
    is_asked_for = re.search(r"test", aim.question, re.I)
    return bool(IN_TESTS.search(passage.source.path)) and not is_asked_for


def _is_meant(term: Term, passage: Passage) -> bool:
    """Whether a dotted name is there as a name: `final` in a sentence is not `logger.final`."""
    if not term.is_name or bare_name(term.word) == term.word:
        return True
    name = re.escape(bare_name(term.word))
    as_a_name = re.compile(rf"[.:]{name}\b|\b{name}\(|`{name}`")
    return bool(passage.defines) or any(map(as_a_name.search, passage.lines))


def _has_a_number(passage: Passage) -> bool:
    """Digits in names and addresses are not numbers."""
    return any(re.search(r"\d", _ADDRESS.sub("", line)) for line in passage.lines)


def _gives_a_value(passage: Passage, terms: Sequence[Term]) -> bool:
    """Whether a line of the place gives a value and has a word of the question, or is near one
    that has: a heading and its value have a blank line between them.
    """
    lines = passage.lines
    values = [n for n, line in enumerate(lines) if VALUE.pattern.search(line)]
    return any(
        term.is_in(line)
        for n in values
        for line in lines[max(0, n - _NEAR) : n + _NEAR + 1]
        for term in terms
    )


def _on_near_lines(passage: Passage, terms: Sequence[Term]) -> int:
    """How many of the terms are on the best line or close to it, or in the path."""
    lines = passage.source.lines[max(0, passage.best - _NEAR) : passage.best + _NEAR + 1]
    near = (passage.source.path, *lines)
    return sum(any(map(term.is_in, near)) for term in terms)


def _is_titled(passage: Passage, terms: Sequence[Term]) -> bool:
    """Whether the place defines one of the words, or the heading above it and the name of its file
    have all of them.
    """
    lines = passage.source.lines
    heading = next((n for n in range(passage.best, -1, -1) if is_heading(lines, n)), None)
    titles = [passage.source.path] + ([] if heading is None else [lines[heading]])
    return bool(passage.defines) or all(any(map(term.is_in, titles)) for term in terms)


def _is_explained(passage: Passage, aim: Aim) -> bool:
    """Whether the place is about the one word: it defines it, or has it in a heading with another
    word of the question.
    """
    source = passage.source
    others = [word for word in aim.words.all if is_generic(word)]
    is_headed = is_prose(source) and is_heading(source.lines, passage.best)
    is_headed = is_headed and (not others or bool(passage.words & set(others)))
    # "Registering blueprints" does not say what a blueprint is.
    said = [word for word in _WORD.findall(passage.best_line) if word.lower() not in STOP_WORDS]
    return bool(passage.defines) or (is_headed and len(said) <= len(aim.words.all))
