"""Plugins listen to events. They register by name and are switched on in the settings."""

import logging
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from harbour.errors import UnknownPlugin
from harbour.events.types import ALL, Event

log = logging.getLogger("harbour.plugins")

QUARANTINE_AFTER = 5  # failures in a row
QUARANTINE_SECONDS = 600

Handler = Callable[[Event], None]


@dataclass
class Plugin:
    name: str
    events: frozenset[str]
    handler: Handler
    clock: Callable[[], float] = field(default=time.monotonic)
    failures: int = 0
    quiet_until: float = 0.0

    def guarded(self, event: Event) -> None:
        """While in quarantine, events are dropped, not queued."""
        if self.clock() < self.quiet_until:
            log.warning("dropped", extra={"fields": {"plugin": self.name, "event": event.name}})
            return
        try:
            self.handler(event)
        except Exception:
            self.failures += 1
            if self.failures >= QUARANTINE_AFTER:
                self.quiet_until = self.clock() + QUARANTINE_SECONDS
                self.failures = 0
                log.error("plugin in quarantine", extra={"fields": {"plugin": self.name}})
            raise
        self.failures = 0


_KNOWN: dict[str, Plugin] = {}


def plugin(name: str, *, events: Iterable[str]) -> Callable[[Handler], Handler]:
    def register(handler: Handler) -> Handler:
        wanted = frozenset(events)
        if unknown := wanted - ALL:
            raise ValueError(f"plugin {name} listens to unknown events: {sorted(unknown)}")
        _KNOWN[name] = Plugin(name=name, events=wanted, handler=handler)
        return handler

    return register


class Registry:
    def __init__(self, names: Iterable[str]):
        import harbour.plugins  # noqa: F401  registers the plugins that ship with us

        self.active: list[Plugin] = []
        for name in names:
            if name not in _KNOWN:
                raise UnknownPlugin(f"{name!r} is not one of {', '.join(sorted(_KNOWN))}")
            self.active.append(_KNOWN[name])

    def listening_to(self, event_name: str) -> list[Plugin]:
        return [each for each in self.active if event_name in each.events]
