"""A run as OpenAI's clients see it: progress, then the answer, then what it cites."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import aclosing, asynccontextmanager
from dataclasses import replace
from typing import Any, Final, TypeAlias, cast
from urllib.parse import quote, urlencode

from fastapi import Request

from oracle.api.door import Door
from oracle.api.openai.brief import brief_answer
from oracle.api.openai.messages import BRIEF, Message, check_model, question_of
from oracle.api.run_under_way import RunUnderWay
from oracle.api.server_sent_events import SECONDS_BETWEEN_BEATS
from oracle.models.stream_chunk import ChunkType, OracleStreamChunk
from oracle.services.citations.checking import holds

STREAMED: Final[dict[int | str, dict[str, Any]]] = {200: {"content": {"text/event-stream": {}}}}
"""For the description: the answer is sent as events if the request asks for it."""

EVENTS: Final[dict[str, Any]] = {
    "media_type": "text/event-stream",
    "headers": {"Cache-Control": "no-store", "X-Accel-Buffering": "no"},
}
"""Of a streamed response. Proxies neither keep it nor wait for its end."""

PIECE: Final = 400
"""Characters of an answer that are sent together. It is complete when the first one is sent,
because only then is it known to be the answer and not a draft.
"""

FINISH: Final[Mapping[str, str]] = {"token_limit": "length", "content_filter": "content_filter"}


Finisher: TypeAlias = Callable[[OracleStreamChunk], tuple[str, list[dict[str, Any]]]]


def begin(
    door: Door, model: str, messages: Sequence[Message], param: str = "messages"
) -> RunUnderWay:
    check_model(model)
    question, history = question_of(messages, param)
    limits = replace(door.agent.setup.limits, turns=1) if model == BRIEF else None
    # A chat client cannot show a question of the run, so one that nobody may answer would only
    # wait. With the scope `write` the same user may answer it on the page.
    asking: dict[str, Any] = {} if door.may_write else {"approve": None}
    return door.runs.ask(question, history=history, limits=limits, **asking)


@asynccontextmanager
async def cancelled_with(request: Request, live: RunUnderWay) -> AsyncGenerator[None]:
    """A client that leaves has no use for the answer, and cannot come back for it."""

    async def watch() -> None:
        # The body was read, so the next message is that the client has left.
        while (await request.receive())["type"] != "http.disconnect":
            pass
        live.cancel("the client left")

    watching = asyncio.create_task(watch())
    try:
        yield
    finally:
        watching.cancel()
        if not live.has_ended:
            live.cancel("the client left")


async def progress_of(live: RunUnderWay) -> AsyncGenerator[str]:
    """What is to be shown, as it comes. Empty for a sign of life, which is due if nothing was shown
    for a while: also while a draft is streamed, because that is not shown.
    """
    clock = asyncio.get_running_loop().time
    shown_at = clock()
    async with aclosing(live.follow(beat=SECONDS_BETWEEN_BEATS)) as batches:
        async for batch in batches:
            told = "".join(progress_in(chunk) for _, chunk in batch)
            if told or clock() - shown_at >= SECONDS_BETWEEN_BEATS:
                shown_at = clock()
                yield told


def progress_in(chunk: OracleStreamChunk) -> str:
    """What a person may like to read while waiting."""
    match chunk.type:
        case ChunkType.TOOL_CALL:
            given: Any = chunk["arguments"]
            arguments = cast("dict[str, Any]", given) if isinstance(given, dict) else {}
            about = next((str(value) for value in arguments.values() if value), "")
            return f"{chunk['name'].replace('_', ' ')}: {about[:200]}\n"
        case ChunkType.SYSTEM:
            return f"{chunk['content']}\n"
        case ChunkType.REASONING:
            return str(chunk["content"])
        case _:
            return ""


def finisher(
    door: Door, model: str, messages: Sequence[Message], live: RunUnderWay, server: str
) -> Finisher:
    """The answer that the client shows, and its annotations, once the run is done.

    A title must be one, also if there is no language model that could word it.
    """
    is_title = model == BRIEF and not door.has_language_model

    def finished(done: OracleStreamChunk) -> tuple[str, list[dict[str, Any]]]:
        if is_title:
            return brief_answer(question_of(messages)[0]), []
        answer = answer_in(done)
        return answer, annotations_in(live.chunks, answer, server)

    return finished


def answer_in(done: OracleStreamChunk) -> str:
    """The answer, and below it what is missing, if the answer does not say so itself."""
    answer = str(done["answer"])
    unsaid = [each for each in done["missing"] if each not in answer]
    if done["stop_reason"] == "answered" or not unsaid:
        return answer
    return f"{answer}\n\n*Not complete. Missing: {'; '.join(unsaid)}.*"


def pieces(text: str) -> list[str]:
    return [text[at : at + PIECE] for at in range(0, len(text), PIECE)] or [""]


def annotations_in(
    chunks: Sequence[OracleStreamChunk], answer: str, server: str
) -> list[dict[str, Any]]:
    """Each citation in the answer that holds. A page has an address of its own. The lines of a file
    are read at this `server`: its own path would not be an address, and that of the disk is not one
    that a client on another machine, or a page, could open.
    """
    said = next((c for c in reversed(chunks) if c.type == ChunkType.SOURCES), None)
    found: list[dict[str, Any]] = []
    for cited in said["citations"] if said is not None else ():
        start, end = cited["span"]
        if not holds(cited) or answer[start:end] != cited["text"]:
            continue
        citation = {
            "url": _address(cited, server),
            "title": cited["text"],
            "start_index": start,
            "end_index": end,
        }
        found.append({"type": "url_citation", "url_citation": citation})
    return found


def _address(cited: Mapping[str, Any], server: str) -> str:
    if cited.get("url"):
        return str(cited["url"])
    if not cited.get("path"):
        return f"urn:oracle:{quote(str(cited['where'] or cited['text']), safe=':@')}"
    lines = {key: cited[key] for key in ("start", "end") if cited.get(key)}
    given = {"path": cited["path"], **lines}
    return f"{server.rstrip('/')}/api/source?{urlencode(given, safe='/')}"


def finish_reason(done: OracleStreamChunk) -> str:
    return FINISH.get(done["stop_reason"], "stop")


def usage_in(done: OracleStreamChunk) -> dict[str, int]:
    """All tokens of the run. How many of them were read and how many written is not counted."""
    total = int(done["usage"].get("tokens") or 0)
    written = min(total, max(1, len(str(done["answer"])) // 4))
    return {
        "prompt_tokens": total - written,
        "completion_tokens": written,
        "total_tokens": total,
    }
