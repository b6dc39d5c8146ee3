"""Hearing what other processes emit.

The connection says when there may be news. The events themselves are read from the table, by id:
none is missed, none comes twice, and they keep their order.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Generator
from contextlib import closing
from dataclasses import replace
from threading import Event as Flag
from threading import Thread
from typing import TypeAlias

from oracle.errors import StoreError
from oracle.services.ans.query import EventQuery
from oracle.services.ans.table import EventsTable, StoredEvent

log = logging.getLogger(__name__)

IDLE_SECONDS = 0.25
"""How long a follower takes to notice that it is no longer wanted, while nothing happens."""

OpenTable: TypeAlias = Callable[[], EventsTable]


def follow(open_table: OpenTable, query: EventQuery) -> Generator[list[StoredEvent]]:
    """What there is and then what comes, for ever; an empty list means that nothing is new.

    If the database goes away, it waits, and then reads on where it stopped.
    """
    away = False
    while True:
        try:
            with closing(open_table()) as table:
                page = table.read(query)
                away = False
                while True:
                    yield page
                    if page:
                        query = replace(query, after=page[-1].id)
                    if page or table.wait(IDLE_SECONDS):
                        page = table.read(query)
        except StoreError as problem:
            if not away:
                log.warning("events cannot be read: %s; trying again", problem)
            away = True
            yield []
            time.sleep(IDLE_SECONDS)


def listen(
    open_table: OpenTable, callback: Callable[[StoredEvent], object], query: EventQuery
) -> Callable[[], None]:
    """Call `callback`, in a thread of its own, with each event of the query, from any process,
    this one included. Returns the function that ends it.
    """
    stop = Flag()

    def work() -> None:
        with closing(follow(open_table, query)) as pages:
            for page in pages:
                for stored in page:
                    _tell(callback, stored)
                if stop.is_set():
                    return

    thread = Thread(target=work, name="oracle-events-listener", daemon=True)
    thread.start()

    def end() -> None:
        stop.set()
        thread.join()

    return end


def _tell(callback: Callable[[StoredEvent], object], stored: StoredEvent) -> None:
    try:
        callback(stored)
    except Exception:
        log.exception("%r failed at %r", callback, stored)
