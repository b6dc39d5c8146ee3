"""Servers on loopback in place of the web: pages, and providers of web searches.

async with LoopbackServer({"/": page("<h1>Hello</h1>")}) as server:
    ...  # server.url, server.requests
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Self
from urllib.parse import parse_qs, urlsplit


@dataclass(frozen=True, kw_only=True)
class Request:
    """The names of headers are in lower case."""

    method: str
    target: str
    headers: Mapping[str, str]
    body: bytes

    @property
    def path(self) -> str:
        return urlsplit(self.target).path

    def parameter(self, name: str) -> str | None:
        return next(iter(parse_qs(urlsplit(self.target).query).get(name, [])), None)


@dataclass(frozen=True, kw_only=True)
class Reply:
    """A `body` in pieces is sent piece by piece, without a Content-Length."""

    body: bytes | AsyncGenerator[bytes] = b""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict[str, str])


Answer = Callable[[Request], Reply]


class LoopbackServer:
    """Answers by path, or with one function. It supports as much HTTP as the tests need."""

    def __init__(self, answers: Mapping[str, Reply] | Answer) -> None:
        self._answers = answers
        self._server: asyncio.Server | None = None
        self._clients: set[asyncio.Task[None]] = set()
        self._writers: list[asyncio.StreamWriter] = []
        self.requests: list[Request] = []
        self.port = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._connected, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._server is not None
        self._server.close()
        for client in self._clients:
            client.cancel()
        await asyncio.gather(*self._clients, return_exceptions=True)
        # Abort, because `close` would wait for a client that does not read. And here, because a
        # task that is cancelled before its first step never reaches its own `close`.
        for writer in self._writers:
            writer.transport.abort()
        await asyncio.gather(*(w.wait_closed() for w in self._writers), return_exceptions=True)
        await self._server.wait_closed()

    def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._writers.append(writer)
        task = asyncio.create_task(self._serve(reader, writer))
        self._clients.add(task)
        task.add_done_callback(self._clients.discard)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            request = await read_request(reader)
            self.requests.append(request)
            await _send(writer, self._reply(request))
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    def _reply(self, request: Request) -> Reply:
        if callable(self._answers):
            return self._answers(request)
        return self._answers.get(request.path, Reply(status=404, body=b"nothing here"))


def page(html: str, content_type: str = "text/html; charset=utf-8") -> Reply:
    return Reply(body=html.encode(), headers={"Content-Type": content_type})


def redirect(url: str) -> Reply:
    return Reply(status=302, headers={"Location": url})


def searxng(pages: Sequence[Mapping[str, object]]) -> Answer:
    """A SearXNG server with JSON enabled. Pages have title, url and content."""

    def answer(request: Request) -> Reply:
        if request.path != "/search" or request.parameter("format") != "json":
            return Reply(status=403)
        return _json({"query": request.parameter("q"), "results": list(pages)})

    return answer


def tavily(pages: Sequence[Mapping[str, object]], key: str) -> Answer:
    """Tavily's search. Pages have title, url, content and score."""

    def answer(request: Request) -> Reply:
        if request.headers.get("authorization") != f"Bearer {key}":
            return Reply(status=401)
        if (request.method, request.path) != ("POST", "/search"):
            return Reply(status=404)
        asked = json.loads(request.body)
        return _json({"query": asked["query"], "results": list(pages)[: asked["max_results"]]})

    return answer


def brave(pages: Sequence[Mapping[str, object]], key: str) -> Answer:
    """Brave's web search. Pages have title, url and description."""

    def answer(request: Request) -> Reply:
        if request.headers.get("x-subscription-token") != key:
            return Reply(status=401)
        if request.path != "/res/v1/web/search" or not request.parameter("q"):
            return Reply(status=404)
        count = int(request.parameter("count") or 20)
        return _json({"type": "search", "web": {"results": list(pages)[:count]}})

    return answer


def _json(value: object) -> Reply:
    return Reply(body=json.dumps(value).encode(), headers={"Content-Type": "application/json"})


async def read_request(reader: asyncio.StreamReader) -> Request:
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    first, *lines = head.strip().split("\r\n")
    method, target, _ = first.split(" ", 2)
    pairs = (line.partition(":") for line in lines)
    headers = {name.lower(): value.strip() for name, _, value in pairs}
    body = await reader.readexactly(int(headers.get("content-length", "0")))
    return Request(method=method, target=target, headers=headers, body=body)


async def _send(writer: asyncio.StreamWriter, reply: Reply) -> None:
    headers = {"Connection": "close", **reply.headers}
    if isinstance(reply.body, bytes):
        headers.setdefault("Content-Length", str(len(reply.body)))
    lines = [f"HTTP/1.1 {reply.status} Scripted"]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    writer.write("\r\n".join([*lines, "", ""]).encode("latin-1"))
    if isinstance(reply.body, bytes):
        writer.write(reply.body)
    else:
        async with aclosing(reply.body) as pieces:
            async for piece in pieces:
                writer.write(piece)
                await writer.drain()
    await writer.drain()
