"""What OpenAI's Chat Completions API and compatible servers send.

Reply(body=stream(text("Hel", "lo"), tool_call("c1", "search", '{"q":', '"x"}')))
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from oracle.testing.servers.scripted import Reply, Request

PATH = "/v1/chat/completions"
PING = KEEP_ALIVE = b": keep-alive\n\n"
DONE = b"data: [DONE]\n\n"

Block = list[dict[str, Any]]
"""The deltas of one kind of content. `events` adds the index of a tool call."""


def text(*pieces: str) -> Block:
    return [{"content": piece} for piece in pieces]


def reasoning(*pieces: str) -> Block:
    return [{"reasoning_content": piece} for piece in pieces]


def tool_call(call_id: str, name: str, *arguments: str) -> Block:
    start = {"id": call_id, "type": "function", "function": {"name": name, "arguments": ""}}
    rest = [{"function": {"arguments": piece}} for piece in arguments]
    return [{"tool_calls": [piece]} for piece in (start, *rest)]


def stream(*blocks: Block, usage: tuple[int, int] = (11, 7), cached: int = 0) -> list[bytes]:
    """A whole response as chunks. `cached` is the part of the input tokens from the cache."""
    calls = any("tool_calls" in delta for block in blocks for delta in block)
    end = ending(usage[1], "tool_calls" if calls else "stop", input_tokens=usage[0], cached=cached)
    return [*beginning(), *events(*blocks), *end]


def beginning() -> list[bytes]:
    return [chunk({"role": "assistant", "content": ""})]


def events(*blocks: Block) -> list[bytes]:
    sent: list[bytes] = []
    calls = -1
    for block in blocks:
        calls += any("tool_calls" in delta for delta in block)
        sent.extend(chunk(_with_index(delta, calls)) for delta in block)
    return sent


def ending(
    output_tokens: int = 7, reason: str = "stop", *, input_tokens: int = 11, cached: int = 0
) -> list[bytes]:
    usage = {
        "prompt_tokens": input_tokens,
        "completion_tokens": output_tokens,
        "total_tokens": input_tokens + output_tokens,
        "prompt_tokens_details": {"cached_tokens": cached},
    }
    return [chunk({}, finish_reason=reason), _event(choices=[], usage=usage), DONE]


def chunk(delta: Mapping[str, Any], finish_reason: str | None = None) -> bytes:
    return _event(choices=[{"index": 0, "delta": delta, "finish_reason": finish_reason}])


def error_event(kind: str, message: str) -> bytes:
    """An error in the middle of a stream."""
    return _data({"error": {"type": kind, "code": kind, "message": message}})


def overload_event() -> bytes:
    return error_event("server_is_overloaded", "The server is overloaded")


def failure(
    status: int, kind: str, message: str, headers: Mapping[str, str] | None = None
) -> Reply:
    document = {"error": {"type": kind, "code": kind, "message": message, "param": None}}
    return Reply(status=status, headers=headers or {}, body=[json.dumps(document).encode()])


def bad_key() -> Reply:
    return failure(401, "invalid_api_key", "Incorrect API key provided")


def unknown_model(name: str) -> Reply:
    message = f"The model `{name}` does not exist or you do not have access to it."
    return failure(404, "model_not_found", message)


def context_too_long(window: int = 128_000) -> Reply:
    message = f"This model's maximum context length is {window} tokens."
    return failure(400, "context_length_exceeded", message)


def with_window(
    reply: Callable[[Request], Reply], window: int, count: Callable[[str], int]
) -> Callable[[Request], Reply]:
    """A server that refuses a request whose input and longest output exceed its window.

    `count` is its tokenizer.
    """

    def reply_or_refuse(request: Request) -> Reply:
        sent = json.dumps([request.body["messages"], request.body.get("tools", [])])
        longest = request.body.get("max_completion_tokens") or request.body.get("max_tokens") or 0
        return context_too_long(window) if count(sent) + longest > window else reply(request)

    return reply_or_refuse


def no_credit() -> Reply:
    return failure(429, "insufficient_quota", "You exceeded your current quota")


def rate_limited(retry_after: str | None = None) -> Reply:
    headers = {"retry-after": retry_after} if retry_after else {}
    return failure(429, "rate_limit_exceeded", "Rate limit reached", headers)


def overloaded() -> Reply:
    return failure(503, "service_unavailable", "The engine is currently overloaded")


def _with_index(delta: Mapping[str, Any], index: int) -> Mapping[str, Any]:
    if "tool_calls" not in delta:
        return delta
    return {"tool_calls": [{"index": index, **call} for call in delta["tool_calls"]]}


def _event(**fields: Any) -> bytes:
    head = {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "gpt-test"}
    return _data({**head, **fields})


def _data(document: Mapping[str, Any]) -> bytes:
    return f"data: {json.dumps(document, ensure_ascii=False)}\n\n".encode("utf-8", "surrogatepass")
