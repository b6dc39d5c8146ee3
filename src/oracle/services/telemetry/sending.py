"""A queue of spans and the thread that sends them.

A question never waits for a collector. The queue has a bound, and what does not fit is dropped; a
batch that a collector does not take is dropped too. The first failure is reported, once.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Sequence
from threading import Condition, Thread
from typing import TYPE_CHECKING, Final

from oracle.logs import logger_of
from oracle.services.installing import install_command
from oracle.services.notices import is_due
from oracle.services.telemetry.span import Span

if TYPE_CHECKING:
    from oracle.services.telemetry.otlp_http import Export

log = logger_of(__name__)

MOST_WAITING: Final = 4_096
MOST_AT_ONCE: Final = 512
SECONDS_TO_OPEN: Final = 5.0
SECONDS_TO_GATHER: Final = 0.5
"""How long the thread waits for more spans, so that a run is one or two requests."""


def _open_export() -> Export:
    # Imported in the thread that sends: it takes a quarter of a second.
    from oracle.services.telemetry.otlp_http import open_export

    return open_export()


class Sender:
    """`where` is shown in the warning."""

    def __init__(
        self,
        where: str,
        *,
        open_export: Callable[[], Export] = _open_export,
        bound: int = MOST_WAITING,
    ) -> None:
        self._where = where
        self._open_export = open_export
        self._bound = bound
        self._start_empty()

    def _start_empty(self) -> None:
        self._process = os.getpid()
        self._news = Condition()
        self._waiting: deque[Span] = deque()
        self._thread: Thread | None = None
        self._is_open = False
        self._is_sending = False
        self._is_flushing = False
        self._is_missing = False
        self._has_warned = False

    def put(self, spans: Sequence[Span]) -> None:
        """Returns at once."""
        if self._process != os.getpid():
            # The thread, and perhaps the lock, stayed with the parent of a fork.
            self._start_empty()
        with self._news:
            if self._is_missing:
                return
            room = self._bound - len(self._waiting)
            self._waiting.extend(spans[: max(0, room)])
            if self._thread is None:
                self._thread = Thread(target=self._work, name="oracle-traces", daemon=True)
                self._thread.start()
            self._news.notify_all()
        if room < len(spans):
            self._warn("more is to be sent than it takes")

    def flush(self, seconds: float) -> bool:
        """Wait until all is sent, but no longer than that. False if something is left."""
        if self._process != os.getpid():
            return True
        with self._news:
            # A collector that failed before is not waited for.
            seconds = 0.0 if self._has_warned else seconds
            self._is_flushing = True
            self._news.notify_all()
            # Loading the packages may take longer than that on a busy machine, and is not the
            # collector's fault.
            self._news.wait_for(
                lambda: self._is_open or self._is_idle(), timeout=max(seconds, SECONDS_TO_OPEN)
            )
            is_sent = self._news.wait_for(self._is_idle, timeout=seconds)
            self._is_flushing = False
        if not is_sent:
            self._warn(f"no answer within {seconds:g} s")
        return is_sent

    def _is_idle(self) -> bool:
        return not self._waiting and not self._is_sending

    def _work(self) -> None:
        try:
            export = self._open_export()
        except ImportError as problem:
            self._give_up(problem)
            return
        with self._news:
            self._is_open = True
            self._news.notify_all()
        while True:
            batch = self._next()
            try:
                is_sent, problem = export(batch), "it refused them, or did not answer"
            except Exception as raised:  # a library may fail in any way, and must not end this
                is_sent, problem = False, f"{type(raised).__name__}: {raised}"
            # Before the flush at the exit hears of it, or the process may end without the warning.
            if not is_sent:
                self._warn(problem)
            with self._news:
                self._is_sending = False
                self._news.notify_all()

    def _next(self) -> list[Span]:
        with self._news:
            self._news.wait_for(lambda: self._waiting)
            self._news.wait_for(
                lambda: self._is_flushing or len(self._waiting) >= MOST_AT_ONCE,
                timeout=SECONDS_TO_GATHER,
            )
            self._is_sending = True
            return [self._waiting.popleft() for _ in range(min(MOST_AT_ONCE, len(self._waiting)))]

    def _give_up(self, problem: ImportError) -> None:
        if is_due("telemetry"):
            log.warning(
                "traces are not sent, although OTEL_EXPORTER_OTLP_ENDPOINT is set: packages are "
                "missing (%s); run: %s",
                problem,
                install_command("otel"),
            )
        with self._news:
            self._is_missing = True
            self._waiting.clear()
            self._news.notify_all()

    def _warn(self, problem: str) -> None:
        with self._news:
            if self._has_warned:
                return
            self._has_warned = True
        log.warning(
            "traces cannot be sent to %s: %s; answers are not affected", self._where, problem
        )
