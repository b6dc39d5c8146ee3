"""A bus that remembers. `with event_bus_replaced(RecordingBus()) as bus:`"""

from __future__ import annotations

from oracle.services.ans.bus import EventBus
from oracle.services.ans.event import Event


class RecordingBus(EventBus):
    def __init__(self) -> None:
        super().__init__()
        self.events: list[Event] = []
        self.subscribe(self.events.append)

    @property
    def types(self) -> list[str]:
        return [event.type for event in self.events]
