"""The evidence of a run. It is provisional until a request has gone out: then it is what the model
was shown.

A result can be cut when it arrives, and again before the request that would carry it. What never
went out is not evidence. What went out stays evidence, even if later requests do not repeat it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from oracle.services.attachments.diff_places import places_in_diff
from oracle.services.control.shortening import LEFT_OUT, pieces_of
from oracle.services.control.shown import Place, places_of
from oracle.services.coverage.parts import Part, id_of

Message = Mapping[str, Any]


def after_request(
    evidence: Sequence[Place], messages: Sequence[Message], parts: Sequence[Part], *, turn: int
) -> list[Place]:
    """The evidence, after a request with these messages has gone out.

    Only what was gathered in this turn, the one before the request, had not gone out before.
    """
    found = [place for place in evidence if place["turn"] != turn]
    known = {place["name"] for place in found}
    now = [*_attached(evidence, messages)] if turn == 0 else []
    now += [place for some in _results(messages, parts, turn) for place in some]
    for place in now:
        if place["name"] not in known:
            known.add(place["name"])
            found.append(place)
    return found


def attached_places(sources: Sequence[Mapping[str, Any]], texts: Sequence[str]) -> list[Place]:
    """Attached files as evidence, and the places that diffs among the texts show.

    No tool has read them, so they belong to no call and to no turn.
    """
    diffs = [*texts, *(source["text"] for source in sources if source["kind"] == "diff")]
    changed = [place for text in diffs for place in places_in_diff(text)]
    return [place for one in (*sources, *changed) for place in places_of([one], turn=0, call="")]


def _attached(evidence: Sequence[Place], messages: Sequence[Message]) -> Sequence[Place]:
    """A question that was too long has lost its middle, and with it a part of its attachments."""
    asked = next((m for m in reversed(messages) if m["role"] == "user"), None)
    pieces = pieces_of(asked["content"]) if asked is not None else []
    if asked is None or len(pieces) < 2:
        return [place for place in evidence if place["turn"] == 0 and not place["call"]]
    return attached_places(asked.get("sources", ()), pieces if asked.get("attachment") else ())


def _results(
    messages: Sequence[Message], parts: Sequence[Part], turn: int
) -> Iterator[Sequence[Place]]:
    by_call = {id_of(number): part for number, part in enumerate(parts)}
    was_covered = False
    for message in messages:
        if message.get("turn") == turn:
            was_covered = was_covered or "coverage" in message
            if message["role"] == "tool" and message.get("success"):
                yield _of_result(message, by_call.get(message["call_id"]), turn)
    if was_covered:
        # The model was asked about each of these alone, and has nothing of them before it.
        for call, part in by_call.items():
            if part["state"] == "nothing":
                yield places_of(part["sources"], turn=turn, call=call)


def _of_result(message: Message, part: Part | None, turn: int) -> list[Place]:
    call, content = message["call_id"], message["content"]
    sources: Sequence[Mapping[str, Any]] = message.get("sources", ())
    if part is not None and part["state"] == "extracted" and content != LEFT_OUT:
        # The model has read the part itself, in a request of its own.
        sources = part["sources"]
    elif "sources" in message and not sources and not message.get("empty"):
        # A result without a place of its own is named by its tool.
        sources = [{"kind": message.get("tool_kind"), "where": message["name"], "text": content}]
    return places_of(sources, turn=turn, call=call)
