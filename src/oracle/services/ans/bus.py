"""The bus only delivers. The table, the page and the terminal are its subscribers."""

from __future__ import annotations

import logging
from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager
from contextvars import ContextVar
from threading import Lock
from typing import NamedTuple, TypeAlias

from oracle.services.ans.event import Event
from oracle.services.ans.event_types import report_mistake, select_types

log = logging.getLogger(__name__)

Subscriber: TypeAlias = Callable[[Event], object]
"""Called in the thread that emits, so it takes the event and returns at once; what takes longer
belongs in a thread of its own, as in `EventWriter`.
"""


class _Subscription(NamedTuple):
    callback: Subscriber
    types: frozenset[str] | None


class EventBus:
    """Hands each event to each subscriber, in the order of emission and of subscription."""

    def __init__(self, *subscribers: Subscriber) -> None:
        """Without `subscribers`, it at least reports events that do not fit the table of types."""
        self._subscriptions: tuple[_Subscription, ...] = ()
        self._changing = Lock()
        for subscriber in subscribers or (report_mistake,):
            self.subscribe(subscriber)

    def emit(self, event: Event) -> None:
        """Tell every subscriber. Takes no lock and never raises: the caller has other work."""
        for subscription in self._subscriptions:
            try:
                if subscription.types is None or event.type in subscription.types:
                    subscription.callback(event)
            except Exception:
                log.exception("%r failed at %r", subscription.callback, event)

    def subscribe(
        self, callback: Subscriber, types: Iterable[str] | None = None
    ) -> Callable[[], None]:
        """Call `callback` with each event of the given types, `fallback.*` for a family.

        Returns the function that ends it. A name that matches no type is refused.
        """
        subscription = _Subscription(callback, None if types is None else select_types(types))
        with self._changing:
            self._subscriptions = (*self._subscriptions, subscription)

        def unsubscribe() -> None:
            with self._changing:
                self._subscriptions = tuple(
                    other for other in self._subscriptions if other is not subscription
                )

        return unsubscribe


_bus = EventBus()
_bus_of_context: ContextVar[EventBus | None] = ContextVar("_bus_of_context", default=None)


def get_event_bus() -> EventBus:
    """The bus of the current run, else that of the process."""
    return _bus_of_context.get() or _bus


@contextmanager
def emitting_to(bus: EventBus) -> Generator[EventBus]:
    """What is emitted inside, also by tasks started inside, goes only to `bus`."""
    token = _bus_of_context.set(bus)
    try:
        yield bus
    finally:
        _bus_of_context.reset(token)


@contextmanager
def event_bus_replaced(bus: EventBus) -> Generator[EventBus]:
    """For tests: the whole process emits to `bus` until the block is left."""
    global _bus
    previous, _bus = _bus, bus
    try:
        yield bus
    finally:
        _bus = previous
