"""Structural evidence: the stages of the decision, each said in words that a person can read.

Is anything asked or ordered at all? To write or to read? Only then: inside the project or outside?
"""

from __future__ import annotations

from itertools import pairwise

from oracle.services.classification.reading import IDENTIFIERS, STOPS, Reading

_QUESTION_WORDS = frozenset({"what", "where", "who", "whose", "which", "when", "why", "how"})
_AUXILIARIES = frozenset(
    {"is", "are", "was", "were", "am", "do", "does", "did", "has", "have", "had", "can", "could"}
    | {"should", "would", "will", "shall", "may", "must", "any", "anyone"}
)
_ORDERS = frozenset({"write:start", "write:you_do", "write:lets", "write~:you_do", "write~:lets"})
_TALK = frozenset(
    {"i", "it", "that", "this", "you", "we", "they", "he", "she", "me", "is", "was", "are", "were"}
    | {"am", "been", "be", "had", "did", "not", "should", "would", "feeling", "mood"}
)
_MARKS = frozenset(
    {"inside", "identifier", "doc_file", "tech", "time", "world", "general", "decide", "process"}
    | {"history", "team", "note", "code", "self", "feeling"}
)
# An order outweighs a question, a question outweighs a remark.
_BY_WEIGHT = (
    "orders writing",
    "asks openly",
    "asks yes or no",
    "asks late",
    "orders reading",
    "may order writing",
    "asks aside",
)
_INSIDE = frozenset({"inside", "identifier", "doc_file", "line_ref", "trace"})
_OUTSIDE = frozenset({"tech", "time", "world", "general", "url"})
_POINTERS = frozenset({"the", "our", "this", "that", "my", "your", "these", "those"})
_THINGS = frozenset({"w", "code", "note", "tech"})
_SIZES = (0, 1, 2, 3, 5, 8, 12, 20, 40)


def evidence(reading: Reading) -> set[str]:
    marks = _marks(reading)
    moods = _moods(reading)
    mood = _heaviest(moods)
    place = _place(marks)
    found = {mood, place, f"{mood}, {place}", f"last {moods[-1]}"}
    found.update(f"has {mark}" for mark in marks)
    found.update(f"some {mood}" for mood in moods)
    found.update(f"{mood}, has {mark}" for mark in marks & _MARKS)
    found.update(_articles(reading.core))
    found.update(_form(reading))
    if len(moods) > 2:
        found.add(f"long, {mood}")
    return found


def mood_of(reading: Reading) -> str:
    return _heaviest(_moods(reading))


def _marks(reading: Reading) -> set[str]:
    kinds = {token.kind for token in reading.tokens} - {"word", "stop"}
    marks = reading.tags | kinds
    if kinds & IDENTIFIERS:
        marks.add("identifier")
    if "Name" in reading.sketch:
        marks.add("name")
    return marks


def _moods(reading: Reading) -> list[str]:
    """The mood of each sentence; a pasted failure orders nothing, whatever words it holds."""
    if reading.core[:1] == ["<trace>"]:
        return ["shows a failure"]
    found: list[str] = []
    sentence: list[str] = []
    for symbol in (*reading.core, "|"):
        if symbol not in ("|", "?"):
            sentence.append(symbol)
        elif sentence:
            found.append(_mood(sentence, symbol))
            sentence = []
    return found or ["nothing left"]


def _mood(sentence: list[str], end: str) -> str:
    first = sentence[0]
    clauses = [first, *(after for before, after in pairwise(sentence) if before == ",")]
    asks = any(symbol in _QUESTION_WORDS or symbol in _AUXILIARIES for symbol in clauses)
    reads = any(s.startswith("read") and s.endswith((":start", ":you_do")) for s in sentence)
    if "negated_write" in sentence and not asks and not reads:
        return "told not to write"
    if first.startswith("write:") or (not asks and _ORDERS.intersection(sentence)):
        return "orders writing"
    if first in _QUESTION_WORDS:
        return "asks openly"
    if first in _AUXILIARIES:
        return "asks yes or no"
    if first.startswith("write~:"):
        return "may order writing"
    if reads:
        return "orders reading"
    if end == "?":
        return "asks late"
    if asks:
        return "asks aside"
    return "states" if _TALK.intersection(sentence) else "names"


def _heaviest(moods: list[str]) -> str:
    return next((mood for mood in _BY_WEIGHT if mood in moods), moods[0])


def _place(marks: set[str]) -> str:
    inside, outside = bool(marks & _INSIDE), bool(marks & _OUTSIDE)
    if inside and outside:
        return "inside and outside"
    return "inside" if inside else "outside" if outside else "nowhere"


def _articles(core: list[str]) -> set[str]:
    """They tell a thing of ours (`the parser`) from a thing as such (`a parser`)."""
    found: set[str] = set()
    for before, after in pairwise(core):
        if before in ("a", "an") and after in _THINGS:
            found.add("one as such")
        elif before in _POINTERS and (after in _THINGS or after == "Name"):
            found.add(f"{before} {after}")
    return found


def _form(reading: Reading) -> set[str]:
    size = sum(1 for symbol in reading.core if symbol not in STOPS)
    found = {f"length {next((top for top in _SIZES if size <= top), 'more')}"}
    if reading.is_wrapped:
        found.add("wrapped")
    if "?" in reading.sketch:
        found.add("question mark")
    return found
