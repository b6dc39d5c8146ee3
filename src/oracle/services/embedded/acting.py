"""A note or an entry of a thread, written as the user said it; nothing that nobody asked for."""

from __future__ import annotations

from oracle.services.embedded.looking import Aim, best_of, first_calls
from oracle.services.embedded.requests import Request
from oracle.services.embedded.saying import Response, quoted, signal
from oracle.services.embedded.situation import Call, Situation
from oracle.services.reading.inline import code
from oracle.services.reading.quotations import quotations_in, summary_of

_SHOWN_LINES = 12
_MOST_PLACES = 5


def act(situation: Situation, request: Request, aim: Aim) -> Response:
    """Write it where that is granted, ask where it is not, and say what came of it."""
    written = [call for call in situation.calls if call.name == request.tool]
    if written:
        return _report(written[-1], request)
    if not request.text:
        if situation.tools and not situation.calls and (calls := first_calls(situation, aim)):
            why = f"Looking for what the note could say about {request.target}"
            return Response(calls=calls, signal=signal("need_turn", 0.8, reason=why))
        request = request.saying(_gathered(situation, aim))
        if not request.text:
            return _nothing_to_write(request)
    if situation.has(request.tool):
        why = f"Writing {request.kind} {request.target}"
        return Response(
            calls=[(request.tool, request.arguments)],
            signal=signal("need_turn", 0.9, reason=why, expected_turns=1),
        )
    was_asked = any(not turn for turn in situation.turns)
    return _refused(request) if was_asked else _ask(request)


def _gathered(situation: Situation, aim: Aim) -> str:
    """What the project says about it, each line with its place."""
    found = best_of(situation, aim)[:_MOST_PLACES]
    return "\n\n".join(
        f"From {code(passage.where)}:\n\n{quoted(passage.lines, passage.source.path)}"
        for passage in found
    )


def _ask(request: Request) -> Response:
    return Response(
        text=f"Nothing is written yet. I would write {request.kind} {code(request.target)}:\n\n"
        + _shown(request),
        signal=signal(
            "need_capability",
            0.9,
            capability=request.tool,
            reason=f"the user asks to write {request.kind} {request.target}",
            workaround="show the text, so that the user can save it",
        ),
    )


def _refused(request: Request) -> Response:
    return Response(
        text="Nothing was written: it was not allowed. This is what I would have written to "
        f"{request.kind} {code(request.target)}:\n\n{_shown(request)}",
        signal=signal(
            "partial_answer", 0.8, missing=f"permission to use {request.tool}; nothing was written"
        ),
    )


def _report(call: Call, request: Request) -> Response:
    told = summary_of(call.content)
    if not call.success:
        return Response(
            text=f"Nothing was written. {code(request.tool)} says: {code(told, 400)}",
            signal=signal("partial_answer", 0.8, missing=f"{request.kind} {request.target}"),
        )
    quotations = quotations_in(call.content)
    if told.startswith("Dry run") or not quotations:
        return Response(
            text=f"{code(request.tool)} says: {code(told, 400)}\n\n{_shown(request)}",
            signal=signal("context_sufficient", 0.9, sources_found=0),
        )
    where = quotations[0]
    place = where.where if where.is_thread else where.path
    return Response(
        text=f"Written to {code(place)}:\n\n"
        + quoted(where.lines[:_SHOWN_LINES], "x.md")
        + _rest(len(where.lines)),
        signal=signal("context_sufficient", 0.95, sources_found=1),
    )


def _nothing_to_write(request: Request) -> Response:
    return Response(
        text=f"Nothing was written: I found nothing about {code(request.target)}, and I write only "
        "what I am told. Say it behind a colon: `write a note about caching: an hour is enough`.",
        signal=signal("partial_answer", 0.7, missing=f"what {request.kind} should say"),
    )


def _shown(request: Request) -> str:
    lines = request.text.split("\n")
    return quoted(lines[:_SHOWN_LINES], "x.md") + _rest(len(lines))


def _rest(lines: int) -> str:
    more = lines - _SHOWN_LINES
    return f"\n\n({more} more lines)" if more > 0 else ""
