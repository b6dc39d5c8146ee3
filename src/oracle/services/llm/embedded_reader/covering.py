"""The answer to a broad question: each part that was read, in its order, with its best places."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from oracle.services.coverage import COVERED, LEFT_OUT
from oracle.services.llm.embedded_reader.choosing import Passage, is_dull
from oracle.services.llm.embedded_reader.looking import READS, Aim, all_of
from oracle.services.llm.embedded_reader.quotations import quotations_in
from oracle.services.llm.embedded_reader.saying import (
    Response,
    code,
    codes,
    counted,
    signal,
    with_no_model,
)
from oracle.services.llm.embedded_reader.situation import Situation

_PLACES_OF_A_PART: Final = 4


def is_covered(situation: Situation) -> bool:
    return any(told.startswith(COVERED) for told in situation.told)


def cover(situation: Situation, aim: Aim, found: Sequence[Passage]) -> Response:
    """A numbered list over the parts, and an open word on what was left out."""
    lines = all_of(situation, aim)
    parts = {path: _places(path, found, lines) for path in _in_order(situation)}
    items = [_item(number, places) for number, places in enumerate(filter(None, parts.values()), 1)]
    silent = [path for path, places in parts.items() if not places]
    missing = _left_out(situation)
    told = [
        f"I read {counted(len(parts), 'part')} of the project about {codes(aim.words.all)}, the "
        "best match first:\n\n" + "\n".join(items),
        f"Read too, with nothing about it: {codes(silent)}." if silent else "",
        f"Left out, found but not read: {code(missing, 400)}." if missing else "",
    ]
    text = with_no_model("\n\n".join(filter(None, told)), situation.earlier_answers)
    if missing:
        return Response(text=text, signal=signal("partial_answer", 0.6, missing=missing))
    return Response(text=text, signal=signal("context_sufficient", 0.7, sources_found=len(items)))


def _in_order(situation: Situation) -> list[str]:
    """The paths as they were read."""
    return list(
        dict.fromkeys(
            quotation.path
            for call in situation.calls
            if call.success and call.name in READS
            for quotation in quotations_in(call.content)
        )
    )


def _places(path: str, found: Sequence[Passage], lines: Sequence[Passage]) -> list[Passage]:
    """The best passage, then the lines that say about as much elsewhere in the same part."""
    best = [p for p in found if p.source.path == path][:1]
    others = [p for p in lines if p.source.path == path and not is_dull(p.best_line)]
    known = {p.best_where for p in best}
    return [*best, *(p for p in others if p.best_where not in known)][:_PLACES_OF_A_PART]


def _item(number: int, places: Sequence[Passage]) -> str:
    first, *others = places
    told = f"{number}. {code(first.best_where)}: {code(first.best_line)}"
    return "\n".join([told, *(f"   - {code(p.best_where)}: {code(p.best_line)}" for p in others)])


def _left_out(situation: Situation) -> str:
    for told in situation.told:
        if told.startswith(COVERED) and f"\n{LEFT_OUT}" in told:
            return told.partition(f"\n{LEFT_OUT}")[2]
    return ""
