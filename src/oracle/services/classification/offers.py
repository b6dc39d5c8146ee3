"""Turns that only take up what the assistant has just offered, or choose among its offers."""

from __future__ import annotations

import re

from oracle.services.classification.reading import Reading

LONGEST_REPLY = 60

_YES = re.compile(
    r"(?i)\W*(?:(?:oh|ok|okay|k|ah|hm+|well|yes|yeah|yep|yup|yea|sure|please|pls|do|go|on|ahead|"
    r"for it|so|it|that|both|then|absolutely|definitely|of course|why not|obviously|exactly|"
    r"correct|right|try|check|look|proceed|now|with pleasure|would be great|great|good idea|"
    r"sounds good|by all means|ja|bitte|gerne|oui|sí|sim|si|da|да|mach das|mach|klar|thanks|thx|"
    r"if you can|that would help|that would be nice|perfect|i would|find it|there|cool|fine|"
    r"be my guest|let's|lets|yes we can|hit me|all of (?:it|them)|i don't mind|knock yourself out)"
    r"\W*)+"
)
_NO = re.compile(
    r"(?i)\W*(?:no|nope|nah|not now|not yet|leave it|don't|never ?mind|forget it|nein|non|não)\b"
)
_OFFER = re.compile(
    r"(?i)\b(?:shall|should|can|could|may) (?:i|we)(?: (?:also|just|maybe))?|\bwant me to|"
    r"\blike me to|\bneed me to|\bi (?:can|could)(?: also)?|\bi(?:'d| would) (?:have|need) to|"
    r"\bsoll ich|\bdois-je|\bquieres que|\bquer que eu"
)
_SENTENCE = re.compile(r"(?<=[.!])\s+")
_OR = re.compile(r"(?i),? \bor\b (?:(?:should|shall|rather|do) (?:i )?)?|, |; ")
_FIRST = re.compile(r"(?i)\b(?:first|former|1st|1)\b")
_LAST = re.compile(r"(?i)\b(?:second|latter|last|2nd|2|other)\b")
_WORD = re.compile(r"[^\W_]{3,}")
_POLITE = frozenset({"the", "please", "pls", "one", "thanks", "just", "yes", "and", "that", "only"})


def offered(said: str) -> str:
    """What the assistant says it would do, in its own words; nothing when it offers nothing."""
    if not said.endswith("?"):
        said = _SENTENCE.split(said)[-1]
    offer = _OFFER.search(said)
    return said[offer.end() :].strip(" ?.") if offer else ""


def taken_up(query: str, reading: Reading, offer: str) -> str:
    """The part of `offer` that the turn accepts: after `Shall I log it?`, `yes` means `log it`."""
    if not offer or len(query) > LONGEST_REPLY or _NO.match(query):
        return ""
    if _YES.fullmatch(query) or (not reading.core and "ack" in reading.tags):
        return offer
    return _chosen(query, _OR.split(offer))


def _chosen(query: str, choices: list[str]) -> str:
    if len(choices) < 2 or "?" in query:
        return ""
    words = {word.lower() for word in _WORD.findall(query)} - _POLITE
    for choice in choices:
        if words and words <= {word.lower() for word in _WORD.findall(choice)}:
            return choice
    if len(query.split()) > 5:
        return ""
    if _FIRST.search(query):
        return choices[0]
    return choices[-1] if _LAST.search(query) else ""
