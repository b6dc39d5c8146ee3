"""What every request must pass before a route sees it.

A server without tokens trusts everybody who can reach it, so it only listens on this machine. A web
page in a browser of this machine can reach it too: its requests are known by `Origin`, and a name
that an attacker points at 127.0.0.1 by `Host`. Both must be our own.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Final
from urllib.parse import urlsplit

from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from oracle.api.problems import problem

MOST_BYTES: Final = 4 * 1024 * 1024
"""Of a request's body. A question has at most one megabyte, and its attachments the rest."""

TOLD: Final = f"the body has more than {MOST_BYTES:,} bytes; send less"

_MOST_DIGITS: Final = 20
LOOPBACK: Final = ("localhost", "127.0.0.1", "::1")


class Guard:
    """`hosts` are the names that the server is called by."""

    def __init__(self, app: ASGIApp, *, hosts: Collection[str]) -> None:
        self._app = app
        self._hosts = frozenset(hosts)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = {name.lower(): value for name, value in scope["headers"]}
        if refusal := self._refusal(headers):
            await problem(403, "Forbidden", refusal)(scope, receive, send)
            return
        length = headers.get(b"content-length", b"0")
        # Python refuses to read a number of thousands of digits.
        if len(length) > _MOST_DIGITS or (length.isdigit() and int(length) > MOST_BYTES):
            await _too_large(scope, receive, send)
            return
        await self._app(scope, _bounded(receive), send)

    def _refusal(self, headers: dict[bytes, bytes]) -> str:
        host = _name_of(headers.get(b"host", b"").decode("latin-1"))
        if host not in self._hosts:
            return f"this server is not called {host[:80]!r}; allow the name with --allow-host"
        origin = headers.get(b"origin", b"").decode("latin-1")
        if origin and _name_of(origin.partition("://")[2]) not in self._hosts:
            return f"pages of {origin[:80]!r} may not use this server"
        return ""


def _name_of(host: str) -> str:
    try:
        return urlsplit(f"//{host}").hostname or ""
    except ValueError:
        return ""


def _bounded(receive: Receive) -> Receive:
    """A body without a length is counted as it comes."""
    seen = 0

    async def counted() -> Message:
        nonlocal seen
        message = await receive()
        seen += len(message.get("body", b""))
        if seen > MOST_BYTES:
            # Other exceptions would be taken for a body that cannot be read.
            raise HTTPException(413, TOLD)
        return message

    return counted


async def _too_large(scope: Scope, receive: Receive, send: Send) -> None:
    await problem(413, "HttpError", TOLD)(scope, receive, send)
