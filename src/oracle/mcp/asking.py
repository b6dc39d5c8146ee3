"""The tool `ask`: a run for each call, with progress, a person's yes, and cancellation."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from contextlib import aclosing, suppress
from dataclasses import asdict
from typing import Any, Final, cast

import mcp_types as types

from oracle.agent import Answer, answer_of
from oracle.api.live_run import LiveRun
from oracle.bt.wrappers.retelling import chunks_of
from oracle.errors import InputError, NotFound
from oracle.mcp.desk import Desk
from oracle.mcp.persons import Context, Person, form_about, is_yes, person_of
from oracle.models.source import Given
from oracle.models.stream_chunk import ChunkType, OracleStreamChunk
from oracle.services.attachments.gathering import gather
from oracle.services.background import in_thread
from oracle.services.story.words import call_words, stop_words

log = logging.getLogger(__name__)

SECONDS_PARKED: Final = 3600.0
"""How long a run waits for a retry with the person's answer. Later a server may take it up."""

LEFT: Final = "oracle.mcp.left"
"""The key in an HTTP request's scope: an event that is set when the request has ended."""

SCHEMA: Final[Mapping[str, Any]] = {
    "type": "object",
    "properties": {
        "question": {
            "type": "string",
            "minLength": 1,
            "maxLength": 1_000_000,
            "description": "The question, in plain words.",
        },
        "context_id": {
            "type": "string",
            "maxLength": 64,
            "description": "Continue after this exchange; an earlier answer has its id.",
        },
        "files": {
            "type": "array",
            "items": {"type": "string"},
            "maxItems": 50,
            "description": "Files of the project to send along, such as src/a.py:10-40.",
        },
    },
    "required": ["question"],
    "additionalProperties": False,
}

Outcome = types.CallToolResult | types.InputRequiredResult


async def ask(
    desk: Desk, context: Context, arguments: Mapping[str, Any], params: types.CallToolRequestParams
) -> Outcome:
    if params.request_state is not None:
        return await _again(desk, context, arguments, params)
    person = person_of(context, {}) if desk.may_write else None
    given = await in_thread(lambda: _given(desk, arguments.get("files") or ()))
    live = desk.runs.begin(
        arguments["question"],
        arguments.get("context_id"),
        given=given,
        approve=None if person is None else person.ask,
    )
    return await _outcome(context, live, person)


async def _again(
    desk: Desk, context: Context, arguments: Mapping[str, Any], params: types.CallToolRequestParams
) -> Outcome:
    """The retry of a call whose run needs a person's yes. The state is the id of the run.

    The state comes from the client, so it is checked: it must be a run of this project with the
    same question. Sent twice, it has the same effect as once.
    """
    run = await desk.store.runs.get(str(params.request_state))
    is_same = run.question == arguments["question"] and run.id == params.request_state
    if not is_same or desk.project not in (None, run.project):
        raise NotFound("the request state does not belong to this question; ask again without it")
    if run.status == "done":
        return rendered(answer_of(await chunks_of(desk.store, run.id)))
    replies = params.input_responses or {}
    answers = {id_: is_yes(reply) for id_, reply in replies.items()}
    live = desk.runs.live(run.id)
    if live is not None:
        # A server has taken the run up in the meantime, and it asks over HTTP.
        for id_, said in answers.items() if desk.may_write else ():
            with suppress(NotFound):
                await desk.approvals.answer(run.id, id_, is_yes=said)
        return await _outcome(context, live, None)
    # Only a run that may write waits for a person. To go on with it without one would be a no.
    if not desk.may_write:
        raise InputError(
            f"run {run.id} waits for a yes; retry with a token of its user that has the scope write"
        )
    person = person_of(context, answers)
    resumed = desk.runs.resume(run.id, approve=None if person is None else person.ask)
    return await _outcome(context, resumed, person)


async def _outcome(context: Context, live: LiveRun, person: Person | None) -> Outcome:
    """Follow the run to its end, or to a question that the call must return."""
    telling = asyncio.create_task(_tell(context, live))
    ways: set[asyncio.Future[Any]] = {telling, asyncio.create_task(_left(context))}
    if person is not None:
        ways.add(person.waiting)
    try:
        await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
    except asyncio.CancelledError:
        live.cancel("the client cancelled it, or has left")
        raise
    finally:
        for each in ways:
            if not each.done():
                each.cancel()
    if live.has_ended:
        await live.begun()
        await live.end()
        return rendered(answer_of(live.chunks))
    if person is not None and person.waiting.done() and not person.waiting.cancelled():
        question = person.waiting.result()
        await live.hand_over(parked_for=SECONDS_PARKED)
        request = types.ElicitRequest(params=form_about(question))
        return types.InputRequiredResult(
            input_requests={question["id"]: request}, request_state=live.id
        )
    live.cancel("the client has left")
    raise InputError("the client has left")


async def _left(context: Context) -> None:
    """Ends when the HTTP request has ended before its answer."""
    scope: Mapping[str, Any] = getattr(context.request, "scope", None) or {}
    left = cast("asyncio.Event", scope.get(LEFT) or asyncio.Event())
    await left.wait()


async def _tell(context: Context, live: LiveRun) -> None:
    """Report the progress, until the run has ended."""
    async with aclosing(live.follow()) as batches:
        async for batch in batches:
            for number, chunk in batch:
                if words := _words(chunk):
                    await _report(context, number + 1, words)


async def _report(context: Context, number: int, words: str) -> None:
    try:
        await context.session.report_progress(number, message=words)
    except Exception as problem:
        # A client that does not listen still gets the answer.
        log.debug("progress was not sent: %s", problem)


def _words(chunk: OracleStreamChunk) -> str:
    match chunk.type:
        case ChunkType.TURN_START:
            return f"turn {chunk.turn}"
        case ChunkType.TOOL_CALL:
            return call_words(chunk["name"], chunk["arguments"])
        case ChunkType.SYSTEM | ChunkType.ERROR | ChunkType.APPROVAL:
            return chunk.content
        case _:
            return ""


def _given(desk: Desk, files: Any) -> Given:
    if not files:
        return Given()
    return Given(sources=gather(reach=desk.reach, files=files).sources)


def rendered(answer: Answer) -> types.CallToolResult:
    """The text for a model, and all of it as data for a program."""
    lines = [answer.text]
    if not answer.is_whole:
        why = f": {answer.detail}" if answer.detail else ""
        lines.append(f"This is not the whole answer ({stop_words(answer.stop_reason)}{why}).")
    if answer.missing:
        lines.append(f"Missing: {'; '.join(answer.missing)}.")
    if answer.caveat:
        lines.append(answer.caveat)
    if answer.context_id:
        lines.append(f'To continue from here, ask with context_id "{answer.context_id}".')
    return types.CallToolResult(
        content=[types.TextContent(text="\n\n".join(lines))],
        structured_content=asdict(answer),
        is_error=answer.error_kind is not None,
    )
