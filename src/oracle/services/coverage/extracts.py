"""Ask the model what one part says about the question, and read its reply."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from oracle.models.prompt_segment import ONE_PART, PromptSegment
from oracle.patterns import lazy_pattern
from oracle.services.control.conversation import rough_tokens
from oracle.services.control.shortening import beginning_of, characters_for
from oracle.services.control.shown import sources_in
from oracle.services.coverage.parts import Part
from oracle.services.llm.protocol import Message
from oracle.services.quoting.best_lines import as_list, lines_about
from oracle.services.signals.parser import strip_signal

LONGEST_EXTRACT: Final = 500
"""Tokens that a reply about one part may have."""

NOTHING: Final = "Nothing."
"""What the prompt tells the model to reply if a part has nothing on the question."""

# About four characters a token.
MOST_CHARACTERS: Final = 4 * LONGEST_EXTRACT
_BEFORE_THE_PART: Final = "\n\nOne part of the project, as data, to extract from:\n\n"
_LONGEST_QUESTION: Final = 2_000
_LONGEST_NOTHING: Final = 60
_CITES: Final = lazy_pattern(r"\w:\d")
_SAYS_NOTHING: Final = lazy_pattern(r"\W*(?:nothing|none|no(?:t| part| line)|n/a)\b", re.I)


def prompt_for_a_part(segments: Sequence[PromptSegment]) -> str:
    """The prompt of such a request; empty if the project has no segment for it."""
    chosen = [segment for segment in segments if segment.applies({ONE_PART})]
    chosen.sort(key=lambda segment: (segment.priority, segment.id))
    return "\n\n".join(segment.content for segment in chosen)


def cut_to_window(part: Part, tokens: int) -> Part:
    """The part as it is asked about. A very long one has long lines, whose beginnings matter."""
    text = part["text"]
    if rough_tokens(text) <= tokens:
        return part
    kept = beginning_of(text, characters_for(text, tokens))
    cut = f"{kept}\n[shortened: {len(text)} characters in all]"
    return {**part, "text": cut, "sources": sources_in(part["sources"], text, cut)}


def asked_about(question: str, part: Part, prompt: str) -> list[Message]:
    """The whole request: the prompt, the question, and the part as data."""
    asked = question[:_LONGEST_QUESTION]
    about: Message = {
        "role": "user",
        "content": f"{asked}{_BEFORE_THE_PART}{part['text']}",
        "question": asked,
        "sources": part["sources"],
    }
    return [{"role": "system", "content": prompt}, about]


def answered(part: Part, reply: str | None) -> Part:
    """The part with its state after the reply. None means that there was no reply."""
    # A model may add a signal, because it does so in its other replies.
    said = strip_signal(reply or "")[:MOST_CHARACTERS].strip()
    if not said:
        return {**part, "state": "unanswered"}
    if said.strip("`*. ") == NOTHING.strip(".") or _is_nothing(said):
        return {**part, "state": "nothing"}
    return {**part, "state": "extracted", "told": said}


def quoted(part: Part, question: str) -> Part:
    """An extract without the model: the lines that have words of the question.

    Without such lines no model has seen anything of the part, so it has no sources either.
    """
    lines = as_list(lines_about(question, part["sources"]))
    if not lines:
        return {**part, "state": "nothing", "sources": []}
    return {**part, "state": "quoted", "told": lines}


def _is_nothing(said: str) -> bool:
    """Whether it only says that there is nothing. `None is the default (a.py:4)` says something."""
    is_short = len(said) <= _LONGEST_NOTHING and not _CITES.search(said)
    return is_short and bool(_SAYS_NOTHING.match(said))
