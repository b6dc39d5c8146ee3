"""`/v1/responses`, as much of it as clients need to ask and to read the answer."""

from __future__ import annotations

import json
import time
from collections.abc import AsyncGenerator, Mapping
from typing import Annotated, Any, Final, TypeAlias, cast

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse, StreamingResponse
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from oracle.api.door import TheDoor
from oracle.api.openai.answering import (
    EVENTS,
    STREAMED,
    Finisher,
    begin,
    cancelled_with,
    finisher,
    pieces,
    progress_of,
    usage_in,
)
from oracle.api.openai.messages import MODEL, Flag, Message, Messages, NothingInIt
from oracle.api.openai.problems import OpenAIProblem, error_in_a_stream
from oracle.api.run_under_way import RunUnderWay
from oracle.api.server_sent_events import HEARTBEAT
from oracle.errors import OracleError
from oracle.models.stream_chunk import OracleStreamChunk

router = APIRouter(prefix="/v1", tags=["OpenAI's protocol"])


NothingAtAll: TypeAlias = Annotated[Any, Field(json_schema_extra={"type": "null"})]
INCOMPLETE: Final[Mapping[str, str]] = {
    "token_limit": "max_output_tokens",
    "content_filter": "content_filter",
}
_SEND_IT_ALL: Final = "leave it out, and send the conversation as `input`"
_REFUSED: Final[Mapping[str, str]] = {
    "tools": "the tree decides about tools, and uses its own; leave it out",
    "previous_response_id": f"no response is kept; {_SEND_IT_ALL}",
    "conversation": f"no conversation is kept; {_SEND_IT_ALL}",
    "prompt": f"no prompt is kept; {_SEND_IT_ALL}",
    "background": "a client that leaves cancels the run; leave it out",
}
"""What would change the answer, or where it is, so that to ignore it would mislead."""


def _as_messages(given: Any) -> Any:
    """A text alone is the question. A mistake in a list is then about its place in the list."""
    return [Message(role="user", content=given)] if isinstance(given, str) else given


class Asked(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
        json_schema_extra={"examples": [{"model": MODEL, "input": "Where is the login?"}]},
    )

    input: Annotated[Messages, BeforeValidator(_as_messages, json_schema_input_type=str | Messages)]
    model: Annotated[str, Field(max_length=200)] = MODEL
    stream: Flag = None
    tools: NothingInIt = None
    previous_response_id: Annotated[
        str | None, Field(max_length=200, json_schema_extra={"maxLength": 0})
    ] = None
    conversation: NothingAtAll = None
    prompt: NothingAtAll = None
    background: Annotated[bool | None, Field(strict=True, json_schema_extra={"const": False})] = (
        None
    )
    text: dict[str, Any] | None = None


def check_supported(asked: Asked) -> None:
    refused = {param: why for param, why in _REFUSED.items() if getattr(asked, param)}
    form: object = (asked.text or {}).get("format")
    if isinstance(form, dict) and cast("dict[str, Any]", form).get("type", "text") != "text":
        refused["text.format"] = "an answer is text with citations; leave it out"
    for param, why in refused.items():
        raise OpenAIProblem(
            f"{param} is not supported: {why}", param=param, code="unsupported_parameter"
        )


@router.post("/responses", response_model=None, responses=STREAMED)
async def respond(
    asked: Asked, request: Request, door: TheDoor
) -> JSONResponse | StreamingResponse:
    """Ask. A client that leaves cancels the run."""
    check_supported(asked)
    live = begin(door, asked.model, asked.input, "input")
    finished = finisher(door, asked.model, asked.input, live, str(request.base_url))
    if asked.stream:
        events = _streamed(asked, live, await live.begun(), finished)
        return StreamingResponse(events, **EVENTS)
    async with cancelled_with(request, live):
        # A run that could not be begun is an error of the request, not an answer.
        await live.begun()
        done = await live.end()
    return JSONResponse(_response(asked, live, done, finished))


def _response(
    asked: Asked, live: RunUnderWay, done: OracleStreamChunk | None, finished: Finisher
) -> dict[str, Any]:
    output: list[dict[str, Any]] = []
    usage, status, cut = None, "in_progress", None
    if done is not None:
        answer, cited = finished(done)
        flat = [{"type": each["type"], **each["url_citation"]} for each in cited]
        text = {"type": "output_text", "text": answer, "annotations": flat, "logprobs": []}
        cut = INCOMPLETE.get(done["stop_reason"])
        status = "incomplete" if cut else "completed"
        output = [_message(live.id, status, [text])]
        counted = usage_in(done)
        usage = {
            "input_tokens": counted["prompt_tokens"],
            "input_tokens_details": {"cached_tokens": 0},
            "output_tokens": counted["completion_tokens"],
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": counted["total_tokens"],
        }
    return {
        "id": f"resp_{live.id}",
        "object": "response",
        "created_at": int(time.time()),
        "status": status,
        "model": asked.model,
        "output": output,
        "usage": usage,
        "error": None,
        "incomplete_details": {"reason": cut} if cut else None,
        "instructions": None,
        "metadata": {},
        "parallel_tool_calls": False,
        "tool_choice": "none",
        "tools": [],
    }


def _message(run_id: str, status: str, content: list[dict[str, Any]]) -> dict[str, Any]:
    id_ = f"msg_{run_id}"
    return {"type": "message", "id": id_, "role": "assistant", "status": status, "content": content}


async def _streamed(
    asked: Asked, live: RunUnderWay, run_id: str, finished: Finisher
) -> AsyncGenerator[bytes]:
    number = 0

    def event(kind: str, **data: Any) -> bytes:
        nonlocal number
        body = json.dumps({"type": kind, "sequence_number": number, **data})
        number += 1
        return f"event: {kind}\ndata: {body}\n\n".encode()

    place = {"item_id": f"msg_{run_id}", "output_index": 0, "content_index": 0}
    try:
        yield event("response.created", response=_response(asked, live, None, finished))
        item = _message(run_id, "in_progress", [])
        yield event("response.output_item.added", output_index=0, item=item)
        part: dict[str, Any] = {"type": "output_text", "text": "", "annotations": []}
        yield event("response.content_part.added", **place, part=part)
        async for _ in progress_of(live):
            yield HEARTBEAT
        done = await live.end()
        answer, _ = finished(done)
        for piece in pieces(answer):
            yield event("response.output_text.delta", **place, delta=piece, logprobs=[])
        yield event("response.output_text.done", **place, text=answer, logprobs=[])
        whole = _response(asked, live, done, finished)
        yield event("response.output_item.done", output_index=0, item=whole["output"][0])
        yield event(f"response.{whole['status']}", response=whole)
    except OracleError as problem:
        # The status was sent long ago.
        told = error_in_a_stream(problem)
        yield event("error", code=told["code"], message=told["message"], param=None)
    finally:
        if not live.has_ended:
            live.cancel("the client left")
