"""The subscriber that sends each run to a collector, if OpenTelemetry's variables name one."""

from __future__ import annotations

import atexit
import os
from collections import OrderedDict
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from oracle.services.ans.bus import EventBus, get_event_bus
from oracle.services.background import fork_safe_lock

if TYPE_CHECKING:
    from oracle.services.ans.event import Event
    from oracle.services.telemetry.run_spans import RunSpans
    from oracle.services.telemetry.sending import Sender

ADDRESSES: Final = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")
CONTENT: Final = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"
TIMEOUT: Final = "OTEL_EXPORTER_OTLP_TIMEOUT"
SECONDS_AT_EXIT: Final = 1.0
MOST_RUNS: Final = 1_000
"""Runs that are followed at once. The oldest is let go: it may never have ended."""


def address_in(environment: Mapping[str, str]) -> str | None:
    """Where traces go; None if they go nowhere."""
    is_off = environment.get("OTEL_SDK_DISABLED", "").strip().lower() == "true"
    if is_off or environment.get("OTEL_TRACES_EXPORTER", "").strip().lower() == "none":
        return None
    return next((found for name in ADDRESSES if (found := environment.get(name))), None)


def wants_content(environment: Mapping[str, str]) -> bool:
    return environment.get(CONTENT, "").strip().lower() in ("true", "1", "span_only")


class Telemetry:
    """Called in the thread that emits: it only changes a few values and fills a queue."""

    def __init__(self, sender: Sender, *, content: bool) -> None:
        self.sender = sender
        self._content = content
        self._runs: OrderedDict[str, RunSpans] = OrderedDict()
        self._lock = fork_safe_lock()

    def __call__(self, event: Event) -> None:
        if event.run_id is None:
            return
        from oracle.services.telemetry.run_spans import RunSpans

        with self._lock:
            run = self._runs.get(event.run_id)
            if run is None:
                run = self._runs[event.run_id] = RunSpans(event.run_id, content=self._content)
                if len(self._runs) > MOST_RUNS:
                    self._runs.popitem(last=False)
            spans = run.feed(event)
            # With content, the root waits for the answer (`answered`).
            if run.has_ended and not self._content:
                del self._runs[event.run_id]
                spans += run.rest()
        if spans:
            self.sender.put(spans)

    def answered(self, run_id: str, answer: str) -> None:
        with self._lock:
            run = self._runs.pop(run_id, None)
        if run is not None:
            run.answered(answer)
            self.sender.put(run.rest())


_live: dict[EventBus, Telemetry] = {}
_starting = fork_safe_lock()


def follow_runs(environment: Mapping[str, str] | None = None) -> None:
    """Send the runs of this process from now on, if a variable says where to. Cheap if not."""
    environment = os.environ if environment is None else environment
    address = address_in(environment)
    if address is None:
        return
    bus = get_event_bus()
    with _starting:
        if bus in _live:
            return
        from oracle.services.telemetry.sending import Sender

        _live[bus] = Telemetry(Sender(address), content=wants_content(environment))
    bus.subscribe(_live[bus])


def note_answer(run_id: str, answer: str) -> None:
    """The run has ended, and this is its answer."""
    for telemetry in list(_live.values()):
        telemetry.answered(run_id, answer)


def flush_at_exit() -> None:
    for telemetry in list(_live.values()):
        telemetry.sender.flush(seconds_at_exit(os.environ))


def seconds_at_exit(environment: Mapping[str, str]) -> float:
    """A user who gives requests more time gives it to the last one too."""
    try:
        return float(environment[TIMEOUT])
    except (KeyError, ValueError):
        return SECONDS_AT_EXIT


atexit.register(flush_at_exit)
