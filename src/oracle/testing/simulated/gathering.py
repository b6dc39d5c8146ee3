"""Characters that gather badly: too much, too little at a time, or with calls that fail."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from itertools import cycle, islice
from typing import Final

from oracle.testing.simulated import calling
from oracle.testing.simulated.competent import working
from oracle.testing.simulated.evidence import Place, words_in
from oracle.testing.simulated.response import Call, Response, need_turn
from oracle.testing.simulated.turn import Turn

_QUESTION_FORMS: Final = (
    "{}", "{} implementation", "how {}", "{} explained", "where is {}", "{} details", "about {}",
    "{} overview", "what is {}", "{} code", "{} logic", "find {}",
)  # fmt: skip


def gatherer(turn: Turn) -> Response:
    """Searches and reads on although it has what it needs; at extreme while tools are offered."""
    calls = calling.further_calls(turn.conversation, 3) if turn.is_patient else []
    if not calls or not turn.conversation.results:
        return turn.honest
    text = "I have a good picture, but to be thorough I want to look at more places."
    return replace(working(calls), text=text)


def rephraser(turn: Turn) -> Response:
    """Runs one search in ever other words and reads nothing. No two calls are the same, so a
    guard against repeated calls does not notice.
    """
    tools = calling.searching_tools(turn.conversation)[:1]
    if not tools or not turn.is_patient:
        return turn.answer
    if not turn.conversation.results:
        return turn.honest
    words = words_in(turn.conversation.question) or ("project",)
    turns = turn.conversation.turns
    moved = [*words[turns % len(words) :], *words[: turns % len(words)]]
    form = _QUESTION_FORMS[turns // len(words) % len(_QUESTION_FORMS)]
    return working([calling.call(tools[0], form.format(" ".join(moved)))])


def tiny_steps(turn: Turn) -> Response:
    """One call a turn: a single search, then a few lines of a file at a time."""
    conversation = turn.conversation
    if conversation.turns >= turn.by_strength(4, 10, 30):
        return turn.answer
    searches = calling.fresh_searches(conversation, calling.searching_tools(conversation))
    if not conversation.places:
        search = next(searches, None)
        return working([search]) if search else turn.honest
    size = turn.by_strength(20, 8, 3)
    steps = [step for place in conversation.places if (step := _next_lines(turn, place, size))]
    failures = sum(not each.success for each in conversation.results_of("read"))
    step = steps[failures % len(steps)] if steps else next(searches, None)
    return working([step]) if step else turn.answer


def _next_lines(turn: Turn, place: Place, size: int) -> Call | None:
    tool = calling.reading_tool(turn.conversation, place)
    if tool is None or "start" not in calling.properties(tool):
        return None
    main = calling.main_argument(tool)
    read = [
        int(str(result.arguments.get("start", 1)))
        for result in turn.conversation.results_of("read")
        if isinstance(result.arguments, Mapping) and result.arguments.get(str(main)) == place.path
    ]
    start = max(read) + size if read else max(1, place.start)
    return calling.call(tool, place.path, start=start, end=start + size - 1)


def flooder(turn: Turn) -> Response:
    """Many calls in one response (12, 30 or 50), some of them twice."""
    width = turn.by_strength(12, 30, 50)
    if turn.conversation.turns >= turn.by_strength(1, 2, 4):
        return turn.answer
    calls = calling.further_calls(turn.conversation, width - width // 5)
    if not calls:
        return turn.honest
    return working(list(islice(cycle(calls), width)))


def failing_caller(turn: Turn) -> Response:
    """Makes the same call with arguments that fail, again and again, whatever the error says."""
    call = _failing_call(turn)
    if call is None or not turn.is_patient:
        return turn.answer
    if turn.conversation.turns == 0:
        return working([*turn.honest.calls, call])
    text = "That did not work. Let me try again."
    return Response(text=text, signal=need_turn(f"Try {call.name} again"), calls=[call])


def _failing_call(turn: Turn) -> Call | None:
    readers = turn.conversation.tools_for("read")
    if readers:
        return calling.call(readers[0], f"src/{turn.topic}/{turn.topic}_service.py")
    tools = turn.conversation.harmless_tools
    return Call(name=tools[0].name, arguments={"input": turn.topic}) if tools else None


def mangler(turn: Turn) -> Response:
    """Writes arguments that are not what the tool takes: double-encoded, cut, renamed, nested.

    Known from small local models: GLM and Qwen send objects as text (smolagents #122, #1003).
    """
    if not turn.persists:
        return turn.honest
    mangled = [
        replace(call, arguments=_mangled(turn, call.arguments)) for call in turn.honest.calls
    ]
    return replace(turn.honest, calls=mangled)


def _mangled(turn: Turn, arguments: Mapping[str, object] | str) -> Mapping[str, object] | str:
    given = {} if isinstance(arguments, str) else dict(arguments)
    as_text = json.dumps(given, ensure_ascii=False)
    forms: tuple[Mapping[str, object] | str, ...] = (
        json.dumps(as_text),
        as_text[:-2],
        str(given),
        {f"{name}_text": value for name, value in given.items()},
        {"arguments": given},
        {name: [value] for name, value in given.items()},
        dict.fromkeys(given),
        {},
    )
    return turn.random.choice(forms)
