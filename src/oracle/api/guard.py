"""What every request must pass before anything else looks at it.

A server without tokens trusts everybody who can reach it, so it only listens on this machine. A web
page in a browser of this machine can reach it too: its requests are known by `Origin`, and a name
that an attacker points at 127.0.0.1 by `Host`. Both must be our own.

A browser does not send `Origin` with a picture, a script or a frame of another page. Of those that
say what a request is for (`Sec-Fetch-Site`), only links of other pages are followed: a citation in
a chat window is one.

A server that always needs a token may be called by any name: no page of another has the token. What
a browser sends for such a page is refused all the same.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Final
from urllib.parse import urlsplit

from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from oracle.api.problems import problem

_MOST_DIGITS: Final = 20
LOOPBACK: Final = ("localhost", "127.0.0.1", "::1")


class Guard:
    """`hosts` are the names that the server is called by; with `any_host`, all names are allowed.
    A body has at most `most_bytes`.
    """

    def __init__(
        self, app: ASGIApp, *, hosts: Collection[str], any_host: bool, most_bytes: int
    ) -> None:
        self._app = app
        self._hosts = frozenset(hosts)
        self._any_host = any_host
        self._most_bytes = most_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = {name.lower(): value for name, value in scope["headers"]}
        if refusal := _twice(scope["headers"]) or self._refusal(headers):
            await problem(403, "Forbidden", refusal, scope=scope)(scope, receive, send)
            return
        length = headers.get(b"content-length", b"0")
        # Python refuses to read a number of thousands of digits.
        if len(length) > _MOST_DIGITS or (length.isdigit() and int(length) > self._most_bytes):
            refused = problem(413, "TooLarge", self._too_large, scope=scope)
            await refused(scope, receive, send)
            return
        await self._app(scope, self._bounded(receive), send)

    @property
    def _too_large(self) -> str:
        return f"the body has more than {self._most_bytes:,} bytes; send less"

    def _refusal(self, headers: dict[bytes, bytes]) -> str:
        host = _name_of(headers.get(b"host", b"").decode("latin-1"))
        if not self._any_host and host not in self._hosts:
            return f"this server is not called {host[:80]!r}; allow the name with --allow-host"
        origin = headers.get(b"origin", b"").decode("latin-1")
        own = {*self._hosts, host} if self._any_host else self._hosts
        if origin and _name_of(origin.partition("://")[2]) not in own - {""}:
            return f"pages of {origin[:80]!r} may not use this server"
        if headers.get(b"sec-fetch-site") == b"cross-site" and not _is_link(headers):
            return "pages of other sites may not use this server; a link to it may be opened"
        return ""

    def _bounded(self, receive: Receive) -> Receive:
        """A body without a length is counted as it comes."""
        seen = 0

        async def counted() -> Message:
            nonlocal seen
            message = await receive()
            seen += len(message.get("body", b""))
            if seen > self._most_bytes:
                # Other exceptions would be taken for a body that cannot be read.
                raise HTTPException(413, self._too_large)
            return message

        return counted


def _is_link(headers: Mapping[bytes, bytes]) -> bool:
    """Whether it fills a window, and not a frame inside of a page."""
    mode, for_ = headers.get(b"sec-fetch-mode"), headers.get(b"sec-fetch-dest")
    return mode == b"navigate" and for_ in (b"document", None)


def _twice(headers: Iterable[tuple[bytes, bytes]]) -> str:
    """A proxy in front of us may look at the first one, and we at the last one."""
    for name in (b"host", b"origin"):
        if sum(each.lower() == name for each, _ in headers) > 1:
            return f"the request has two headers {name.decode().title()}; send one"
    return ""


def _name_of(host: str) -> str:
    """The name without the port; empty for what no browser sends, such as a user or a bad port."""
    try:
        parts = urlsplit(f"//{host}")
        is_plain = parts.netloc == host and "@" not in host and parts.port != 0
    except ValueError:
        return ""
    return (parts.hostname or "") if is_plain else ""
