"""Web search without a key: `ddgs` reads the result pages of public search engines.

Nobody has promised that these pages stay as they are, or that they may be read by programs. A
search can be refused, or find nothing, at any time. So it is used only by those who choose it.
"""

from __future__ import annotations

import asyncio
import os
import threading
import time
from collections.abc import Awaitable, Callable
from typing import Any, Final

from oracle.errors import WebProblem
from oracle.services.background import in_thread
from oracle.services.installing import install_command

NAME: Final = "ddgs"
EXTRA: Final = "search"
ENGINES: Final = "duckduckgo,brave,mojeek"
"""Asked one after the other until there are enough results; a question goes to no others."""
SECONDS_APART: Final = 2.0
"""Engines soon refuse programs that ask more often."""
_SECONDS_FOR_AN_ENGINE: Final = 6


class Pace:
    """Spaces requests, also those of several threads and event loops."""

    def __init__(
        self,
        seconds: float = SECONDS_APART,
        *,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._seconds = seconds
        self._clock = clock
        self._sleep = sleep
        self._lock = threading.Lock()
        self._next_at = float("-inf")

    async def turn(self) -> None:
        """Wait for the turn of this request."""
        with self._lock:
            now = self._clock()
            at = max(now, self._next_at)
            self._next_at = at + self._seconds
        if at > now:
            await self._sleep(at - now)


_pace: Final = Pace()


async def scraped_results(query: str, limit: int, pace: Pace = _pace) -> list[dict[str, Any]]:
    """Results with `title`, `href` and `body`. Raises `WebProblem`.

    The caller keeps the time. A thread that hangs is left behind, and hinders nothing.
    """
    await pace.turn()
    return await in_thread(_search, query, limit)


def _search(query: str, limit: int) -> list[dict[str, Any]]:
    try:
        # Imported here: few have it, and it takes a moment.
        from ddgs import DDGS  # pyright: ignore[reportMissingImports, reportUnknownVariableType]
    except ImportError:
        raise WebProblem(
            f"the package ddgs is not installed: tell the user to run `{install_command(EXTRA)}`, "
            "or to choose another web.provider"
        ) from None
    # As other programs do it, for those whose network has certificates of its own.
    verify: bool | str = os.environ.get("SSL_CERT_FILE") or True
    try:
        engine: Any = DDGS(timeout=_SECONDS_FOR_AN_ENGINE, verify=verify)
        return list(engine.text(query, max_results=limit, backend=ENGINES))
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException as problem:
        # Whatever it is. The part of it that is written in Rust may panic, which is not an
        # `Exception`.
        raise WebProblem(_told(problem)) from None


def _told(problem: BaseException) -> str:
    # What follows a bracket is the inside of a client, with the whole address.
    reason = " ".join(str(problem).split()).partition("(")[0][:100] or type(problem).__name__
    # It also says this if all engines have refused: what they send then has no results in it.
    if reason.startswith("No results found"):
        return (
            "ddgs found nothing: no page matches, or the search engines refuse to be read by a "
            "program just now; try other words once, or continue without the web"
        )
    return (
        f"ddgs failed ({type(problem).__name__}: {reason}); search engines may block it or limit "
        "its rate: try once more later, or continue without the web"
    )
