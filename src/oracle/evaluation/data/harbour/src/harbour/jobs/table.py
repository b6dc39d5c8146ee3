"""All jobs and how often they run. A job that is not here does not run."""

from datetime import timedelta

from harbour.clients.skerry import SkerryClient
from harbour.clients.tidewatch import TidewatchClient
from harbour.config.settings import Settings
from harbour.events.bus import Bus
from harbour.jobs import (
    drain_outbox,
    expire_pencils,
    fetch_tides,
    nightly_close,
    sweep_no_shows,
    watch_wind,
)
from harbour.jobs.scheduler import Job
from harbour.storage.bookings import BookingStore
from harbour.storage.cache import TideCache
from harbour.storage.cranes import CraneStore
from harbour.storage.db import Database
from harbour.storage.leases import LeaseStore
from harbour.storage.outbox import OutboxStore


def jobs(settings: Settings, database: Database, bus: Bus, leases: LeaseStore) -> list[Job]:
    bookings = BookingStore(database)
    cranes = CraneStore(database)
    tides = fetch_tides.FetchTides(
        TidewatchClient(settings), TideCache(database), database, leases, bus, settings
    )
    wind = watch_wind.WatchWind(SkerryClient(settings), cranes, bus)
    drain = drain_outbox.DrainOutbox(
        OutboxStore(database), database, leases, bus, settings.outbox_batch
    )
    pencils = expire_pencils.ExpirePencils(bookings, settings)
    no_shows = sweep_no_shows.SweepNoShows(bookings, bus, settings)
    close = nightly_close.Close(database, leases)
    return [
        Job("drain-outbox", timedelta(seconds=15), drain),
        Job("watch-wind", timedelta(minutes=2), watch_wind_guard(wind)),
        Job("expire-pencils", timedelta(minutes=5), pencils),
        Job("sweep-no-shows", timedelta(minutes=10), no_shows),
        Job("fetch-tides", timedelta(minutes=60), tides),
        Job("nightly-close", timedelta(hours=1), close),
    ]


def watch_wind_guard(wind: watch_wind.WatchWind) -> watch_wind.WatchWind:
    # Used to skip the job at night. The cranes work in three shifts now, so it does nothing.
    return wind
