"""The honest core that all characters share: search, read the best places, answer with citations.

It is also a character of its own, the control in a comparison.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from oracle.testing.simulated import calling
from oracle.testing.simulated.conversation import Conversation
from oracle.testing.simulated.evidence import Fit, Line, Scorer, words_in
from oracle.testing.simulated.response import (
    Call,
    Response,
    Signal,
    need_turn,
    partial,
    stuck,
    sufficient,
)

_MOST_READ: Final = 2
_MOST_SEARCHES: Final = 2
_MOST_FURTHER: Final = 2
_MOST_FAILURES: Final = 20
_MOST_QUOTED: Final = 5
_LONGEST_QUOTE: Final = 240
_WHOLE: Final = 0.6
"""Above this share of the question's words an answer counts as whole."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Phrases:
    """The sentences around what is quoted, so that an answer can be in another language."""

    best: str = "The most relevant place is {cite}: {quote}."
    next: str = "{cite} adds {quote}."
    uncited: str = "The text says {quote}."
    open: str = "I found nothing about {words}."
    nothing: str = "I could not find this."
    small_talk: str = "You are welcome. What would you like to know?"
    working: str = "I am looking for {what}."


ENGLISH: Final = Phrases()


def respond(conversation: Conversation, phrases: Phrases = ENGLISH) -> Response:
    """Call tools while that helps, then answer."""
    calls = next_calls(conversation)
    return working(calls, phrases) if calls else answer(conversation, phrases)


def working(calls: Sequence[Call], phrases: Phrases = ENGLISH) -> Response:
    """A response that calls tools, with a reason that names the first call."""
    first = calls[0]
    values = first.arguments.values() if not isinstance(first.arguments, str) else [first.arguments]
    what = next(map(str, values), "more")
    reason = f"{first.name.replace('_', ' ').capitalize()}: {what[:200]}"
    return Response(
        text=phrases.working.format(what=quoted(what)), signal=need_turn(reason), calls=calls
    )


def next_calls(conversation: Conversation) -> list[Call]:
    """What a careful colleague would look at next; nothing once there is enough.

    Someone who is sent back looks a little further than before, then says the same again.
    """
    if not conversation.tools or not words_in(conversation.question) or _gives_up(conversation):
        return []
    if not conversation.results:
        return calling.first_calls(conversation)
    further = min(conversation.sent_back, _MOST_FURTHER)
    to_read = _MOST_READ + further - len(conversation.results_of("read"))
    unread = calling.unread_places(conversation)[: max(0, to_read)]
    reads = calling.read_calls(conversation, unread)
    if reads:
        return reads
    found = conversation.results_of("search", "map", "list", "uses")
    searched = len({str(each.arguments) for each in found if each.success})
    wanted = (1 if fit(conversation).lines else _MOST_SEARCHES) + further
    return calling.other_searches(conversation) if searched < wanted else []


def _gives_up(conversation: Conversation) -> bool:
    offered = {tool.name for tool in conversation.tools}
    failed = [each for each in conversation.results if not each.success and each.name in offered]
    return len(failed) >= _MOST_FAILURES


def fit(conversation: Conversation, most: int = _MOST_QUOTED) -> Fit:
    return Scorer(conversation.question, conversation.lines).fit(most)


def answer(conversation: Conversation, phrases: Phrases = ENGLISH) -> Response:
    """The best answer from what has been read."""
    if not words_in(conversation.question):
        return Response(text=phrases.small_talk, signal=sufficient(0, confidence=0.95))
    found = fit(conversation)
    if not found.lines:
        return Response(text=phrases.nothing, signal=_not_found(conversation))
    sentences = [
        sentence(line, phrases, is_first=index == 0) for index, line in enumerate(found.lines)
    ]
    if found.uncovered and found.coverage < _WHOLE:
        sentences.append(phrases.open.format(words=", ".join(found.uncovered)))
    return Response(text="\n".join(sentences), signal=_verdict(found))


def sentence(line: Line, phrases: Phrases = ENGLISH, *, is_first: bool = True) -> str:
    if not line.where:
        return phrases.uncited.format(quote=quoted(line.text))
    form = phrases.best if is_first else phrases.next
    return form.format(cite=quoted(line.where), quote=quoted(line.text))


def quoted(text: str) -> str:
    """Text as inline code, whatever it contains: a quotation must not be taken for a signal."""
    text = " ".join(text.split())[:_LONGEST_QUOTE]
    marks = "`"
    while marks in text:
        marks += "`"
    return f"`{text}`" if marks == "`" else f"{marks} {text} {marks}"


def _verdict(found: Fit) -> Signal:
    confidence = round(0.5 + 0.4 * found.coverage, 2)
    if found.coverage < _WHOLE:
        return partial(f"What is known about {', '.join(found.uncovered)}?", confidence=confidence)
    return sufficient(len({line.path for line in found.lines}), confidence=confidence)


def _not_found(conversation: Conversation) -> Signal:
    tried = [f"{call['name']} {call['arguments']}"[:120] for call in conversation.calls][-4:]
    if conversation.tools and len(tried) > 1:
        return stuck(tried, "Nothing that was found is about the question")
    return partial(conversation.question[:300] or "the question", confidence=0.4)
