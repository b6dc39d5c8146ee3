"""Reads notices out on the working channel. Behind a flag until the licence is settled."""

from harbour.config import flags
from harbour.events import types
from harbour.events.types import Event
from harbour.plugins.registry import plugin

CHANNEL = 12
MAX_SECONDS = 20
WORDS_PER_SECOND = 2.2

TEXTS = {
    types.BOOKING_CONFIRMED: "{vessel}, {vessel}, berth {berth} is yours from {arrives}. Over.",
    types.CRANE_STOPPED: "All cranes stopped for wind. Over.",
    types.CRANE_RESUMED: "Cranes working again. Over.",
}

_queue: list[tuple[int, str]] = []


def speech(event: Event) -> str:
    text = TEXTS[event.name].format(**event.payload)
    limit = int(MAX_SECONDS * WORDS_PER_SECOND)
    return " ".join(text.split()[:limit])


@plugin("radio-notices", events=TEXTS)
def announce(event: Event) -> None:
    if not flags.enabled("radio_notices"):
        return
    _queue.append((CHANNEL, speech(event)))


def drain() -> list[tuple[int, str]]:
    spoken = list(_queue)
    _queue.clear()
    return spoken
