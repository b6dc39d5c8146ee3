"""What a connection may cost before its request is complete, and so before anybody is known.

uvicorn keeps the head of a request in memory, however long it is, and waits without an end for the
rest of it. Everybody who can reach the port could fill the memory, or use up all connections,
without a token.
"""

from __future__ import annotations

import asyncio
import json
from typing import Final

import httptools
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

MOST_BYTES_OF_HEAD: Final = 65_536
"""Of the address and the headers together, with the ends of their lines."""
SECONDS_FOR_REQUEST: Final = 60.0
"""From the connection, or from the first byte of a later request, to the end of the body."""


class _HeadTooLarge(Exception):  # noqa: N818 - it ends the parser, and nobody else sees it
    pass


class BoundedConnection(HttpToolsProtocol):
    """Closes a connection whose request is too long before its body, or takes too long to come."""

    _arriving: asyncio.TimerHandle | None = None
    _bytes_between: int = 0
    """That came since the head, or a piece of the body, was complete. They are the head itself, the
    trailers, or what is said about a chunk: the parser keeps them until they end.
    """
    _is_complete: bool = False
    _bytes_of_head: int = 0

    def connection_made(self, transport: asyncio.Transport) -> None:
        super().connection_made(transport)
        self._await_request()

    def connection_lost(self, exc: Exception | None) -> None:
        self._request_arrived()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        self._unset_keepalive_if_required()
        self._is_complete = False
        if self.parser is None:
            return
        try:
            self.parser.feed_data(data)
        except httptools.HttpParserUpgrade:
            # It is answered as any other request, and what follows it is not read.
            return
        except httptools.HttpParserError:
            if self._bytes_of_head > MOST_BYTES_OF_HEAD:
                self._refuse_head()
            else:
                self._refuse(400, "BadRequest", "this is not a request of HTTP/1.1")
            return
        self._bytes_between = 0 if self._is_complete else self._bytes_between + len(data)
        if self._bytes_between > MOST_BYTES_OF_HEAD:
            self._refuse_head()

    # -- what the parser calls ---------------------------------------------------------------------

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._bytes_of_head = 0
        self._await_request()

    def on_url(self, url: bytes) -> None:
        self._bytes_of_head += len(url)
        super().on_url(url)

    def on_headers_complete(self) -> None:
        self._is_complete = True
        # A head that came in one piece has not been counted yet.
        self._bytes_of_head += sum(len(name) + len(value) + 4 for name, value in self.headers)
        if self._bytes_of_head > MOST_BYTES_OF_HEAD:
            # Whatever a callback raises reaches us as an error of the parser, which stops.
            raise _HeadTooLarge
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        self._is_complete = True
        super().on_body(body)

    def on_message_complete(self) -> None:
        self._is_complete = True
        self._request_arrived()
        super().on_message_complete()

    # -- time --------------------------------------------------------------------------------------

    def _await_request(self) -> None:
        self._request_arrived()
        self._arriving = self.loop.call_later(SECONDS_FOR_REQUEST, self._is_late)

    def _request_arrived(self) -> None:
        if self._arriving is not None:
            self._arriving.cancel()
            self._arriving = None

    def _is_late(self) -> None:
        if self.flow.read_paused:
            # We do not read it: an earlier request of the same connection is still answered.
            self._await_request()
        else:
            self.transport.close()

    def _refuse_head(self) -> None:
        most = f"{MOST_BYTES_OF_HEAD:,}"
        self._refuse(
            431, "HeadTooLarge", f"address and headers have more than {most} bytes; send less"
        )

    def _refuse(self, status: int, kind: str, message: str) -> None:
        if self.transport.is_closing():
            return
        body = json.dumps({"error": {"kind": kind, "message": message}}).encode()
        headers = f"content-type: application/json\r\ncontent-length: {len(body)}\r\n"
        head = STATUS_LINE[status] + headers.encode() + b"connection: close\r\n\r\n"
        self.transport.write(head + body)
        self.transport.close()
