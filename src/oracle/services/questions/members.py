"""Whether a question asks for all things of a kind, and what they are called."""

from __future__ import annotations

import re
from typing import Final

from oracle.lazy_dataclass import dataclass
from oracle.patterns import lazy_pattern
from oracle.services.questions.languages import language_of, stop_words_of, usual_in_english
from oracle.services.questions.word_lists import STOP_WORDS

_FILLER: Final = (
    r"(?:(?:all|every|each|any|the|of|its?|this|available|built[- ]?in|bundled|different|possible|"
    r"existing|supported|various|known|public|valid|main|core|standard|default)\s+)*"
)
_ASKS: Final = lazy_pattern(
    r"^\W*(?:(?:please|pls|can you|could you|i want to|i need to|give me|show me|tell me)\s+)*"
    r"(?:(?:list|enumerate|name|show)(?:\s+(?:me|us))?\s+(?=(?:all|every|each|the|\w+s\b))"
    r"|what\s+are\s+(?=(?:all|the)\b)|what\s+(?=\w+(?:\s\w+)?s\s+(?:are\s+there|exist|does|do|can|is|are)\b)"
    r"|(?:which|what)\s+(?=(?:[\w-]+\s+){0,2}\w+s\s+(?:are\s+there|exist|does|do|can|are|have|has|come|ship"
    r"|inherit|derive|extend|subclass|implement|is\s+there|could)\b)"
    r"|(?:a|the)\s+(?:full|complete|whole)?\s*list\s+of\s+(?=\w)"
    r"|how\s+many\s+(?=(?:\w+\s+){0,2}\w+s\b)|(?:all|every)\s+(?=\w))"
    rf"{_FILLER}(?P<head>[\w\s./-]{{2,60}}?)"
    r"\s*(?:\b(?:of|in|for|that|which|are|is|does|do|can|have|has|exists?|there|defined|provided|"
    r"supported|available|from|with|by|to|on|it|you|we|come|ship|this|and\s+where)\b(?P<rest>.*)|[?.!,;:]|$)",
    re.I | re.S,
)
# "built in transports, all of them": the quantifier comes last, after a comma or a dash.
_ASKS_AT_THE_END: Final = lazy_pattern(
    rf"^\W*{_FILLER}(?P<head>[\w./-]+(?:\s[\w./-]+){{0,4}})\s*"
    r"(?:[,;:–-]\s*|\s)(?:please\s+|pls\s+)?(?:all\s+of\s+(?:them|it|those)|every\s+one(?:\s+of\s+them)?"
    r"|(?:the\s+|a\s+)?(?:full|complete|whole)\s+(?:list|set|overview)|list\s+(?:them|all)(?:\s+all)?"
    r"|(?:which|what)\s+(?:ones\s+|kinds\s+)?"
    r"(?:are\s+there|exist|do\s+(?:you|we)\s+have|are\s+available))\b"
    r"\W*(?:please|pls)?\W*$",
    re.I,
)
# In other languages the words are put into English, and the quantifier is enough.
_ASKS_ELSEWHERE: Final = lazy_pattern(
    r"\b(?:alle|sämtliche|welche|tou(?:s|tes)\s+les|quels|quelles|liste[rz]?|todos|todas|cuáles|lista|listar)\b"
    r"|所有|哪些|列出|すべて|全て|一覧|どんな",
    re.I,
)
# "How many are kept at most?", "how many should I run?": a number is the answer.
_NUMBER: Final = lazy_pattern(
    r"^\W*how many\b.*\b(?:at most|at least|by default|default|maximum|max|minimum|should|per"
    r"|allowed|limit\w*|times?|seconds|minutes|at once|at a time|unless|otherwise|out of the box"
    r"|to (?:begin|start) with|if (?:i|you|nothing))\b",
    re.I | re.S,
)
_ABOUT_FILES: Final = lazy_pattern(
    r"\b(?:places?|lines?|times?|occurrences?|usages?|callers?)\b", re.I
)
_WORD: Final = lazy_pattern(r"[^\W_]\w+")


@dataclass(frozen=True, kw_only=True, slots=True)
class MembersAsked:
    """`head` is what to list, `rest` what is said about it. Each may be what the project names."""

    head: str
    rest: str = ""


def members_asked(question: str) -> MembersAsked | None:
    """None if the question asks for one thing, or for the places of one thing."""
    said = " ".join(question[:400].split())
    language = language_of(said)
    if language != "en":
        return _elsewhere(said) if _ASKS_ELSEWHERE.search(said) else None
    found = _ASKS.match(said) or _ASKS_AT_THE_END.match(said)
    if found is None or _ABOUT_FILES.search(found["head"]) or _NUMBER.match(said):
        return None
    head = _words(found["head"])
    rest = found["rest"] or "" if "rest" in found.re.groupindex else ""
    return MembersAsked(head=" ".join(head), rest=" ".join(_words(rest))) if head else None


def _elsewhere(said: str) -> MembersAsked | None:
    """What follows the quantifier is what to list, up to the next small word: `Quelles commandes
    la ligne …`. The rest is said about it.
    """
    language = language_of(said)
    stop = STOP_WORDS | stop_words_of(language)
    parts: list[list[str]] = [[]]
    for word in _WORD.findall(said):
        if word.lower() in stop or _ASKS_ELSEWHERE.fullmatch(word):
            parts.append([])
        else:
            parts[-1] += usual_in_english(word, language) or ([word] if word.isascii() else [])
    head, *others = [part for part in parts if part] or [[]]
    rest = dict.fromkeys(word for part in others for word in part if word not in head)
    kept = dict.fromkeys(head)
    return MembersAsked(head=" ".join([*kept][:3]), rest=" ".join([*rest][:3])) if kept else None


def _words(text: str) -> list[str]:
    # Words that only point at the project or ask say nothing about what to list.
    return [word for word in _WORD.findall(text) if word.lower() not in STOP_WORDS][:4]
