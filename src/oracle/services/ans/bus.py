"""The event bus. It only delivers; storage and terminal are subscribers."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager
from contextvars import ContextVar
from typing import NamedTuple, TypeAlias

from oracle.logs import logger_of
from oracle.services.ans.event import Event
from oracle.services.ans.event_types import report_mistake, select_types
from oracle.services.background import fork_safe_lock

log = logger_of(__name__)

Subscriber: TypeAlias = Callable[[Event], object]
"""Called in the thread that emits, so it must return at once. Slow work belongs in another thread,
as in `EventWriter`.
"""


class _Subscription(NamedTuple):
    callback: Subscriber
    types: frozenset[str] | None


class EventBus:
    """Hands each event to each subscriber, in the order of emission and of subscription."""

    def __init__(self, *subscribers: Subscriber) -> None:
        """Without `subscribers`, the bus reports events that do not fit the table of types."""
        self._subscriptions: tuple[_Subscription, ...] = ()
        self._changing = fork_safe_lock()
        for subscriber in subscribers or (report_mistake,):
            self.subscribe(subscriber)

    def emit(self, event: Event) -> None:
        """Call every subscriber. It never raises, because the caller has other work to do."""
        # No lock is needed: the tuple is replaced, never changed.
        for subscription in self._subscriptions:
            try:
                if subscription.types is None or event.type in subscription.types:
                    subscription.callback(event)
            except Exception:
                log.exception("%r failed at %r", subscription.callback, event)

    def hears(self, type_: str) -> bool:
        """Whether an event of this type would reach anybody. If not, it need not be made.

        Whoever only reports mistakes in events does not count.
        """
        for callback, types in self._subscriptions:
            if callback is not report_mistake and (types is None or type_ in types):
                return True
        return False

    def subscribe(
        self, callback: Subscriber, types: Iterable[str] | None = None
    ) -> Callable[[], None]:
        """Call `callback` with each event of the given types. `fallback.*` is a whole family.

        Returns a function that unsubscribes. Raises `InputError` for a name that matches no type.
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
    """The bus of the current run, or the bus of the process."""
    return _bus_of_context.get() or _bus


@contextmanager
def emitting_to(bus: EventBus) -> Generator[EventBus]:
    """Events emitted inside the block, also by tasks started inside, go only to `bus`."""
    token = _bus_of_context.set(bus)
    try:
        yield bus
    finally:
        _bus_of_context.reset(token)


@contextmanager
def event_bus_replaced(bus: EventBus) -> Generator[EventBus]:
    """For tests: inside the block the whole process emits to `bus`."""
    global _bus
    previous, _bus = _bus, bus
    try:
        yield bus
    finally:
        _bus = previous
