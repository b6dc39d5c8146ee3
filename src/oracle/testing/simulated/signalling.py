"""Characters whose signals are missing, malformed, or say the opposite of what they do."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Final

from oracle.testing.simulated import calling
from oracle.testing.simulated.response import Response, Signal, need_turn, sufficient
from oracle.testing.simulated.turn import Turn

_PLANS: Final = (
    "check where {topic} is defined", "understand who calls {topic}",
    "look at the tests of {topic}", "compare {topic} with its configuration",
    "trace the data that reaches {topic}",
    "verify the history of {topic}", "rule out other meanings of {topic}",
    "see how errors in {topic} are handled",
)  # fmt: skip


def silent(turn: Turn) -> Response:
    """Never signals, but works and answers well."""
    return replace(turn.honest, signal=None) if turn.slips else turn.honest


def more_turns(turn: Turn) -> Response:
    """Has the answer and still asks for more turns, always for the same reason, without a call."""
    honest = turn.honest
    if honest.calls or not turn.is_patient:
        return honest
    return replace(honest, signal=need_turn("I want to double-check the answer once more"))


def malformed(turn: Turn) -> Response:
    """Writes signals that are not what the contract asks for, in many ways."""
    honest = turn.honest
    if not turn.slips or not isinstance(honest.signal, Signal):
        return honest
    spoil = turn.random.choice(MALFORMATIONS)
    return replace(honest, signal=spoil(honest.signal))


def _unclosed(signal: Signal) -> str:
    return signal.xml.removesuffix("</signal>")


def _cut_in_tag(signal: Signal) -> str:
    return signal.xml[: signal.xml.index("<confidence") + 5]


def _without_confidence(signal: Signal) -> str:
    return signal.xml[: signal.xml.index("<confidence")] + "</signal>"


def _confidence_in_words(signal: Signal) -> str:
    return signal.xml.replace(f"<confidence>{signal.confidence}", "<confidence>high")


def _confidence_in_percent(signal: Signal) -> str:
    percent = f"<confidence>{signal.confidence:.0%}"
    return signal.xml.replace(f"<confidence>{signal.confidence}", percent)


def _own_type(signal: Signal) -> str:
    return signal.xml.replace(f'"{signal.type}"', '"done"')


def _type_as_tag(signal: Signal) -> str:
    return f"<{signal.type}>{signal.xml[signal.xml.index('>') + 1 :]}"


def _self_closing(signal: Signal) -> str:
    return f'<signal type="{signal.type}" confidence="{signal.confidence}" />'


def _as_json(signal: Signal) -> str:
    return json.dumps({"signal": {"type": signal.type, "confidence": signal.confidence}})


def _in_brackets(signal: Signal) -> str:
    return signal.xml.replace("<", "[").replace(">", "]")


def _crossed_tags(signal: Signal) -> str:
    return signal.xml.replace("</confidence></signal>", "</signal></confidence>")


def _escaped(signal: Signal) -> str:
    return signal.xml.replace("<", "&lt;").replace(">", "&gt;")


def _without_fields(signal: Signal) -> str:
    return replace(signal, fields={}).xml


def _in_a_sentence(signal: Signal) -> str:
    return f"Signal: {signal.type} (confidence {signal.confidence})"


MALFORMATIONS: Final[tuple[Callable[[Signal], str], ...]] = (
    _unclosed, _cut_in_tag, _without_confidence, _confidence_in_words, _confidence_in_percent,
    _own_type, _type_as_tag, _self_closing, _as_json, _in_brackets, _crossed_tags, _escaped,
    _without_fields, _in_a_sentence,
)  # fmt: skip


def fenced(turn: Turn) -> Response:
    """Wraps its signals in code: a fence, a fence with text after it, or backticks."""
    honest = turn.honest
    if not turn.slips or not isinstance(honest.signal, Signal):
        return honest
    xml = honest.signal.xml
    wrapped = turn.random.choice((
        f"```xml\n{xml}\n```",
        f"```\n{xml}\n```\n\nLet me know if you need anything else.",
        f"`{xml}`",
        f"~~~xml\n{xml}\n~~~",
        f"Signal:\n\n```xml\n{xml}",
    ))  # fmt: skip
    return replace(honest, signal=wrapped)


def contradictory(turn: Turn) -> Response:
    """Says that it has enough, and calls search tools in the same response."""
    calls = turn.honest.calls or calling.further_calls(turn.conversation, 2)
    if not turn.persists or not calls:
        return turn.honest
    found = len(turn.conversation.places) or 1
    text = f"{turn.answer.text}\n\nI have everything I need. Let me search a little more."
    return Response(text=text, signal=sufficient(found), calls=calls)


def new_reasons(turn: Turn) -> Response:
    """Announces what it will do, for an ever-new reason, and calls nothing.

    The promise to search that nobody keeps is known from many chat loops (utopia #509).
    """
    if not turn.is_patient or not turn.conversation.tools:
        return turn.honest
    turns = turn.conversation.turns
    plan = _PLANS[turns % len(_PLANS)].format(topic=turn.topic)
    again = f", part {turns // len(_PLANS) + 1}" if turns >= len(_PLANS) else ""
    text = f"Next I will {plan}{again}. Please wait a moment."
    return Response(text=text, signal=need_turn(f"I need to {plan}{again}"))
