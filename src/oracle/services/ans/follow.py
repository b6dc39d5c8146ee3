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

from oracle.errors import StoreError
from oracle.services.ans.query import EventQuery
from oracle.services.ans.table import EventsTable, StoredEvent

log = logging.getLogger(__name__)

IDLE_SECONDS = 0.25
"""How long a follower takes to notice that it is no longer wanted, while nothing happens."""


def follow(
    open_table: Callable[[], EventsTable], query: EventQuery
) -> Generator[list[StoredEvent]]:
    """What there is and then what comes, for ever; an empty list means that nothing is new.

    If the database goes away, it waits, and then reads on where it stopped.
    """
    is_away = False
    while True:
        try:
            with closing(open_table()) as table:
                # Read before the first wait: what came during an outage wakes nobody.
                page = table.read(query)
                is_away = False
                while True:
                    yield page
                    if page:
                        query = replace(query, after=page[-1].id)
                    if page or table.wait(IDLE_SECONDS):
                        page = table.read(query)
        except StoreError as problem:
            # Reported once for each outage, however many tries it takes.
            if not is_away:
                log.warning("events cannot be read: %s; trying again", problem)
            is_away = True
            yield []
            time.sleep(IDLE_SECONDS)
