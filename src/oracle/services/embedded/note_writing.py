"""Write a note or an entry of a thread with the text that the user gave, and nothing else."""

from __future__ import annotations

import re

from oracle.patterns import lazy_pattern
from oracle.services.embedded.response import Response, quoted, signal
from oracle.services.embedded.searching import Aim, best_of, first_calls
from oracle.services.embedded.situation import Call, Situation
from oracle.services.embedded.write_requests import WriteRequest
from oracle.services.tools.answer import code

_SHOWN_LINES = 12
# The text in the result of a tool, between fences that no line of it equals.
_FENCED = lazy_pattern(r"^(`{3,})\n(?P<text>.*?)\n\1$", re.MULTILINE | re.DOTALL)
_MOST_PLACES = 5


def write(situation: Situation, request: WriteRequest, aim: Aim) -> Response:
    """Write it if that is granted, otherwise ask for it; then report the result."""
    written = [c for c in situation.calls_of("write") if c.kind.name == request.kind]
    if written:
        return _report(written[-1], request)
    if not request.text:
        if situation.tools and not situation.calls and (calls := first_calls(situation, aim)):
            why = f"Looking for what the note could say about {request.target}"
            return Response(calls=calls, signal=signal("need_turn", 0.8, reason=why))
        request = request.saying(_gathered(situation, aim))
        if not request.text:
            return _nothing_to_write(request)
    if tool := situation.tool("write", request.kind):
        why = f"Writing {request.what} {request.target}"
        return Response(
            calls=[(tool.name, request.arguments)],
            signal=signal("need_turn", 0.9, reason=why, expected_turns=1),
        )
    # A turn without calls was the request for the permission.
    was_asked = any(not turn for turn in situation.turns)
    return _refused(request) if was_asked else _ask(request)


def _gathered(situation: Situation, aim: Aim) -> str:
    """What the project says about it, each passage with its place."""
    found = best_of(situation, aim)[:_MOST_PLACES]
    return "\n\n".join(
        f"From {code(passage.where)}:\n\n{quoted(passage.lines, passage.source.path)}"
        for passage in found
    )


def _ask(request: WriteRequest) -> Response:
    return Response(
        text=f"Nothing is written yet. I would write {request.what} {code(request.target)}:\n\n"
        + _shown(request),
        signal=signal(
            "need_capability",
            0.9,
            capability=f"write to the {request.kind}",
            reason=f"the user asks to write {request.what} {request.target}",
            workaround="show the text, so that the user can save it",
        ),
    )


def _refused(request: WriteRequest) -> Response:
    return Response(
        text="Nothing was written: it was not allowed. This is what I would have written to "
        f"{request.what} {code(request.target)}:\n\n{_shown(request)}",
        signal=signal(
            "partial_answer",
            0.8,
            missing=f"permission to write {request.what}; nothing was written",
        ),
    )


def _report(call: Call, request: WriteRequest) -> Response:
    said = f"{code(call.name)} says: {code(call.summary, 400)}"
    if not call.success:
        return Response(
            text=f"Nothing was written. {said}",
            signal=signal("partial_answer", 0.8, missing=f"{request.what} {request.target}"),
        )
    quotations = call.quotations
    if not quotations:  # a dry run has only a plan, and a plan is not a source
        return Response(
            text=f"{said}\n\n{_planned(call) or _shown(request)}",
            signal=signal("context_sufficient", 0.9, sources_found=0),
        )
    written = quotations[0]
    return Response(
        text=f"Written to {code(written.path)}:\n\n"
        + quoted(written.lines[:_SHOWN_LINES], "x.md")
        + _rest(len(written.lines)),
        signal=signal("context_sufficient", 0.95, sources_found=1),
    )


def _nothing_to_write(request: WriteRequest) -> Response:
    return Response(
        text=f"Nothing was written: I found nothing about {code(request.target)}, and I write only "
        "what you give me. Put it after a colon: `write a note about caching: an hour is enough`.",
        signal=signal("partial_answer", 0.7, missing=f"what {request.what} should say"),
    )


def _shown(request: WriteRequest) -> str:
    lines = request.text.split("\n")
    return quoted(lines[:_SHOWN_LINES], "x.md") + _rest(len(lines))


def _planned(call: Call) -> str:
    """The text in the result of a dry run, as it would be written; empty if it shows none."""
    found = _FENCED.search(call.content)
    lines = found["text"].split("\n") if found else []
    return quoted(lines[:_SHOWN_LINES], "x.md") + _rest(len(lines)) if lines else ""


def _rest(lines: int) -> str:
    more = lines - _SHOWN_LINES
    return f"\n\n({more} more lines)" if more > 0 else ""
