"""Delivers durable events to listeners and plugins."""

import logging
from datetime import datetime

from harbour.events.bus import Bus
from harbour.storage.db import Database
from harbour.storage.leases import Lease, LeaseStore
from harbour.storage.outbox import OutboxStore

log = logging.getLogger("harbour.jobs.outbox")


class DrainOutbox:
    def __init__(
        self, outbox: OutboxStore, database: Database, leases: LeaseStore, bus: Bus, batch: int
    ):
        self._outbox = outbox
        self._database = database
        self._leases = leases
        self._bus = bus
        self._batch = batch

    def __call__(self, lease: Lease, now: datetime) -> None:
        for entry in self._outbox.due(now, self._batch):
            why = ""
            try:
                self._bus.deliver(entry.event)
            except Exception as error:
                why = f"{type(error).__name__}: {error}"
            with self._database.transaction() as db:
                self._leases.check(db, lease)
                if not why:
                    self._outbox.delivered(db, entry, now)
                elif self._outbox.failed(db, entry, now, why):
                    log.error("event parked", extra={"fields": {"id": entry.id, "why": why}})
