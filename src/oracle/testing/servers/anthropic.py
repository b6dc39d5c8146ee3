"""What Anthropic's Messages API sends: an SSE stream of blocks, or an error.

Reply(body=stream(text("Hel", "lo"), tool_call("c1", "search", '{"q":', '"x"}')))
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from oracle.testing.servers.scripted import Reply

PATH = "/v1/messages"
PING = b'event: ping\ndata: {"type": "ping"}\n\n'
KEEP_ALIVE = b": still here\n\n"

Block = tuple[dict[str, Any], list[dict[str, Any]]]
"""The start of a block, and its deltas."""


def text(*pieces: str) -> Block:
    return {"type": "text", "text": ""}, [{"type": "text_delta", "text": _} for _ in pieces]


def reasoning(*pieces: str) -> Block:
    deltas = [{"type": "thinking_delta", "thinking": piece} for piece in pieces]
    start = {"type": "thinking", "thinking": "", "signature": ""}
    return start, [*deltas, {"type": "signature_delta", "signature": "c2lnbmVk"}]


def tool_call(call_id: str, name: str, *arguments: str) -> Block:
    start: dict[str, Any] = {"type": "tool_use", "id": call_id, "name": name, "input": {}}
    return start, [{"type": "input_json_delta", "partial_json": piece} for piece in arguments]


def stream(*blocks: Block, usage: tuple[int, int] = (11, 7), cached: int = 0) -> list[bytes]:
    """A whole response as events. `cached` is the part of the input tokens from the cache."""
    return [*beginning(usage[0] - cached, cached), *events(*blocks), *ending(usage[1])]


def beginning(input_tokens: int = 11, cached: int = 0) -> list[bytes]:
    message: dict[str, Any] = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "claude-test",
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": {
            "input_tokens": input_tokens,
            "cache_read_input_tokens": cached,
            "cache_creation_input_tokens": 0,
            "output_tokens": 1,
        },
    }
    return [event("message_start", message=message), PING]


def events(*blocks: Block) -> list[bytes]:
    return [sent for index, block in enumerate(blocks) for sent in _block_events(index, block)]


def ending(output_tokens: int = 7, reason: str = "end_turn") -> list[bytes]:
    delta = {"stop_reason": reason, "stop_sequence": None}
    usage = {"output_tokens": output_tokens}
    return [event("message_delta", delta=delta, usage=usage), event("message_stop")]


def event(kind: str, **data: Any) -> bytes:
    document = json.dumps({"type": kind, **data}, ensure_ascii=False)
    return f"event: {kind}\ndata: {document}\n\n".encode("utf-8", "surrogatepass")


def error_event(kind: str, message: str) -> bytes:
    """An error in the middle of a stream."""
    return event("error", error={"type": kind, "message": message})


def overload_event() -> bytes:
    return error_event("overloaded_error", "Overloaded")


def failure(
    status: int, kind: str, message: str, headers: Mapping[str, str] | None = None
) -> Reply:
    document = {"type": "error", "error": {"type": kind, "message": message}}
    return Reply(status=status, headers=headers or {}, body=[json.dumps(document).encode()])


def bad_key() -> Reply:
    return failure(401, "authentication_error", "invalid x-api-key")


def unknown_model(name: str) -> Reply:
    return failure(404, "not_found_error", f"model: {name}")


def context_too_long() -> Reply:
    message = "prompt is too long: 208310 tokens > 200000 maximum"
    return failure(400, "invalid_request_error", message)


def no_credit() -> Reply:
    message = "Your credit balance is too low to access the Anthropic API."
    return failure(400, "invalid_request_error", message)


def rate_limited(retry_after: str | None = None) -> Reply:
    headers = {"retry-after": retry_after} if retry_after else {}
    return failure(429, "rate_limit_error", "Number of requests has exceeded your limit", headers)


def overloaded() -> Reply:
    return failure(529, "overloaded_error", "Overloaded")


def _block_events(index: int, block: Block) -> Iterable[bytes]:
    start, deltas = block
    yield event("content_block_start", index=index, content_block=start)
    for delta in deltas:
        yield event("content_block_delta", index=index, delta=delta)
    yield event("content_block_stop", index=index)
