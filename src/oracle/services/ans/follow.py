"""Reads the events of other processes as they are written.

The connection only says that there may be new events. The events are read from the table by id, so
none is missed, none is read twice, and they keep their order.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator
from contextlib import closing
from dataclasses import replace

from oracle.errors import StoreError
from oracle.logs import logger_of
from oracle.services.ans.query import EventQuery
from oracle.services.ans.table import EventsTable, StoredEvent

log = logger_of(__name__)

IDLE_SECONDS = 0.25
"""While nothing happens, `follow` yields an empty list this often, so that its caller can stop."""


def follow(
    open_table: Callable[[], EventsTable], query: EventQuery
) -> Generator[list[StoredEvent]]:
    """Yield the stored events, then new ones, without end. An empty list means nothing is new.

    If the database cannot be reached, it waits, and then continues where it stopped.
    """
    is_away = False
    while True:
        try:
            with closing(open_table()) as table:
                # Read before the first wait: there is no wake-up for events during an outage.
                page = table.read(query)
                is_away = False
                while True:
                    yield page
                    if page:
                        query = replace(query, after=page[-1].id)
                    if page or table.wait(IDLE_SECONDS):
                        page = table.read(query)
        except StoreError as problem:
            # Reported once for each outage, not for each attempt.
            if not is_away:
                log.warning("events cannot be read: %s; trying again", problem)
            is_away = True
            yield []
            time.sleep(IDLE_SECONDS)
