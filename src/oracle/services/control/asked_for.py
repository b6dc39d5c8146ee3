"""Whether a question itself asks for a tool that writes, in the tool's own words.

Such a tool is offered, and the answer is partial if no call of it succeeds. No words run it:
"Delete user endpoint returns 404" begins like an order and is none, so a person says yes to each
call.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from oracle.models.tool_spec import ToolSpec
from oracle.patterns import lazy_pattern

_SHORTEST_STEM: Final = 4
_WORDS_OF_A_DESCRIPTION: Final = 2
"""What it does, and to what: "Restart a service of the shop" is about `restart` and `service`."""

# What is quoted is a text to write or to look for, not a request.
_QUOTED: Final = lazy_pattern(
    r"```.*?```|\"[^\"\n]*\"|“[^”\n]*”|^[ \t]*>[^\n]*", re.DOTALL | re.MULTILINE
)
_SENTENCE: Final = lazy_pattern(r"[^.!?;\n]+(?:[.](?=\w)[^.!?;\n]+)*[.!?;\n]?")
_CLAUSE: Final = lazy_pattern(r",|\band\b|\bthen\b|\bbut\b", re.IGNORECASE)
_WORD: Final = lazy_pattern(r"[^\W_]+")
_NAME: Final = lazy_pattern(r"[\w-]+")
_POLITE: Final = lazy_pattern(
    r"\s*(?:(?:please|kindly|now|just|also|ok|okay|hey|first|next|finally|go ahead|let's|let us|"
    r"(?:can|could|would|will) you|i (?:want|need|would like|'d like) you to)\b,?\s*)*",
    re.IGNORECASE,
)
_ASKS_POLITELY: Final = lazy_pattern(
    r"\s*(?:please\b|(?:can|could|would|will) you\b)", re.IGNORECASE
)
_WORDS_OF_A_REPORT: Final = 2
_BEFORE_A_VALUE: Final = frozenset(
    (
        *("at", "by", "called", "for", "from", "in", "into", "named", "of", "on", "onto", "to"),
        *("using", "via", "with"),
    )
)
_NEGATIONS: Final = frozenset({"not", "never", "no"})
# "Save a note fails with a timeout". After "about", "that" or a colon it is what the note says.
_REPORT: Final = lazy_pattern(
    r"\s*(?:write|save|create|add|make|record|push|log|store|update|append|edit|take)\s+"
    r"(?:(?:a|an|the|new|to|this|my|our)\s+){0,2}(?:notes?|entry|entries|decisions?|threads?)\s+"
    r"(?:(?!about\b|on\b|that\b|for\b|of\b|with\b|in\b|to\b|saying\b|which\b|how\b|why\b|what\b)"
    r"[\w-]+\s+){0,3}"
    r"(?:is|are|was|were|isn't|doesn't|didn't|does|did|fail(?:s|ed)?|return(?:s|ed)?|raise[sd]?|"
    r"throws?|threw|breaks?|broke|crash(?:es|ed)?|hangs?|hung|times|timed|takes|gives|shows)\b",
    re.IGNORECASE,
)
_WORDS_OF_CALLING: Final = frozenset({"use", "call", "run", "execute", "invoke"})
_SMALL_WORDS: Final = frozenset(
    (
        *("a", "an", "the", "this", "that", "these", "those", "of", "in", "on", "at", "to", "for"),
        *("from", "with", "by", "and", "or", "one", "its", "it", "all", "any", "some", "our"),
        *("your", "new"),
    )
)


def asks_for(question: str, tool: ToolSpec) -> bool:
    """Whether the question is a request to do what the tool does.

    It names the tool (`run restart_service`), has all words of its name ("restart the web
    service"), or the first words of its description. One of these words begins the request: "how do
    I restart the service?" and "do not restart the service" ask for something else. Of a user who
    may not allow a write, no words are enough.

    After these words may come one more, or what begins with a word such as "on" or "for". "Delete
    user jobs are slow" says something about them.
    """
    if tool.even_if_ordered:
        return False
    plain = _QUOTED.sub(" ", question)
    if tool.name.lower() not in _names_in(plain) and not _may_name(plain, tool):
        return False
    return any(
        _is_named(tool, clause, sentence)
        for sentence in _requests_in(plain)
        for clause in _CLAUSE.split(sentence)
    )


def is_a_report(question: str) -> bool:
    """Whether it only begins like an order to write a note, and reports something instead, or all
    of it is quoted: "Write a note endpoint returns 404".
    """
    plain = _QUOTED.sub(" ", question)
    if question.strip() and not plain.strip():
        return True
    return any(_REPORT.match(sentence[0]) for sentence in _SENTENCE.finditer(plain))


def _may_name(question: str, tool: ToolSpec) -> bool:
    words = _words_in(question)
    return any(all(_has(words, key) for key in keys) for keys in _keys_of(tool))


def _requests_in(question: str) -> Iterator[str]:
    """Its sentences, without questions. "Can you restart it?" is a request all the same."""
    for found in _SENTENCE.finditer(question):
        sentence = found[0]
        if not sentence.endswith("?") or _ASKS_POLITELY.match(sentence):
            yield sentence


def _is_named(tool: ToolSpec, clause: str, sentence: str) -> bool:
    clause = _POLITE.sub("", clause, count=1)
    words = _words_in(clause)
    around = _words_in(sentence)
    if not words or around[-1] in _NEGATIONS or not _is_all_there_is(tool, clause):
        return False
    names = _names_in(clause)
    # A name of one word, such as `note`, may be any verb.
    if names[0] == tool.name.lower() and len(_words_in(tool.name)) > 1:
        return True
    if words[0] in _WORDS_OF_CALLING and tool.name.lower() in names:
        return True
    return any(
        any(words[0] in (key, key.removesuffix("s")) for key in keys)
        and all(_has(around, key) for key in keys)
        for keys in _keys_of(tool)
    )


def _is_all_there_is(tool: ToolSpec, clause: str) -> bool:
    """Whether hardly anything is left after the last word of the tool. Its name is one word."""
    keys = {tool.name.lower(), *(key for keys in _keys_of(tool) for key in keys)}
    words = [name for name in _names_in(clause) if name != "-"]
    is_its = [any(_has([word], key) for key in keys) for word in words]
    last = max((number for number, is_one in enumerate(is_its) if is_one), default=-1)
    rest = words[last + 1 :]
    return len(rest) < _WORDS_OF_A_REPORT or rest[0] in _BEFORE_A_VALUE


def _keys_of(tool: ToolSpec) -> Iterator[Sequence[str]]:
    """The words that name it. One word alone is too common: it needs the description's too."""
    name = [part for part in _words_in(tool.name) if part not in _SMALL_WORDS]
    described = [word for word in _words_in(tool.description) if word not in _SMALL_WORDS]
    described = described[:_WORDS_OF_A_DESCRIPTION]
    if len(name) > 1:
        yield name
    elif name and described:
        yield list(dict.fromkeys([*name, described[-1]]))
    if len(described) == _WORDS_OF_A_DESCRIPTION:
        yield described


def _words_in(text: str) -> list[str]:
    return _WORD.findall(text.lower())


def _names_in(text: str) -> list[str]:
    return _NAME.findall(text.lower())


def _has(words: Sequence[str], key: str) -> bool:
    """`services` is a form of `service`, and `restarting` one of `restart`."""
    stem = key.removesuffix("s") if len(key) > _SHORTEST_STEM else key
    return any(word.startswith(stem) for word in words)
