"""`/v1/chat/completions` and `/v1/models`."""

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
    EVENTS,
    STREAMED,
    Finisher,
    begin,
    cancelled_with,
    finish_reason,
    finisher,
    pieces,
    progress_of,
    usage_in,
)
from oracle.api.openai.messages import (
    MODEL,
    MODELS,
    Flag,
    Messages,
    NothingInIt,
    check_model,
)
from oracle.api.openai.problems import OpenAIProblem, error_in_a_stream
from oracle.api.run_under_way import RunUnderWay
from oracle.api.server_sent_events import HEARTBEAT
from oracle.errors import OracleError

router = APIRouter(prefix="/v1", tags=["OpenAI's protocol"])


class StreamOptions(BaseModel):
    model_config = ConfigDict(extra="ignore")

    include_usage: Flag = None


class Completion(BaseModel):
    """Fields for sampling are accepted and have no effect."""

    model_config = ConfigDict(
        extra="ignore",
        json_schema_extra={
            "examples": [
                {"model": MODEL, "messages": [{"role": "user", "content": "Where is the login?"}]}
            ]
        },
    )

    messages: Messages
    model: Annotated[str, Field(max_length=200)] = MODEL
    stream: Flag = None
    stream_options: StreamOptions | None = None
    n: Annotated[int | None, Field(ge=1, json_schema_extra={"maximum": 1})] = None
    tools: NothingInIt = None
    functions: NothingInIt = None
    response_format: dict[str, Any] | None = None


def check_supported(asked: Completion) -> None:
    refused = {
        "tools": (bool(asked.tools), "the tree decides about tools, and uses its own"),
        "functions": (bool(asked.functions), "the tree decides about tools, and uses its own"),
        "n": ((asked.n or 1) > 1, "there is one answer"),
        "response_format": (
            (asked.response_format or {}).get("type", "text") != "text",
            "an answer is text with citations",
        ),
    }
    for param, (is_used, why) in refused.items():
        if is_used:
            raise OpenAIProblem(
                f"{param} is not supported: {why}; leave it out",
                param=param,
                code="unsupported_parameter",
            )


@router.get("/models")
async def models() -> dict[str, Any]:
    return {"object": "list", "data": [_model(name) for name in MODELS]}


@router.get("/models/{name}")
async def model(name: str) -> dict[str, Any]:
    return _model(check_model(name))


def _model(name: str) -> dict[str, Any]:
    return {"id": name, "object": "model", "created": 0, "owned_by": "oracle"}


@router.post("/chat/completions", response_model=None, responses=STREAMED)
async def complete(
    asked: Completion, request: Request, door: TheDoor
) -> JSONResponse | StreamingResponse:
    """Ask as OpenAI's clients do. A client that leaves cancels the run."""
    check_supported(asked)
    live = begin(door, asked.model, asked.messages)
    finished = finisher(door, asked.model, asked.messages, live, str(request.base_url))
    if asked.stream:
        events = _streamed(asked, live, await live.begun(), finished)
        return StreamingResponse(events, **EVENTS)
    async with cancelled_with(request, live):
        # A run that could not be begun is an error of the request, not an answer.
        await live.begun()
        done = await live.end()
    answer, cited = finished(done)
    message = {
        "role": "assistant",
        "content": answer,
        "refusal": None,
        "annotations": cited,
    }
    choice = {
        "index": 0,
        "message": message,
        "finish_reason": finish_reason(done),
        "logprobs": None,
    }
    head = _head(live.id, asked.model, "chat.completion")
    return JSONResponse({**head, "choices": [choice], "usage": usage_in(done)})


async def _streamed(
    asked: Completion,
    live: RunUnderWay,
    run_id: str,
    finished: Finisher,
) -> AsyncGenerator[bytes]:
    head = _head(run_id, asked.model, "chat.completion.chunk")

    def event(delta: dict[str, Any], finish: str | None = None) -> bytes:
        choice = {"index": 0, "delta": delta, "finish_reason": finish, "logprobs": None}
        return _event({**head, "choices": [choice]})

    try:
        yield event({"role": "assistant", "content": ""})
        async for told in progress_of(live):
            yield event({"reasoning_content": told}) if told else HEARTBEAT
        done = await live.end()
        answer, cited = finished(done)
        for piece in pieces(answer):
            yield event({"content": piece})
        last: dict[str, Any] = {"annotations": cited} if cited else {}
        yield event(last, finish_reason(done))
        if asked.stream_options is not None and asked.stream_options.include_usage:
            yield _event({**head, "choices": [], "usage": usage_in(done)})
        yield b"data: [DONE]\n\n"
    except OracleError as problem:
        # The status was sent long ago. Clients raise what stands under `error`.
        yield _event({"error": error_in_a_stream(problem)})
    finally:
        if not live.has_ended:
            live.cancel("the client left")


def _head(run_id: str, model: str, kind: str) -> dict[str, Any]:
    id_ = f"chatcmpl-{run_id}"
    return {"id": id_, "object": kind, "created": int(time.time()), "model": model}


def _event(data: dict[str, Any]) -> bytes:
    return f"data: {json.dumps(data)}\n\n".encode()
