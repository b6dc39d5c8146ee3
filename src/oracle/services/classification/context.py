"""What came before, as evidence for a turn that leans on it.

Most turns stand on their own, and for those history says nothing: joining the texts would only
drown a topic shift. A turn leans when it is short, led by a pronoun, or joined on by `and`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from oracle.services.classification.evidence import mood_of
from oracle.services.classification.reading import IDENTIFIERS, STOPS, Reading, read, read_tokens
from oracle.services.classification.text import clean, tokenize

SHORT, POINTING = 6, 14
LONGEST_REPLY = 60
_EARLIER = 6
_SAID = 240

_JOINING = frozenset({"and", "or", "same", "also", "then", "so", "but"})
_ABOUT = (["what", "about"], ["how", "about"])
_PRONOUNS = frozenset(
    {"it", "its", "that", "this", "these", "those", "they", "them", "he", "she", "there", "one"}
    | {"ones", "both"}
)
_YES = re.compile(
    r"(?i)\W*(?:(?:oh|ok|okay|ah|hm+|well|yes|yeah|yep|yup|yea|sure|please|pls|do|go|ahead|for it|"
    r"it|that|both|absolutely|definitely|of course|why not|obviously|exactly|correct|right|try|"
    r"with pleasure|would be great|great|good idea|sounds good|by all means|ja|bitte|gerne|oui|sí|"
    r"sim|si|da|да|mach das|klar|thanks|if you can|that would help|perfect|i would|"
    r"the (?:first|second|latter|former)(?: one)?)\W*)+"
)
_NO = re.compile(
    r"(?i)\W*(?:no|nope|nah|not now|not yet|leave it|don't|never ?mind|forget it|nein|non|não)\b"
)
_CHOICE = re.compile(
    r"(?i)\W*(?:the )?(?:first|second|third|latter|former|other|both|\w+)(?: one| of them)?"
    r"[ ,.!]*(?:please|pls|thanks)?\W*"
)
_WHICH = re.compile(r"(?i)\bwhich\b|\bor\b|\bwhat (?:name|title)|\bwhere\b")
_OFFER = re.compile(
    r"(?i)\b(?:shall|should|can|could|may) (?:i|we)(?: (?:also|just|maybe))?|\bwant me to|"
    r"\blike me to|\bneed me to|\bi (?:can|could)(?: also)?|\bsoll ich|\bdois-je|\bquieres que|"
    r"\bquer que eu"
)


@dataclass(frozen=True, kw_only=True)
class Turn:
    role: str
    content: str


def leaning(reading: Reading) -> set[str]:
    """In which ways a turn leans on what was said before; empty when it stands alone."""
    core = reading.core
    size = sum(1 for symbol in core if symbol not in STOPS)
    kinds: set[str] = set()
    if size <= SHORT:
        kinds.add("short")
    if not _JOINING.isdisjoint(core[:1]) or core[:2] in _ABOUT:
        kinds.add("joins")
    if size <= POINTING and _PRONOUNS.intersection(core):
        kinds.add("points")
    return kinds


def taken_up(query: str, reading: Reading, history: Sequence[Turn]) -> str:
    """The assistant's own words where the turn only says yes to them or chooses among them.

    `yes please` after `Shall I log it?` is to be read as `log it`; any other turn gives nothing.
    """
    said = history[-1].content[-_SAID:].strip() if history else ""
    if not said.endswith("?") or history[-1].role == "user" or len(query) > LONGEST_REPLY:
        return ""
    offer = _OFFER.search(said)
    if (offer and _agrees(query, reading)) or _chooses(query, reading, said):
        return said[offer.end() if offer else 0 :].strip(" ?")
    return ""


def _agrees(query: str, reading: Reading) -> bool:
    if _YES.fullmatch(query):
        return True
    return not reading.core and "ack" in reading.tags and not _NO.match(query)


def _chooses(query: str, reading: Reading, said: str) -> bool:
    if not reading.core or _NO.match(query):
        return False
    is_bare = len(reading.core) <= 2 and STOPS.isdisjoint(reading.sketch)
    return bool(_CHOICE.fullmatch(query)) or (is_bare and bool(_WHICH.search(said)))


def history_features(
    reading: Reading, history: Sequence[Turn], type_of: Callable[[Reading], str]
) -> set[str]:
    """`type_of` judges an earlier turn on its own."""
    if not history:
        return set()
    kinds = leaning(reading)
    if not kinds or "shift" in reading.tags:
        return {"stands alone"}
    marks = {*_topic(history, type_of), *_answer(history[-1])}
    found = {f"leans: {kind}" for kind in kinds} | marks
    found.update(f"{kind} {mark}" for kind in (*kinds, mood_of(reading)) for mark in marks)
    return found


def _topic(history: Sequence[Turn], type_of: Callable[[Reading], str]) -> set[str]:
    """The type of the nearest earlier question that stands on its own."""
    nearest = None
    for turn in reversed(history[-_EARLIER:]):
        if turn.role == "user":
            reading = _read_earlier(turn.content)
            nearest = nearest or reading
            if not leaning(reading):
                nearest = reading
                break
    return {f"after {type_of(nearest)}"} if nearest else set()


def _answer(turn: Turn) -> set[str]:
    """Where the assistant's answer came from, or that it was a question."""
    if turn.role == "user":
        return set()
    text = turn.content[-_SAID:].strip()
    if text.endswith("?"):
        return {"offered" if _OFFER.search(text) else "asked back"}
    return {f"answered from {_source(text)}"}


@lru_cache(maxsize=512)
def _source(answer: str) -> str:
    tokens = tokenize(clean(answer))
    kinds = {token.kind for token in tokens}
    if kinds & IDENTIFIERS:
        return "code"
    if kinds & {"doc_file", "record"} or "note" in read_tokens(tokens).tags:
        return "notes"
    return "neither"


@lru_cache(maxsize=512)
def _read_earlier(text: str) -> Reading:
    """Remembered, because a turn is earlier than each of those that follow it."""
    return read(text)
