"""Whether an answer says anything: more than the question, and more than where to look."""

from __future__ import annotations

from typing import Final

from oracle.patterns import lazy_pattern
from oracle.services.citations import find_citations
from oracle.services.control.needs import words_in
from oracle.services.questions.search_words import is_generic, search_words, specific_words

_ASKS_FOR_A_STATEMENT: Final = lazy_pattern(
    r"(?i)\W*(?:(?:and|so|but|hi|hello|please)\W+)*(?:how|why|when|explain|describe|compare"
    r"|what(?!['’]?s? (?:files?|places?|modules?|functions?|classes)\b)"
    r"|summari[sz]e|tell me (?:how|why|what)"
    r"|wie|warum|wieso|weshalb|was|wann|erkläre?|beschreibe?|comment|pourquoi|quand|explique[zr]?"
    r"|qu['’]est-ce|cómo|por qué|qué|cuándo|explica)\b"
)
_ASKS_FOR_PLACES: Final = lazy_pattern(
    r"(?i)\b(?:where|wo|où|dónde|list|who calls"
    r"|(?:which|what) (?:files?|modules?|places?|functions?|class(?:es)?|tests?))\b"
)
_SAYS: Final = lazy_pattern(r"\w")
_WORD: Final = lazy_pattern(r"[^\W\d_]{2,}")
_TERSE: Final = 8
"""Words beside the places. So few are not judged: they may say yes or no."""
_ONLY_POINTS: Final = frozenset(
    (
        *("answer", "answers", "asked", "below", "above", "code", "details", "file", "files"),
        *("following", "found", "info", "information", "line", "lines", "place", "places"),
        *("question", "read", "relevant", "results", "section", "see", "source", "sources"),
        *("steht", "stelle", "stellen", "siehe", "datei", "dateien", "voir", "fichier", "ver"),
        *("archivo", "none", "nothing", "various", "several", "important", "most", "says"),
    )
)
"""Words that point at places or speak of the answer, and say nothing about the thing."""
_OTHER_SCRIPTS: Final = lazy_pattern(r"[\u0370-\u1fff\u2e80-\uffdc]")


def says_nothing(question: str, text: str) -> bool:
    """Whether it only repeats the question, or only names places although something else is asked.

    "How does it work?" is not answered by a list of places; "where is it?" is.
    """
    cited = find_citations(text)
    if not text.strip() or (cited and _wants_places(question)):
        return False
    for citation in reversed(cited):
        text = f"{text[: citation.start]} {text[citation.end :]}"
    text = text.replace("`", " ")
    if cited and not _SAYS.search(text):
        return True
    is_line = "\n" not in text.strip()
    if is_line and 0 < len(_WORD.findall(text)) <= _TERSE:
        return False  # "It is in `a.py:3`." is terse, but it is a sentence
    if _OTHER_SCRIPTS.search(text):
        return False  # its words are not known apart
    if not cited and not _ASKS_FOR_A_STATEMENT.match(question) and not _wants_places(question):
        return False  # "Yes." may be all that was asked
    return not _own_words(question, text)


def _own_words(question: str, text: str) -> list[str]:
    # All words of both. Only the first ones are searched for, but an answer may end with its own.
    wanted = search_words(question)
    asked = {word.lower() for word in (*wanted.all, *wanted.names, *wanted.plain)}
    words = search_words(text)
    known = {*words.optional, *_ONLY_POINTS}
    said = [word for word in (*words.names, *words.plain) if not is_generic(word)]
    said = [word for word in said or specific_words(words) if word.lower() not in known]
    return [word for word in said if word.lower() not in asked and not words_in(question, word)]


def _wants_places(question: str) -> bool:
    return bool(_ASKS_FOR_PLACES.search(question)) and not _ASKS_FOR_A_STATEMENT.match(question)
