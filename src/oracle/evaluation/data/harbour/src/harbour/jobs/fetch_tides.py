"""Fetches the next ten days of heights and keeps them as a snapshot."""

import logging
from datetime import datetime, timedelta

from harbour.clients.tidewatch import TidewatchClient
from harbour.config.settings import Settings
from harbour.errors import Upstream
from harbour.events import types
from harbour.events.bus import Bus
from harbour.events.types import Event
from harbour.storage.cache import TideCache
from harbour.storage.db import Database
from harbour.storage.leases import Lease, LeaseStore

log = logging.getLogger("harbour.jobs.tides")

LEAST_HEIGHTS = 144  # a day in steps of ten minutes


class FetchTides:
    def __init__(
        self,
        client: TidewatchClient,
        cache: TideCache,
        database: Database,
        leases: LeaseStore,
        bus: Bus,
        settings: Settings,
    ):
        self._client = client
        self._cache = cache
        self._database = database
        self._leases = leases
        self._bus = bus
        self._settings = settings

    def __call__(self, lease: Lease, now: datetime) -> None:
        try:
            snapshot = self._client.fetch(now)
        except Upstream:
            self._warn_if_old(now)
            raise
        if len(snapshot.heights) < LEAST_HEIGHTS:
            log.warning("snapshot too short", extra={"fields": {"heights": len(snapshot.heights)}})
            self._warn_if_old(now)
            return
        lease = self._leases.renew(lease, now)
        with self._database.transaction() as db:
            self._leases.check(db, lease)
            self._cache.put(db, snapshot)
        self._bus.publish(Event(name=types.TIDE_REFRESHED, at=now))

    def _warn_if_old(self, now: datetime) -> None:
        latest = self._cache.latest(self._settings.tidewatch_station)
        limit = timedelta(minutes=self._settings.tide_max_age_minutes)
        if latest is None or latest.age(now) > limit:
            self._bus.publish(Event(name=types.TIDE_STALE, at=now))
