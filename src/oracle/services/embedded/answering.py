"""The answer: quote the best place, list others with a line each, then say what is missing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from oracle.patterns import lazy_pattern
from oracle.services.control.unfinished_answer import NO_SEARCH, NO_SURE_PLACE, NOTHING_CHANGED
from oracle.services.embedded.judging import LIKELY, SURE, certainty
from oracle.services.embedded.listing import groups_that_may_be_meant
from oracle.services.embedded.own_words import NOT_FOUND, NOT_SURE, ONLY_QUOTES
from oracle.services.embedded.places import MOST_LINES, best_places, items
from oracle.services.embedded.response import (
    Response,
    counted,
    exact_line,
    nothing_about,
    signal,
)
from oracle.services.embedded.searching import Aim, all_of, found_in, nearest_of
from oracle.services.embedded.situation import Situation
from oracle.services.questions.search_words import specific_words
from oracle.services.quoting.kinds_of_lines import (
    is_opening,
    is_prose,
)
from oracle.services.quoting.passages import Passage, is_dull
from oracle.services.tools.answer import code, codes

_LISTED: Final = 4
_LISTED_OF_ALL: Final = 20
_NEAREST: Final = 3
_WORTH_LISTING: Final = 0.1
# The share of the question's words, by weight, from which on a place is about it.
_MOST: Final = 0.75
# Shares of the best passage's score.
_CANNOT: Final = (
    "I can write notes and entries of threads, and change nothing else. What I found about it:"
)
_NO_SEARCH: Final = (
    f"{NO_SEARCH} for this answer, so I have looked at nothing: a limit of this run left "
    "no room for one. Ask again with a higher limit, such as `--max-turns 5` or `--timeout 300`."
)
_PLACE: Final = lazy_pattern(r"([\w./-]+\.\w+):(\d+)")
NO_WORDS: Final = (
    "I search by words, and this question has none that I could search for. Name a function, a "
    "file, or what it is about."
)


def answer(situation: Situation, aim: Aim, found: Sequence[Passage]) -> Response:
    """What was found, with a signal that claims only what the quoted lines cover."""
    if not found or (web_failed(situation) and _share(aim, found[:1]) < _MOST):
        return nothing_found(situation, aim)
    listed = all_of(situation, aim) if aim.wants_uses else []
    if len(listed) == 1 and not aim.words.names:
        # One line is no list. Quoted with its surroundings it may be the answer.
        listed = []
    shown = listed[:_LISTED_OF_ALL] or _chosen(found[:1] if _is_about_a_file(aim) else found)
    missing = words_missing(aim, shown)
    certain = certainty(situation, aim, shown)
    if certain < LIKELY and not listed and not aim.wants_a_change:
        return _only_near(situation, aim, shown, missing)
    members = groups_that_may_be_meant(situation, aim)
    room = MOST_LINES - len(members.splitlines())
    body = _every_place(listed) if listed else _joined(members, best_places(shown, room))
    if not listed:
        body = _joined(body, _outline(situation, aim))
    cannot = _CANNOT if aim.wants_a_change else ""
    failed = what_failed(situation, found_some=True)
    doubt = "" if certain >= SURE or cannot else _doubt(aim)
    text = _joined(cannot or doubt, body, nothing_about(missing), failed)
    return Response(text=text, signal=_signal(aim, shown, missing, certain))


def _doubt(aim: Aim) -> str:
    language = aim.own.language
    return f"{NOT_SURE[language]} {ONLY_QUOTES[language]}"


def _only_near(
    situation: Situation, aim: Aim, shown: Sequence[Passage], missing: Sequence[str]
) -> Response:
    """Places that have only some common words of the question: none of them is quoted as if it
    answered.
    """
    lead = f"{NOT_FOUND[aim.own.language]} {ONLY_QUOTES[aim.own.language]}"
    near = "The nearest places, which have only some of the words:\n\n" + best_places(shown)
    failed = what_failed(situation, found_some=True)
    lacks = ", ".join(missing) or ", ".join(aim.words.all)
    return Response(
        text=_joined(lead, near, nothing_about(missing), failed),
        signal=signal("partial_answer", 0.3, missing=lacks),
    )


def nothing_found(situation: Situation, aim: Aim) -> Response:
    words = aim.words.all
    # A call that the tree did not run has searched nothing.
    searched = list(dict.fromkeys(call.name for call in situation.calls if call.was_run))
    body = f"I found nothing for {codes(words)}." if words else NO_WORDS
    if searched:
        body += f" I tried {codes(searched)}."
    elif not situation.tools:
        body = _NO_SEARCH
    nearest = [] if web_failed(situation) else nearest_of(situation, aim)[:_NEAREST]
    if nearest:
        body += " The nearest places, by parts of the words or related ones:\n\n" + items(nearest)
    text = _joined(body, what_failed(situation, found_some=False))
    return Response(
        text=text,
        signal=signal("partial_answer", 0.3, missing=", ".join(words) or "words to search for"),
    )


def web_failed(situation: Situation) -> bool:
    """Whether the question was for the web, and the web could not be searched."""
    first = situation.turns[0] if situation.turns else ()
    return len(first) == 1 and first[0].searches_the_web and first[0].success is False


def what_failed(situation: Situation, *, found_some: bool) -> str:
    """The last message of each tool that failed. If something was found, failures of reading are
    left out: a wrong path does not matter then.
    """
    failed = {
        call.name: call.summary
        for call in situation.failed
        if not found_some or call.role != "read"
    }
    # The messages are written for a model. Here the user reads them.
    shown = {name: _for_the_user(name, why) for name, why in failed.items()}
    return "\n\n".join(f"{code(name)} failed: {code(why, 400)}" for name, why in shown.items())


def _for_the_user(name: str, why: str) -> str:
    """Without the name, which is said before it. A place in an error is not a citation."""
    words = why.removeprefix(f"{name} failed: ").replace("tell the user to ", "")
    return _PLACE.sub(r"line no. \2 of \1", words)


def _joined(*parts: str) -> str:
    return "\n\n".join(filter(None, parts))


def _chosen(found: Sequence[Passage]) -> list[Passage]:
    """The best passage, and a few others that are about as good."""
    best = found[0].score
    good = [
        passage
        for passage in found[1:]
        if passage.score >= _WORTH_LISTING * best and not is_dull(passage.best_line)
    ]
    return [found[0], *good][: 2 + _LISTED]


def _is_about_a_file(aim: Aim) -> bool:
    return bool(aim.words.paths) and set(aim.words.all) <= set(aim.words.paths)


def _outline(situation: Situation, aim: Aim) -> str:
    """What a file defines, if the question names only the file."""
    if not _is_about_a_file(aim):
        return ""
    sources = [s for s in found_in(situation) if any(s.path.endswith(p) for p in aim.words.paths)]
    items = [
        f"- {code(source.place(number, number))}: {exact_line(line)}"
        for source in sources[:1]
        for number, line in enumerate(source.lines)
        if is_opening(line)
    ]
    return "It defines:\n\n" + "\n".join(items[:_LISTED_OF_ALL]) if items else ""


def _every_place(listed: Sequence[Passage]) -> str:
    files = len({passage.source.path for passage in listed})
    body = f"I found {counted(len(listed), 'place')} in {counted(files, 'file')}"
    if len(listed) > _LISTED_OF_ALL:
        body += f"; the first {_LISTED_OF_ALL}"
    note = "I looked at the best places of a search; there may be more."
    return f"{body}:\n\n{items(listed[:_LISTED_OF_ALL])}\n\n{note}"


def words_missing(aim: Aim, shown: Sequence[Passage]) -> list[str]:
    covered = {word for passage in shown for word in passage.words}
    return [word for word in specific_words(aim.words) if word not in covered]


def _signal(aim: Aim, shown: Sequence[Passage], missing: Sequence[str], certain: float) -> str:
    """Whole only if one place is sure to answer; otherwise it says what that place lacks."""
    if aim.wants_a_change:
        return signal("partial_answer", 0.6, missing=NOTHING_CHANGED)
    if certain < SURE:
        lacks = ", ".join(missing) or NO_SURE_PLACE
        return signal("partial_answer", min(0.6, 0.3 + 0.4 * certain), missing=lacks)
    kinds = sorted({_kind(passage) for passage in shown})
    confidence = 0.3 + 0.5 * certain + (0.1 if shown[0].defines else 0.0)
    return signal(
        "context_sufficient", min(confidence, 0.9), sources_found=len(shown), source_types=kinds
    )


def _share(aim: Aim, shown: Sequence[Passage]) -> float:
    """The share of the question's words, by weight, in the place that has the most of them."""
    weights = {word: aim.words.weight_of(word) for word in specific_words(aim.words)}
    most = max(sum(weights.get(word, 0.0) for word in passage.words) for passage in shown)
    return most / (sum(weights.values()) or 1.0)


def _kind(passage: Passage) -> str:
    """Prose belongs to the vault, even if the tool for code has read it."""
    source = passage.source
    return source.kind.name if not source.kind.has_lines or not is_prose(source) else "vault"
