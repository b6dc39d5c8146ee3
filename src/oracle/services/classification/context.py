"""What came before, as evidence for a turn that leans on it.

Most turns stand on their own, and for those history says nothing: joining the texts would only
drown a topic shift. A turn leans when it is short, led by a pronoun, or joined on by `and`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from oracle.services.classification.evidence import mood_of
from oracle.services.classification.offers import offered, taken_up
from oracle.services.classification.reading import IDENTIFIERS, STOPS, Reading, read

SHORT, POINTING = 8, 16
_ASKED, _SAID = 100, 240
_SIZES = (0, 1, 2, 3, 5, 8, 12)

_JOINING = frozenset({"and", "or", "same", "also", "then", "so", "but"})
_ABOUT = (["what", "about"], ["how", "about"])
_PRONOUNS = frozenset(
    {"it", "its", "that", "this", "these", "those", "they", "them", "he", "she", "there", "one"}
    | {"ones", "both"}
)
_CORRECTING = re.compile(
    r"(?i)\W*(?:(?:no|nope|not|wait|sorry|sry|hm+|oh|actually|nein|non|i)\b\W*)*"
    r"(?:(?:not|actually|i mean|meant|didn't mean|i want|nicht|no)\b)"
)
_WRITTEN = re.compile(
    r"(?i)\W*(?:ok(?:ay)?\W+|all )?(?:done|added|created|logged|saved|deleted|removed|renamed|"
    r"moved|updated|changed|noted|recorded|written|inserted|linked|tagged|appended|set|replaced|"
    r"fixed|merged|marked|archived|put|closed|reverted|restored|i(?:'ve| have)? (?:added|created|"
    r"renamed|moved|put|changed|updated|wrote|removed|deleted|logged|saved|fixed)|the entry|"
    r"eingetragen|erledigt|notiert|angelegt|hecho|fait|ajouté|feito|fatto|gedaan|gotowe|klart)\b"
)
# What an answer cites tells where the next one is likely to be found.
_CITED = {
    "code": re.compile(
        r"`(?![^`\n]*\.(?:md|rst|txt)\b)[^`\n]+`|\b[\w/]+\.(?:py|[jt]sx?|go|rs|java|kt|c|h|cc|cpp|cs|"
        r"rb|swift|sh|sql|ya?ml|toml|json|tf|css|html|proto|ini)\b|\w\(\)|\w::\w|[a-z]_[a-z]|"
        r"[a-z][A-Z][a-z]"
    ),
    "notes": re.compile(
        r"(?i)\b(?:notes?|threads?|adrs?|adr-?\d+|docs?|documentation|minutes|runbooks?|playbook|"
        r"roadmap|handbook|wiki|vault|entry|entries|readme|changelog|contributing|checklist|retro|"
        r"spec|policy|guide|guidelines?|register|glossary|meeting|notiz|protokoll|nota|notatka|"
        r"decided|agreed|agreement|according to)\b|\.md\b|\"[A-Z][^\"\n]{2,60}\""
    ),
    "web": re.compile(
        r"(?i)https?://|\b\w+\.(?:com|org|io|dev|net)\b|\b(?:rfc|cve|iso|en)[- ]?\d|\busually\b|"
        r"\b(?:since version|released?|most \w+s|in general|people|common(?:ly)?|supports?|stable|"
        r"(?:19|20)\d\d)\b"
    ),
}
_MARKED = ("tech", "inside", "note", "code", "decide", "process", "time", "general", "rework")


@dataclass(frozen=True, kw_only=True)
class Turn:
    role: str
    content: str


@dataclass(frozen=True, kw_only=True)
class Before:
    """The last turns of a conversation: what the user asked, newest first, what was answered."""

    asked: list[str]
    said: str
    earlier: str
    offer: str


def look_back(history: Sequence[Turn]) -> Before:
    """Only so much of it is kept that its cost is bounded; a turn without words says nothing."""
    newest_first = [turn for turn in reversed(history) if turn.content]
    asked = [turn.content[:_ASKED] for turn in newest_first if turn.role == "user"]
    answers = [turn.content[-_SAID:].strip() for turn in newest_first if turn.role != "user"]
    if newest_first and newest_first[0].role == "user":
        answers.insert(0, "")
    said, earlier, *_ = *answers, "", ""
    return Before(asked=asked[:2], said=said, earlier=earlier, offer=offered(said))


def leaning(reading: Reading) -> set[str]:
    """In which ways a turn leans on what was said before; empty when it stands alone."""
    core = reading.core
    size = _size(reading)
    kinds: set[str] = set()
    if size <= SHORT:
        kinds.add("short")
    if not _JOINING.isdisjoint(core[:1]) or core[:2] in _ABOUT:
        kinds.add("joins")
    if size <= POINTING and _PRONOUNS.intersection(core):
        kinds.add("points")
    return kinds


def accepted(query: str, reading: Reading, before: Before) -> str:
    """The assistant's own words where the turn only says yes to them or chooses among them."""
    return taken_up(query, reading, before.offer)


def history_features(
    query: str, reading: Reading, before: Before, type_of: Callable[[Reading], str]
) -> set[str]:
    """`type_of` judges an earlier turn on its own."""
    if not before.asked and not before.said:
        return set()
    kinds = leaning(reading)
    if not kinds or "shift" in reading.tags:
        return {"stands alone"}
    marks = _marks(before, type_of)
    forms = {*kinds, *_forms(query, reading)}
    return {*marks, *(f"leans: {kind}" for kind in forms)} | {
        f"{form} {mark}" for form in forms for mark in marks
    }


def acceptance_features(before: Before, type_of: Callable[[Reading], str]) -> set[str]:
    """An offer says little when it only says `Shall I proceed?`; then the question before does."""
    return {"takes up an offer", *(f"accepts {mark}" for mark in _marks(before, type_of))}


def _forms(query: str, reading: Reading) -> set[str]:
    size = _size(reading)
    found = {mood_of(reading), f"size {next((top for top in _SIZES if size <= top), 'more')}"}
    found.update(f"has {tag}" for tag in _MARKED if tag in reading.tags)
    if any(token.kind in IDENTIFIERS for token in reading.tokens):
        found.add("has identifier")
    if _CORRECTING.match(query):
        found.add("corrects")
    return found


def _size(reading: Reading) -> int:
    return sum(1 for symbol in reading.core if symbol not in STOPS)


def _marks(before: Before, type_of: Callable[[Reading], str]) -> set[str]:
    types = [type_of(read(text)) for text in before.asked]
    source = _source(before.said, before.offer)
    found = {source}
    if types:
        found |= {f"after {types[0]}", f"after {types[0]}, {source}"}
    if len(types) > 1:
        found.add(f"after {types[1]} and {types[0]}")
    if before.earlier:
        found.add(f"earlier {_source(before.earlier, '')}")
    return found


def _source(said: str, offer: str) -> str:
    """Where an answer of the assistant came from, or that it was an offer or a question."""
    if offer:
        return "offered"
    if said.endswith("?"):
        return "asked back"
    if _WRITTEN.match(said):
        return "written"
    cited = [kind for kind, pattern in _CITED.items() if pattern.search(said)]
    return f"cites {' and '.join(cited) or 'nothing'}"
