"""Puts the parts together: `harbour serve` and `harbour jobs`."""

import argparse
import time
from datetime import UTC, datetime

from harbour.config.settings import Settings
from harbour.errors import HarbourError
from harbour.events import wiring
from harbour.events.bus import Bus
from harbour.jobs.scheduler import Scheduler
from harbour.jobs.table import jobs
from harbour.plugins.registry import Registry
from harbour.storage.bookings import BookingStore
from harbour.storage.cranes import CraneStore
from harbour.storage.db import Database
from harbour.storage.leases import LeaseStore
from harbour.storage.outbox import OutboxStore


def run(options: argparse.Namespace, settings: Settings) -> int:
    database = Database(settings)
    database.open()
    bus = Bus(OutboxStore(database))
    wiring.connect(bus, Registry(settings.plugins), BookingStore(database), CraneStore(database))
    if options.command == "serve":
        return _serve(settings)
    leases = LeaseStore(database, settings.lease_ttl_seconds)
    table = jobs(settings, database, bus, leases)
    if options.what == "once":
        table = [job for job in table if job.name == options.name]
        if not table:
            raise HarbourError(f"there is no job {options.name!r}")
        return 0 if Scheduler(leases, table).tick(datetime.now(UTC)) else 3
    scheduler = Scheduler(leases, table)
    while True:
        scheduler.tick(datetime.now(UTC))
        time.sleep(settings.scheduler_tick_seconds)


def _serve(settings: Settings) -> int:
    import httplite  # type: ignore[import-not-found]

    httplite.serve("127.0.0.1", settings.http_port)
    return 0
