"""The story of a run that cannot be replayed, from its records alone.

Records have what the run did, and what came of it. What the tree decided is known only to a replay.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final, cast

from oracle.services.journal.record import Place, Record
from oracle.services.story.story import Step, Story, Turn, without_texts
from oracle.services.story.words import call_words, result_words, resumed_words

_SIGNAL: Final = re.compile(r"<signal\b[^>]*>.*?(?:</signal>|\Z)", re.DOTALL)


def tell_records(records: Sequence[Record]) -> Story:
    steps: dict[int, list[Step]] = {}
    written: dict[Place, str] = {}
    begun: dict[Place, int] = {}
    for record in records:
        here, place = steps.setdefault(record.place.turn, []), record.place
        # One without parts has readings of the clock only.
        if record.kind == "parts" and record.body:
            written[place] = written.get(place, "") + "".join(map(_text_of, record.body))
            if place not in begun:
                begun[place] = len(here)
                here.append(_said("", place))
            here[begun[place]] = _said(written[place], place)
        elif record.kind == "intent":
            begun[place] = len(here)
            here.append(_step(record))
        elif record.kind in ("answer", "failure") and place in begun and place not in written:
            here[begun.pop(place)] = _step(record)
        # The end of a stream has nothing that its parts did not have.
        elif record.kind in ("failure", "command") or (
            record.kind == "answer" and place not in written
        ):
            here.append(_step(record))
    turns = tuple(
        Turn(number=number, steps=tuple(found)) for number, found in steps.items() if found
    )
    return _with_end(Story(turns=turns), records)


def _said(text: str, place: Place) -> Step:
    plain = _SIGNAL.sub("", text).strip()
    return Step(kind="text", text=plain or "only a signal", node=place.node_path)


def _with_end(story: Story, records: Sequence[Record]) -> Story:
    if not records or records[-1].kind != "end":
        return story
    end: Mapping[str, Any] = records[-1].body
    board = _mapped(end["board"])
    return Story(
        turns=story.turns,
        answer=str(board.get("answer") or ""),
        stop_reason=str(board.get("stop_reason") or end["stop"]),
        detail=str(board.get("stop_detail") or end["detail"] or ""),
        caveat=str(board.get("caveat") or ""),
        missing=tuple(map(str, _listed(board.get("missing")))),
        usage=_mapped(board.get("usage")),
    )


def _step(record: Record) -> Step:
    node, body = record.place.node_path, record.body
    if record.kind == "command":
        return Step(kind="note", text=_command(body))
    text = _request(body["request"])
    if record.kind == "failure":
        return Step(kind="call", text=text, result=str(body["message"]), node=node, ok=False)
    if record.kind == "intent":
        return Step(kind="call", text=text, result="no result", node=node, ok=False)
    result, ok = _result(body.get("value"))
    found = without_texts(map(_mapped, _listed(_mapped(body.get("value")).get("sources"))))
    return Step(kind="call", text=text, result=result, found=found, node=node, ok=ok)


def _request(request: Any) -> str:
    given = _mapped(request)
    if isinstance(given.get("tool"), str):
        return call_words(given["tool"], given.get("arguments"))
    if approval := _mapped(given.get("approval")):
        return f"asked the user: {approval.get('content', '')}"
    if isinstance(given.get("model"), str):
        return f"asked the model {given['model']}"
    return request if isinstance(request, str) else call_words("", request)


def _result(value: Any) -> tuple[str, bool]:
    result = _mapped(value)
    if "success" in result:
        places = len(_listed(result.get("sources")))
        words = result_words(str(result.get("content", "")), places=places)
        return words, bool(result["success"])
    if isinstance(result.get("text"), str):
        return result_words(result["text"], places=0), True
    if isinstance(value, bool):
        return "yes" if value else "no", True
    return ("done" if value is None else result_words(str(value), places=0)), True


def _command(body: Any) -> str:
    given = _mapped(body)
    if "cancel" in given:
        return f"cancelled: {given['cancel']}"
    if isinstance(wanted := given.get("raise"), dict):
        limits = cast("dict[str, Any]", wanted).items()
        return f"limits raised to {', '.join(f'{value} {name}' for name, value in limits)}"
    return resumed_words(given.get("model")) if "resumed" in given else "told from outside"


def _text_of(part: Any) -> str:
    """The text that a model wrote; other parts have none."""
    return str(_mapped(part).get("text", ""))


def _mapped(value: Any) -> Mapping[str, Any]:
    return cast("Mapping[str, Any]", value) if isinstance(value, dict) else {}


def _listed(value: Any) -> Sequence[Any]:
    return cast("list[Any]", value) if isinstance(value, list) else ()
