"""`/v1/responses`, as much of it as clients need to ask and to read the answer."""

from __future__ import annotations

import json
import time
from collections.abc import AsyncGenerator
from typing import Annotated, Any

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse, StreamingResponse
from pydantic import BaseModel, ConfigDict, Field

from oracle.api.door import TheDoor
from oracle.api.openai.answering import (
    STREAMED,
    Finisher,
    begin,
    cancelled_with,
    finisher,
    pieces,
    usage_in,
)
from oracle.api.openai.messages import MODEL, Flag, Message, Messages, NothingInIt
from oracle.api.openai.problems import OpenAIProblem
from oracle.api.run_under_way import RunUnderWay
from oracle.models.stream_chunk import OracleStreamChunk

router = APIRouter(prefix="/v1", tags=["OpenAI's protocol"])


class Asked(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
        json_schema_extra={"examples": [{"model": MODEL, "input": "Where is the login?"}]},
    )

    input: str | Messages
    model: Annotated[str, Field(max_length=200)] = MODEL
    stream: Flag = None
    tools: NothingInIt = None
    previous_response_id: Annotated[
        str | None, Field(max_length=200, json_schema_extra={"maxLength": 0})
    ] = None


@router.post("/responses", response_model=None, responses=STREAMED)
async def respond(
    asked: Asked, request: Request, door: TheDoor
) -> JSONResponse | StreamingResponse:
    """Ask. A client that leaves cancels the run."""
    for param in ("tools", "previous_response_id"):
        if getattr(asked, param):
            raise OpenAIProblem(
                f"{param} is not supported; leave it out, and send the conversation as `input`",
                param=param,
                code="unsupported_parameter",
            )
    messages = asked.input
    if isinstance(messages, str):
        messages = [Message(role="user", content=messages)]
    live = begin(door, asked.model, messages)
    finished = finisher(door, asked.model, messages, live, str(request.base_url))
    if asked.stream:
        events = _streamed(asked, live, await live.begun(), finished)
        return StreamingResponse(events, media_type="text/event-stream")
    async with cancelled_with(request, live):
        # A run that could not be begun is an error of the request, not an answer.
        await live.begun()
        done = await live.end()
    return JSONResponse(_response(asked, live, done, finished))


def _response(
    asked: Asked, live: RunUnderWay, done: OracleStreamChunk | None, finished: Finisher
) -> dict[str, Any]:
    output: list[dict[str, Any]] = []
    usage = None
    if done is not None:
        answer, cited = finished(done)
        flat = [{"type": each["type"], **each["url_citation"]} for each in cited]
        text = {"type": "output_text", "text": answer, "annotations": flat, "logprobs": []}
        output = [_message(live.id, "completed", [text])]
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
        "status": "in_progress" if done is None else "completed",
        "model": asked.model,
        "output": output,
        "usage": usage,
        "error": None,
        "incomplete_details": None,
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
        done = await live.end()
        answer, _ = finished(done)
        for piece in pieces(answer):
            yield event("response.output_text.delta", **place, delta=piece, logprobs=[])
        yield event("response.output_text.done", **place, text=answer, logprobs=[])
        whole = _response(asked, live, done, finished)
        yield event("response.output_item.done", output_index=0, item=whole["output"][0])
        yield event("response.completed", response=whole)
    finally:
        if not live.has_ended:
            live.cancel("the client left")
