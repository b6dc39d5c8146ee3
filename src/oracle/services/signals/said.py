"""A response as the model wrote it: the text that is shown, with its signals at their places.

The user sees the text without them. The model is sent its own signals back: turns without them
would teach it to stop.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, cast
from unicodedata import category

from oracle.patterns import lazy_pattern
from oracle.services.signals.own_marks import DATA_MARK
from oracle.services.signals.own_text import OwnTextFilter
from oracle.services.signals.own_words import OwnText, words_of_messages, words_of_prompt

_ANCHOR: Final = 40
"""This many characters before a signal identify its place."""


MOST_IN_ANSWER: Final = 3
"""An answer has one signal. More of them would only fill the history."""


def with_signals(shown: str, signals: Iterable[Mapping[str, Any]]) -> str:
    """`signals` have `raw_xml` and `at`: how many characters of the shown text are before it."""
    pieces: list[str] = []
    end = 0
    for signal in signals:
        at = max(end, min(signal["at"], len(shown)))
        pieces += [shown[end:at], signal["raw_xml"]]
        end = at
    return "".join([*pieces, shown[end:]])


def within(text: str, signals: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The signals at their places in the text without the white space around it."""
    lead = len(text) - len(text.lstrip())
    longest = len(text.strip())
    return [{**signal, "at": max(0, min(signal["at"] - lead, longest))} for signal in signals]


def place_in_answer(at: int, text: str, answer: str) -> int | None:
    """Where the place `at` of the response is in the answer; None if that is not the response.

    An answer is the response, perhaps with marks at citations that do not hold. Marks add no lines.
    """
    if text == answer:
        return at
    if answer[:1] != text[:1] or answer.count("\n") != text.count("\n"):
        return None
    if at >= len(text):
        return len(answer)
    before = text[max(0, at - _ANCHOR) : at]
    found = answer.find(before)
    return len(answer) if found < 0 else found + len(before)


def signals_in_answer(kept: object) -> list[dict[str, Any]]:
    """The first signals of an answer, from what its exchange keeps, which may be damaged."""
    known = cast("list[object]", kept) if isinstance(kept, list) else []
    signals = [cast("dict[str, Any]", signal) for signal in known if isinstance(signal, dict)]
    return [
        {"raw_xml": signal["raw_xml"], "at": signal["in_answer"]}
        for signal in signals
        if isinstance(signal.get("raw_xml"), str) and isinstance(signal.get("in_answer"), int)
    ][:MOST_IN_ANSWER]


# Letters and symbols by their class, but blank: fillers of Hangul, and a Braille cell without dots.
_BLANK: Final = frozenset("\u115f\u1160\u3164\uffa0\u2800")
_UNSEEN_MARKUP: Final = lazy_pattern(
    # Comments, the spaces of HTML, tags without text of their own, and the line that opens a fence.
    r"<!--.*?-->|&(?:nbsp|zwn?j|shy|(?:en|em|thin)sp|#\d+|#x[0-9a-f]+);|</signal>"
    r"|</?(?:br|hr|p|div|span|b|i|em|strong|details|summary|ul|ol|li|table|t[rdh]|center)\b[^<>]*>"
    r"|^[ >]*(?:```|~~~)[^`\n]*$"
    # Calls that a server passed on as text: they were not run, so they are not an answer.
    r"|<(?P<tag>tool_call|function_call|function)\b.*?</(?P=tag)>"
    r"|\[TOOL_CALLS\]\s*\[.*\]|<\|python_tag\|>.*",
    re.DOTALL | re.I | re.M,
)


def is_visible(text: str) -> bool:
    """False for what a reader cannot see: white space, zero-width and control characters."""
    return any(
        character.isprintable() and not character.isspace() and character not in _BLANK
        for character in text
    )


def has_visible_text(text: str) -> bool:
    """Whether markdown says something: a letter, a number or a symbol such as a tick.

    Punctuation alone says nothing, and much of it is not even drawn: rules, quotes, empty tables.
    """
    return any(
        character.isalnum() or (character > "\x7f" and category(character) == "So")
        for character in _UNSEEN_MARKUP.sub("", text)
        if character not in _BLANK
    )


def own_text_in(conversation: Sequence[Mapping[str, Any]], tools: tuple[str, ...]) -> OwnTextFilter:
    """Recognises what we have put into the request, unless the model has also read it elsewhere."""
    prompt, *messages = conversation
    ours = [m["content"] for m in messages if m["role"] == "system" and "coverage" not in m]
    facts = [m["content"] for m in messages if m.get("is_facts")]
    # What is quoted in the facts belongs to the project.
    ours += [block.partition("\nFrom ")[0] for block in facts]

    def is_source(text: str) -> bool:
        for m in messages:
            if m["role"] != "system" and text in m["content"] and not m.get("is_facts"):
                return True
        return False

    own = OwnText(words_of_prompt(prompt["content"], tools), words_of_messages(tuple(ours)))
    results = [m["content"] for m in messages if m["role"] == "tool"]
    summaries = {content.partition("\n")[0] for content in results if DATA_MARK in content}
    return OwnTextFilter(own, is_source, summaries - {""})
