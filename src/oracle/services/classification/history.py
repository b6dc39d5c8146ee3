"""Features from the conversation, for a turn that depends on it.

Most turns are complete, and for those the history is ignored: it would only hide a change of topic.
A turn depends on the history when it is short, uses a pronoun, or begins with `and` or the like.

The names of the features are keys in `weights.txt`. To change one, train the classifier again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from oracle.lazy_dataclass import dataclass
from oracle.patterns import lazy_pattern
from oracle.services.classification.accepted_offers import find_offer
from oracle.services.classification.parsed_query import IDENTIFIERS, ParsedQuery, parse_query
from oracle.services.classification.structure import mood_of, size_class

# Symbols in a turn: up to SHORT it depends on the history, up to POINTING its pronouns refer back.
# In a longer turn a pronoun usually refers to something in the turn itself.
SHORT, POINTING = 8, 16
# Characters read: the beginning of a question says what it is, the end of an answer what is next.
_ASKED, _SAID = 100, 240
_SIZES = (0, 1, 2, 3, 5, 8, 12)

_JOINING = frozenset({"and", "or", "same", "also", "then", "so", "but"})
_ABOUT = (["what", "about"], ["how", "about"])
_PRONOUNS = frozenset(
    {"it", "its", "that", "this", "these", "those", "they", "them", "he", "she", "there", "one"}
    | {"ones", "both"}
)
# `no, I meant …`, `not the parser`, `actually …`: a few fillers, then a word that corrects.
_CORRECTING = lazy_pattern(
    r"(?i)\W*(?:(?:no|nope|not|wait|sorry|sry|hm+|oh|actually|nein|non|i)\b\W*)*"
    r"(?:(?:not|actually|i mean|meant|didn't mean|i want|nicht|no)\b)"
)
# An answer that begins by reporting a change: `Done.`, `Added to …`, `I've renamed …`, in several
# languages. After it, the next turn is often about the same change.
_WRITTEN = lazy_pattern(
    r"(?i)\W*(?:ok(?:ay)?\W+|all )?(?:done|added|created|logged|saved|deleted|removed|renamed|"
    r"moved|updated|changed|noted|recorded|written|inserted|linked|tagged|appended|set|replaced|"
    r"fixed|merged|marked|archived|put|closed|reverted|restored|i(?:'ve| have)? (?:added|created|"
    r"renamed|moved|put|changed|updated|wrote|removed|deleted|logged|saved|fixed)|the entry|"
    r"eingetragen|erledigt|notiert|angelegt|hecho|fait|ajouté|feito|fatto|gedaan|gotowe|klart)\b"
)
# The kind of source that an answer cites is the likely source of the next answer.
_CITED = {
    # Backquoted text (unless it names a document), source files, calls, and identifiers.
    "code": lazy_pattern(
        r"`(?![^`\n]*\.(?:md|rst|txt)\b)[^`\n]+`|\b[\w/]+\.(?:py|[jt]sx?|go|rs|java|kt|c|h|cc|cpp|cs|"
        r"rb|swift|sh|sql|ya?ml|toml|json|tf|css|html|proto|ini)\b|\w\(\)|\w::\w|[a-z]_[a-z]|"
        r"[a-z][A-Z][a-z]"
    ),
    # Words for documents and decisions, markdown files, and titles in quotation marks.
    "notes": lazy_pattern(
        r"(?i)\b(?:notes?|threads?|adrs?|adr-?\d+|docs?|documentation|minutes|runbooks?|playbook|"
        r"roadmap|handbook|wiki|vault|entry|entries|readme|changelog|contributing|checklist|retro|"
        r"spec|policy|guide|guidelines?|register|glossary|meeting|notiz|protokoll|nota|notatka|"
        r"decided|agreed|agreement|according to)\b|\.md\b|\"[A-Z][^\"\n]{2,60}\""
    ),
    # Addresses, standards, years, and the words of general statements.
    "web": lazy_pattern(
        r"(?i)https?://|\b\w+\.(?:com|org|io|dev|net)\b|\b(?:rfc|cve|iso|en)[- ]?\d|\busually\b|"
        r"\b(?:since version|released?|most \w+s|in general|people|common(?:ly)?|supports?|stable|"
        r"(?:19|20)\d\d)\b"
    ),
}
# The tags of a turn that are combined with each fact about the history.
_MARKED = ("tech", "inside", "note", "code", "decide", "process", "time", "general", "rework")


@dataclass(frozen=True, kw_only=True)
class Turn:
    role: str
    content: str


@dataclass(frozen=True, kw_only=True)
class RecentTurns:
    """The end of a conversation.

    `asked` are the user's last two questions, newest first. `said` is the last answer and `earlier`
    the one before it. `offer` is what the last answer offers to do.
    """

    asked: list[str]
    said: str
    earlier: str
    offer: str


def recent_turns(history: Sequence[Turn]) -> RecentTurns:
    """Read the end of a conversation, in parts of limited length. Empty turns are skipped."""
    newest_first = [turn for turn in reversed(history) if turn.content]
    asked = [turn.content[:_ASKED] for turn in newest_first if turn.role == "user"]
    answers = [turn.content[-_SAID:].strip() for turn in newest_first if turn.role != "user"]
    # The user's last question has no answer yet.
    if newest_first and newest_first[0].role == "user":
        answers.insert(0, "")
    said, earlier, *_ = *answers, "", ""
    return RecentTurns(asked=asked[:2], said=said, earlier=earlier, offer=find_offer(said))


def leaning(parsed: ParsedQuery) -> set[str]:
    """The ways in which a turn depends on the history; empty if it is complete."""
    core = parsed.core
    kinds: set[str] = set()
    if parsed.size <= SHORT:
        kinds.add("short")
    if not _JOINING.isdisjoint(core[:1]) or core[:2] in _ABOUT:
        kinds.add("joins")
    if parsed.size <= POINTING and _PRONOUNS.intersection(core):
        kinds.add("points")
    return kinds


def history_features(
    query: str, parsed: ParsedQuery, recent: RecentTurns, type_of: Callable[[ParsedQuery], str]
) -> set[str]:
    """`type_of` classifies an earlier turn without its history."""
    if not recent.asked and not recent.said:
        return set()
    kinds = leaning(parsed)
    # `shift` tags phrases such as `another question`, which announce another topic.
    if not kinds or "shift" in parsed.tags:
        return {"stands alone"}
    marks = _marks(recent, type_of)
    forms = {*kinds, *_forms(query, parsed)}
    return {*marks, *(f"leans: {kind}" for kind in forms)} | {
        f"{form} {mark}" for form in forms for mark in marks
    }


def acceptance_features(recent: RecentTurns, type_of: Callable[[ParsedQuery], str]) -> set[str]:
    """Features of a turn that accepts an offer. They include the question before the offer, because
    `Shall I proceed?` does not say what is offered.
    """
    return {"takes up an offer", *(f"accepts {mark}" for mark in _marks(recent, type_of))}


def _forms(query: str, parsed: ParsedQuery) -> set[str]:
    found = {mood_of(parsed), f"size {size_class(parsed.size, _SIZES)}"}
    found.update(f"has {tag}" for tag in _MARKED if tag in parsed.tags)
    if any(token.kind in IDENTIFIERS for token in parsed.tokens):
        found.add("has identifier")
    if _CORRECTING.match(query):
        found.add("corrects")
    return found


def _marks(recent: RecentTurns, type_of: Callable[[ParsedQuery], str]) -> set[str]:
    types = [type_of(parse_query(text)) for text in recent.asked]
    source = _source(recent.said, recent.offer)
    found = {source}
    if types:
        found |= {f"after {types[0]}", f"after {types[0]}, {source}"}
    if len(types) > 1:
        found.add(f"after {types[1]} and {types[0]}")
    if recent.earlier:
        found.add(f"earlier {_source(recent.earlier, '')}")
    return found


def _source(said: str, offer: str) -> str:
    """The kind of source of an answer, or that the answer was an offer or a question."""
    if offer:
        return "offered"
    if said.endswith("?"):
        return "asked back"
    if _WRITTEN.match(said):
        return "written"
    cited = [kind for kind, pattern in _CITED.items() if pattern.search(said)]
    return f"cites {' and '.join(cited) or 'nothing'}"
