"""Tidies up. Ran at night once; it is cheap now and runs every hour."""

import logging
from datetime import datetime, timedelta

from harbour.storage.db import Database
from harbour.storage.leases import Lease, LeaseStore

log = logging.getLogger("harbour.jobs.close")

KEEP_DELIVERED = timedelta(days=30)
KEEP_REQUESTED = timedelta(days=7)


class Close:
    def __init__(self, database: Database, leases: LeaseStore):
        self._database = database
        self._leases = leases

    def __call__(self, lease: Lease, now: datetime) -> None:
        with self._database.transaction() as db:
            self._leases.check(db, lease)
            events = db.execute("delete from outbox where delivered_at < $1", now - KEEP_DELIVERED)
            # Requests that found no berth and whose arrival is long past.
            requests = db.execute(
                "update bookings set state = 'cancelled', version = version + 1"
                " where state = 'requested' and arrives < $1",
                now - KEEP_REQUESTED,
            )
        log.info("closed", extra={"fields": {"events": events, "requests": requests}})
