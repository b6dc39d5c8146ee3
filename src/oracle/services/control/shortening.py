"""Make a conversation shorter, always visibly: a note says what is missing.

Results are cut to their share before they enter. Old ones are cut further when there is no room,
and so is, step by step, everything else.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from itertools import accumulate, pairwise
from typing import Any, Final, TypeAlias

from oracle.lazy_dataclass import dataclass
from oracle.patterns import lazy_pattern
from oracle.services.control.conversation import rough_tokens, tokens_of
from oracle.services.control.shown import sources_in

KEPT_RESULTS: Final = 4
"""The newest tool results, which the first step leaves whole: the model works with them."""
KEPT_CHARACTERS: Final = 200
"""What is kept of an old result, draft or argument: enough to see what it was."""
DATA_OF_A_CONTENT: Final = ("sources", "more_uses")
"""Keys that repeat the content as data. They are cut or removed together with the content."""
_NUMBER: Final = lazy_pattern(r"^ *(\d+)(?=[ \t|:])", re.MULTILINE)
_FENCE: Final = lazy_pattern(r"^(`{3,})", re.MULTILINE)
_MIDDLE: Final = lazy_pattern(
    r"\n\[shortened by the tree: \d+ characters left out here, for lack of room\]\n"
)
_PROMPT: Final = "the system prompt"
LEFT_OUT: Final = "[left out by the tree: no room]"
_NOTE_TOKENS: Final = 60
"""About the size of a note that says what is missing."""

Message: TypeAlias = Mapping[str, Any]


@dataclass(frozen=True, kw_only=True, slots=True)
class Compacted:
    """The messages, what was shortened in them, in words for the user, and their size."""

    messages: list[dict[str, Any]]
    shortened: tuple[str, ...]
    tokens: int
    fits: bool


# -- one text --------------------------------------------------------------------------------------


def characters_for(text: str, tokens: int) -> int:
    """How many characters of the text have that many estimated tokens."""
    return int(len(text) * tokens / max(1, rough_tokens(text))) if tokens > 0 else 0


def beginning_of(text: str, characters: int) -> str:
    """The text up to the end of a line, with its fence closed: nothing after it is quoted too."""
    kept = text[:characters]
    # A very long line is cut inside of it: otherwise nothing might be left.
    end = kept.rfind("\n")
    kept = kept[:end] if end > characters // 2 else kept
    open_fence = ""
    for bar in _FENCE.findall(kept):
        if not open_fence:
            open_fence = bar
        elif len(bar) >= len(open_fence):
            open_fence = ""
    return f"{kept}\n{open_fence}" if open_fence else kept


def without_middle(text: str, characters: int) -> str:
    """Its beginning and its end: what is asked is at either end, and fences stay closed."""
    if len(text) <= characters:
        return text
    head = characters * 2 // 3
    left_out = len(text) - characters
    note = f"\n[shortened by the tree: {left_out} characters left out here, for lack of room]\n"
    return f"{text[:head]}{note}{text[len(text) - (characters - head) :]}"


def pieces_of(text: str) -> list[str]:
    """What `without_middle` has left: two pieces or more, or the text itself."""
    return _MIDDLE.split(text)


# -- results that enter ----------------------------------------------------------------------------


def shares(sizes: Sequence[int], room: int) -> list[int]:
    """Divide the room: each gets what it needs, and the large ones get equal parts of the rest."""
    given = [0] * len(sizes)
    order = sorted(range(len(sizes)), key=lambda place: sizes[place])
    for number, place in enumerate(order):
        given[place] = min(sizes[place], room // (len(order) - number))
        room -= given[place]
    return given


def cut_results(contents: Sequence[str], room: int, advice: Sequence[str]) -> list[str]:
    """The contents of the results of one turn, cut to their shares of the room.

    `advice` says for each how the model gets the rest.
    """
    sizes = [rough_tokens(content) for content in contents]
    if sum(sizes) <= room:
        return list(contents)
    given = shares(sizes, room)
    return [
        content if share >= size else _cut(content, share, how)
        for content, size, share, how in zip(contents, sizes, given, advice, strict=True)
    ]


def cut_words(whole: str, cut: str) -> str:
    """How much of a result the model sees: by the numbers of its lines, if it has such.

    >>> cut_words("a.py:\\n1 x\\n2 y\\n3 z", "a.py:\\n1 x\\n2 y\\n[shortened by the tree: …]")
    'The model sees only lines 1-2 of 1-3 of this result, for lack of room'
    """
    seen, all_ = _numbers(cut), _numbers(whole)
    if seen and all_:
        part = f"lines {seen[0]}-{seen[-1]} of {all_[0]}-{all_[-1]}"
    else:
        part = f"{len(cut):,} of {len(whole):,} characters"
    return f"The model sees only {part} of this result, for lack of room"


def _numbers(content: str) -> list[int]:
    """The numbers of its lines; none if they do not rise, as in a result with several places."""
    found = [int(number) for number in _NUMBER.findall(content)]
    return found if all(a < b for a, b in pairwise(found)) else []


def _cut(content: str, tokens: int, advice: str) -> str:
    characters = max(KEPT_CHARACTERS, characters_for(content, tokens - _NOTE_TOKENS))
    if len(content) <= characters:
        return content
    kept = beginning_of(content, characters)
    return f"{kept}\n[shortened by the tree: {characters} of {len(content)} characters. {advice}]"


# -- a conversation that is too long ---------------------------------------------------------------


def compacted(messages: Sequence[Message]) -> Compacted:
    """Cut old tool results to their beginning, with a note that says so."""
    return _changed(messages, [("old tool results", _old_results)], 0)


def fitted(messages: Sequence[Message], room: int, *, may_cut_prompt: bool) -> Compacted:
    """Make the messages fit into the room, by the mildest steps that are enough.

    The question stays in any case, at least its beginning and its end.
    """
    steps = [step for step in _STEPS if may_cut_prompt or step[0] != _PROMPT]
    return _changed(messages, steps, room)


Step: TypeAlias = Callable[[list[dict[str, Any]], int], list[dict[str, Any]]]


def _changed(
    messages: Sequence[Message], steps: Sequence[tuple[str, Step]], room: int
) -> Compacted:
    current = [dict(message) for message in messages]
    shortened: list[str] = []
    for what, step in steps:
        if _tokens(current) <= room:
            break
        smaller = step(current, room)
        if smaller != current:
            shortened.append(what)
        current = smaller
    tokens = _tokens(current)
    return Compacted(
        messages=current,
        shortened=tuple(dict.fromkeys(shortened)),
        tokens=tokens,
        fits=tokens <= room,
    )


def _old_results(messages: list[dict[str, Any]], room: int) -> list[dict[str, Any]]:
    old = set(_results_in(messages)[:-KEPT_RESULTS])
    return [_shortened(m) if place in old else m for place, m in enumerate(messages)]


def _results_to_their_share(messages: list[dict[str, Any]], room: int) -> list[dict[str, Any]]:
    """Of the room for results, older ones get a third, or what the newest do not need.

    The newest get a fifth of all the room in any case: then older turns have to go.
    """
    return _shared_results(messages, room, room // 5)


def _results_that_fit(messages: list[dict[str, Any]], room: int) -> list[dict[str, Any]]:
    return _shared_results(messages, room, 0)


def _shared_results(messages: list[dict[str, Any]], room: int, least: int) -> list[dict[str, Any]]:
    places, last = _results_in(messages), _last_turn_in(messages)
    sizes = {place: rough_tokens(messages[place]["content"]) for place in places}
    free = max(0, room - (_tokens(messages) - sum(sizes.values())))
    old, new = ([n for n in places if (n < last) is is_old] for is_old in (True, False))
    for_old = max(free // 3, free - sum(sizes[place] for place in new))
    given = dict(zip(old, shares([sizes[place] for place in old], for_old), strict=True))
    for_new = max(least, free - sum(given.values()))
    given |= zip(new, shares([sizes[place] for place in new], for_new), strict=True)
    return [
        _shortened(m, characters_for(m["content"], given[place] - _NOTE_TOKENS))
        if place in given and sizes[place] > given[place]
        else m
        for place, m in enumerate(messages)
    ]


def _all_results(messages: list[dict[str, Any]], room: int) -> list[dict[str, Any]]:
    return [
        {**_without_data(m), "content": LEFT_OUT} if m["role"] == "tool" else m for m in messages
    ]


def _all_arguments(messages: list[dict[str, Any]], room: int) -> list[dict[str, Any]]:
    """Many calls are long together, even if the arguments of each are not."""
    gone = {"left out by the tree": "no room"}
    return [
        {**m, "tool_calls": [{**call, "arguments": gone} for call in m["tool_calls"]]}
        if m.get("tool_calls")
        else m
        for m in messages
    ]


def _all_turns(messages: list[dict[str, Any]], room: int) -> list[dict[str, Any]]:
    """Leave out all turns, with their calls and results. What the tree has said stays."""
    question = _question_in(messages)
    said = [m for m in messages[question + 1 :] if m["role"] == "system"]
    if len(said) == len(messages) - question - 1:
        return messages
    note = {"role": "system", "content": "[all turns left out by the tree: no room]"}
    return [*messages[: question + 1], note, *said]


def _drafts(messages: list[dict[str, Any]], room: int) -> list[dict[str, Any]]:
    """What the model wrote before: its texts, and long arguments of its calls."""
    first, last = _question_in(messages) + 1, len(messages) - 1
    return [
        _short_draft(m) if first <= place < last and m["role"] == "assistant" else m
        for place, m in enumerate(messages)
    ]


def _history(messages: list[dict[str, Any]], room: int) -> list[dict[str, Any]]:
    """Leave out the oldest exchanges, as few as necessary."""
    first, end = _prompts_in(messages), _question_in(messages)
    sizes = [tokens_of(message) for message in messages]
    free = room - sum(sizes) + sum(sizes[first:end]) - _NOTE_TOKENS
    kept = end
    while kept - 2 >= first and (newest := sum(sizes[kept - 2 : kept])) <= free:
        free -= newest
        kept -= 2
    if kept == first:
        return messages
    notice = {"role": "user", "content": "[earlier exchanges left out: no room]"}
    return [*messages[:first], notice, *messages[kept:]]


def _old_turns(messages: list[dict[str, Any]], room: int) -> list[dict[str, Any]]:
    """Leave out the oldest turns with their results, but never the last one."""
    question = _question_in(messages)
    starts = [n for n, m in enumerate(messages) if n > question and m["role"] == "assistant"]
    before = [0, *accumulate(tokens_of(message) for message in messages)]
    enough = before[question + 1] + before[-1] - room + _NOTE_TOKENS
    for start in starts[1:]:
        if before[start] >= enough or start == starts[-1]:
            note = {"role": "system", "content": "[earlier turns left out by the tree: no room]"}
            return [*messages[: question + 1], note, *messages[start:]]
    return messages


def _question(messages: list[dict[str, Any]], room: int) -> list[dict[str, Any]]:
    return _without_middle(messages, _question_in(messages), room)


def _prompt_to_half(messages: list[dict[str, Any]], room: int) -> list[dict[str, Any]]:
    """A prompt that takes most of the room leaves nothing to answer from."""
    others = _tokens(messages[1:])
    return _without_middle(messages, 0, others + room // 2)


def _prompt(messages: list[dict[str, Any]], room: int) -> list[dict[str, Any]]:
    return _without_middle(messages, 0, room)


QUESTION: Final = "the question with its attachment"


_STEPS: Final[Sequence[tuple[str, Step]]] = (
    ("old tool results", _old_results),
    ("tool results", _results_to_their_share),
    ("drafts", _drafts),
    ("earlier exchanges", _history),
    ("earlier turns", _old_turns),
    (_PROMPT, _prompt_to_half),
    ("tool results", _results_that_fit),
    (QUESTION, _question),
    ("all tool results", _all_results),
    ("arguments of calls", _all_arguments),
    ("all turns", _all_turns),
    (_PROMPT, _prompt),
)
"""From the mildest to the harshest. What comes last is what an answer depends on most."""


def _without_middle(messages: list[dict[str, Any]], place: int, room: int) -> list[dict[str, Any]]:
    content: str = messages[place]["content"]
    free = room - (_tokens(messages) - rough_tokens(content)) - _NOTE_TOKENS
    characters = max(2 * KEPT_CHARACTERS, characters_for(content, free))
    cut = with_content(messages[place], without_middle(content, characters))
    return [*messages[:place], cut, *messages[place + 1 :]]


def _shortened(message: dict[str, Any], characters: int = KEPT_CHARACTERS) -> dict[str, Any]:
    content: str = message["content"]
    characters = max(characters, KEPT_CHARACTERS)
    if len(content) <= 2 * KEPT_CHARACTERS or len(content) <= characters:
        return message
    note = f"[shortened by the tree: {len(content) - characters} more characters were here]"
    return with_content(message, f"{beginning_of(content, characters)}\n{note}")


def with_content(message: Mapping[str, Any], content: str) -> dict[str, Any]:
    """The message with a shorter content, and only those sources that are still in it.

    The model must not quote from what it does not see. A message without `sources` has lost them
    all; one with an empty list never had any.
    """
    if content == message["content"]:
        return dict(message)
    sources = sources_in(message.get("sources", ()), message["content"], content)
    kept = {**_without_data(message), "content": content}
    had_none = message.get("sources") == []
    return {**kept, "sources": sources} if sources or had_none else kept


def _without_data(message: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in message.items() if key not in DATA_OF_A_CONTENT}


def _short_draft(message: dict[str, Any]) -> dict[str, Any]:
    calls = message.get("tool_calls")
    short = _shortened(message)
    if not calls:
        return short
    return {**short, "tool_calls": [_short_call(call) for call in calls]}


def _short_call(call: dict[str, Any]) -> dict[str, Any]:
    written = json.dumps(call["arguments"], ensure_ascii=False)
    if len(written) <= 2 * KEPT_CHARACTERS:
        return call
    return {**call, "arguments": {"shortened by the tree": written[:KEPT_CHARACTERS]}}


def _results_in(messages: Sequence[Message]) -> list[int]:
    return [place for place, message in enumerate(messages) if message["role"] == "tool"]


def _prompts_in(messages: Sequence[Message]) -> int:
    """How many system messages come first."""
    return next((n for n, m in enumerate(messages) if m["role"] != "system"), len(messages))


def _question_in(messages: Sequence[Message]) -> int:
    """The place of the question: the last message of the user. Before it is the history."""
    users = [place for place, message in enumerate(messages) if message["role"] == "user"]
    return users[-1] if users else 0


def _last_turn_in(messages: Sequence[Message]) -> int:
    """The place of the model's last message: what follows it is the newest."""
    said = [place for place, message in enumerate(messages) if message["role"] == "assistant"]
    return said[-1] if said else 0


def _tokens(messages: Sequence[Message]) -> int:
    return sum(map(tokens_of, messages))
