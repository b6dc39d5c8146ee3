"""Stage 3: features of the query's structure, named so that a person can read them.

They answer three questions. Does the query ask or order something? If it orders: to write or to
read? Is it about the project or about the world outside?

The names of the features are keys in `weights.txt`. To change one, train the classifier again.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from oracle.services.classification.parsed_query import IDENTIFIERS, ParsedQuery

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
    | {"history", "team", "note", "code", "self", "feeling", "error_words", "errand", "parts"}
)
# The mood of a query with several sentences: an order beats a question, a question beats a remark.
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
_JOINTS = (",", "and", "or")
_JOINED = (0, 1, 2)
# What a plural after these words is part of: a question for several things, or talk about them.
_ASKED_FOR: dict[str, str] = {
    **dict.fromkeys(
        ("which", "what", "welche", "quels", "quelles", "cuáles", "quais"), "asks of several"
    ),
    **dict.fromkeys(
        ("the", "all", "our", "these", "of", "are", "do", "every"), "speaks of several"
    ),
}
_GOALS = frozenset({"to", "until", "till", "into", "through", "onto"})
# Upper limits of the length classes. They grow, because one word more matters less in a long query.
_SIZES = (0, 1, 2, 3, 5, 8, 12, 20, 40)


def structural_features(parsed: ParsedQuery) -> set[str]:
    marks = _marks(parsed)
    moods = _moods(parsed)
    mood = _heaviest(moods)
    where = _inside_or_outside(marks)
    found = {mood, where, f"{mood}, {where}", f"last {moods[-1]}"}
    found.update(f"has {mark}" for mark in marks)
    found.update(f"some {mood}" for mood in moods)
    found.update(f"{mood}, has {mark}" for mark in marks & _MARKS)
    found.update(_articles(parsed.core))
    found.update(_several(parsed))
    found.update(_form(parsed))
    if len(moods) > 2:
        found.add(f"long, {mood}")
    return found


def mood_of(parsed: ParsedQuery) -> str:
    return _heaviest(_moods(parsed))


def size_class(size: int, limits: Sequence[int]) -> int | str:
    """The first of the growing limits that `size` does not exceed, or `more`."""
    return next((limit for limit in limits if size <= limit), "more")


def _marks(parsed: ParsedQuery) -> set[str]:
    kinds = {token.kind for token in parsed.tokens} - {"word", "stop"}
    marks = parsed.tags | kinds
    if kinds & IDENTIFIERS:
        marks.add("identifier")
    if "Name" in parsed.sketch:
        marks.add("name")
    return marks


def _moods(parsed: ParsedQuery) -> list[str]:
    """The mood of each sentence. A pasted stack trace never orders, whatever words it contains, and
    neither does the title of a ticket or a commit.
    """
    # A word may come before it: `Uncaught TypeError: …`.
    if "<trace>" in parsed.core[:2]:
        return ["shows a failure"]
    if parsed.core[:1] == ["<title>"]:
        return ["has a title"]
    found: list[str] = []
    sentence: list[str] = []
    for symbol in (*parsed.core, "|"):
        if symbol not in ("|", "?"):
            sentence.append(symbol)
        elif sentence:
            found.append(_mood(sentence, symbol))
            sentence = []
    return found or ["nothing left"]


def _mood(sentence: list[str], end: str) -> str:
    """The tests are ordered: the first one that matches decides."""
    first = sentence[0]
    # `before we deploy, is the cache cleared`: a question may begin after a comma.
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


def _inside_or_outside(marks: set[str]) -> str:
    inside, outside = bool(marks & _INSIDE), bool(marks & _OUTSIDE)
    if inside and outside:
        return "inside and outside"
    return "inside" if inside else "outside" if outside else "nowhere"


def _articles(core: list[str]) -> set[str]:
    """Articles separate a thing of this project (`the parser`) from any such thing (`a parser`)."""
    found: set[str] = set()
    for before, after in pairwise(core):
        if before in ("a", "an") and after in _THINGS:
            found.add("one as such")
        elif before in _POINTERS and (after in _THINGS or after == "Name"):
            found.add(f"{before} {after}")
    return found


def _several(parsed: ParsedQuery) -> set[str]:
    """Signs of more than one place: named parts in a row, a plural that is asked for, a way from
    one end to another.
    """
    found: set[str] = set()
    core = parsed.core
    joints = sum(map(core.count, _JOINTS))
    found.add(f"joins {size_class(joints, _JOINED)}")
    words = [token.word for token in parsed.tokens]
    for before, after in pairwise(words):
        if before in _ASKED_FOR and _is_plural(after):
            found.add(_ASKED_FOR[before])
    if "from" in words and not _GOALS.isdisjoint(words[words.index("from") :]):
        found.add("from one end to another")
    return found


def _is_plural(word: str) -> bool:
    """Most plurals in English and Romance languages end in `s`; but so do `class` and `this`."""
    return len(word) > 3 and word.endswith("s") and word[-2] not in "suia'"


def _form(parsed: ParsedQuery) -> set[str]:
    found = {f"length {size_class(parsed.size, _SIZES)}"}
    if parsed.is_wrapped:
        found.add("wrapped")
    if "?" in parsed.sketch:
        found.add("question mark")
    return found
