"""What comes from the editor, without what is not a message of the protocol."""

from __future__ import annotations

import asyncio
import json
from typing import Any, cast

from oracle.logs import logger_of

log = logger_of(__name__)


class Messages(asyncio.StreamReader):
    """Leaves out the lines that would end the package's connection: those that are JSON, but not a
    message. It leaves out itself what is not JSON at all.
    """

    _is_rest = False

    async def readuntil(self, separator: bytes = b"\n") -> bytes:  # pyright: ignore[reportIncompatibleMethodOverride]
        while True:
            try:
                line = await super().readuntil(separator)
            except asyncio.LimitOverrunError:
                # The package takes a line that is too long in parts, and puts them together.
                self._is_rest = True
                raise
            except asyncio.IncompleteReadError as end:
                if is_message(end.partial):
                    raise
                raise asyncio.IncompleteReadError(b"", None) from None
            is_rest, self._is_rest = self._is_rest, False
            if is_rest or is_message(line):
                return line
            log.warning("a line of %d bytes was left out: it is not a message", len(line))


def is_message(line: bytes) -> bool:
    """Whether it is an object whose parts have the kinds that every message has."""
    try:
        message: Any = json.loads(line)
    except (ValueError, RecursionError):
        return False
    if not isinstance(message, dict):
        return False
    known = cast("dict[str, Any]", message)
    return (
        isinstance(known.get("id"), str | int | None)
        and isinstance(known.get("method"), str | None)
        and isinstance(known.get("error"), dict | None)
    )
