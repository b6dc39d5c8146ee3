"""Delivers events. Durable ones go through the outbox, the others straight to listeners."""

import logging
from collections import defaultdict
from collections.abc import Callable
from typing import Protocol

from harbour.events.types import DURABLE, Event

log = logging.getLogger("harbour.bus")

Listener = Callable[[Event], None]


class Outbox(Protocol):
    def put(self, event: Event) -> int: ...


class Bus:
    def __init__(self, outbox: Outbox):
        self._outbox = outbox
        self._listeners: dict[str, list[Listener]] = defaultdict(list)

    def on(self, name: str, listener: Listener) -> None:
        self._listeners[name].append(listener)

    def publish(self, event: Event) -> None:
        """Durable events are written in the transaction of the caller and delivered later."""
        if event.name in DURABLE:
            self._outbox.put(event)
        else:
            self._deliver(event, strict=False)

    def deliver(self, event: Event) -> None:
        """Called by the job that drains the outbox. The first failure is raised."""
        self._deliver(event, strict=True)

    def _deliver(self, event: Event, *, strict: bool) -> None:
        for listener in list(self._listeners[event.name]):
            try:
                listener(event)
            except Exception:
                log.exception("listener failed", extra={"fields": {"event": event.name}})
                if strict:
                    raise
