"""Whether a question itself asks for a tool that writes, in the tool's own words.

Such a tool can do anything: restart a service, send a mail. That a question asks for *some* action
is not enough to run it. The question must be a request that begins with what the tool does.
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
_QUOTED: Final = lazy_pattern(r"```.*?```|\"[^\"\n]*\"|“[^”\n]*”", re.DOTALL)
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
    if not words:
        return False
    names = _names_in(clause)
    # A name of one word, such as `note`, may be any verb.
    if names[0] == tool.name.lower() and len(_words_in(tool.name)) > 1:
        return True
    if words[0] in _WORDS_OF_CALLING and tool.name.lower() in names:
        return True
    around = _words_in(sentence)
    return any(
        any(words[0] in (key, key.removesuffix("s")) for key in keys)
        and all(_has(around, key) for key in keys)
        for keys in _keys_of(tool)
    )


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
