"""Turns that only accept what the assistant has just offered, or choose one of its offers."""

from __future__ import annotations

from oracle.patterns import lazy_pattern
from oracle.services.classification.parsed_query import ParsedQuery

# Characters. A longer reply says something of its own.
LONGEST_REPLY = 60
# Words. `the first one please` chooses; a longer sentence with `first` in it may mean anything.
MOST_WORDS_OF_A_CHOICE = 5

# The whole reply consists of words of agreement, in any order: `oh yes, please go ahead`.
_YES = lazy_pattern(
    r"(?i)\W*(?:(?:oh|ok|okay|k|ah|hm+|well|yes|yeah|yep|yup|yea|sure|please|pls|do|go|on|ahead|"
    r"for it|so|it|that|both|then|absolutely|definitely|of course|why not|obviously|exactly|"
    r"correct|right|try|check|look|proceed|now|with pleasure|would be great|great|good idea|"
    r"sounds good|by all means|ja|bitte|gerne|oui|sí|sim|si|da|да|mach das|mach|klar|thanks|thx|"
    r"if you can|that would help|that would be nice|perfect|i would|find it|there|cool|fine|"
    r"be my guest|let's|lets|yes we can|hit me|all of (?:it|them)|i don't mind|knock yourself out)"
    r"\W*)+"
)
_NO = lazy_pattern(
    r"(?i)\W*(?:no|nope|nah|not now|not yet|leave it|don't|never ?mind|forget it|nein|non|não)\b"
)
# The words before the offered action: `Shall I …`, `Do you want me to …`, `I could also …`.
_OFFER = lazy_pattern(
    r"(?i)\b(?:shall|should|can|could|may) (?:i|we)(?: (?:also|just|maybe))?|\bwant me to|"
    r"\blike me to|\bneed me to|\bi (?:can|could)(?: also)?|\bi(?:'d| would) (?:have|need) to|"
    r"\bsoll ich|\bdois-je|\bquieres que|\bquer que eu"
)
_SENTENCE = lazy_pattern(r"(?<=[.!])\s+")
# Separates the choices of an offer: `log it, or should I open a thread`.
_OR = lazy_pattern(r"(?i),? \bor\b (?:(?:should|shall|rather|do) (?:i )?)?|, |; ")
_FIRST = lazy_pattern(r"(?i)\b(?:first|former|1st|1)\b")
_LAST = lazy_pattern(r"(?i)\b(?:second|latter|last|2nd|2|other)\b")
_WORD = lazy_pattern(r"[^\W_]{3,}")
_POLITE = frozenset({"the", "please", "pls", "one", "thanks", "just", "yes", "and", "that", "only"})


def find_offer(said: str) -> str:
    """The action that the assistant offers, in its own words; empty if it offers nothing."""
    # A question is read as a whole. Elsewhere only the last sentence can be an offer.
    if not said.endswith("?"):
        said = _SENTENCE.split(said)[-1]
    offer = _OFFER.search(said)
    return said[offer.end() :].strip(" ?.") if offer else ""


def accepted_offer(query: str, parsed: ParsedQuery, offer: str) -> str:
    """The part of `offer` that the turn accepts; empty if it accepts nothing.

    After `Shall I log it?`, `yes` accepts `log it`.
    """
    if not offer or len(query) > LONGEST_REPLY or _NO.match(query):
        return ""
    if _YES.fullmatch(query) or (not parsed.core and "ack" in parsed.tags):
        return offer
    return _chosen(query, _OR.split(offer))


def _chosen(query: str, choices: list[str]) -> str:
    if len(choices) < 2 or "?" in query:
        return ""
    words = {word.lower() for word in _WORD.findall(query)} - _POLITE
    # All words of the reply occur in one choice: `the thread` chooses `open a thread`.
    for choice in choices:
        if words and words <= {word.lower() for word in _WORD.findall(choice)}:
            return choice
    if len(query.split()) > MOST_WORDS_OF_A_CHOICE:
        return ""
    if _FIRST.search(query):
        return choices[0]
    return choices[-1] if _LAST.search(query) else ""
