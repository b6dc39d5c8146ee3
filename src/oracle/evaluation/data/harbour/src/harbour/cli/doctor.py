"""Checks the surroundings and says what to do."""

import sys
from datetime import UTC, datetime, timedelta

from harbour.config import flags
from harbour.config.settings import Settings
from harbour.storage.cache import TideCache
from harbour.storage.db import Database


def checks(settings: Settings, now: datetime) -> list[tuple[bool, str]]:
    found: list[tuple[bool, str]] = [
        (bool(settings.tidewatch_key), "HARBOUR_TIDEWATCH_KEY is set"),
        (settings.db_pool_size >= 4, "the pool has at least 4 connections"),
        ("billing-export" in settings.plugins, "the accounts get their lines (billing-export)"),
    ]
    database = Database(settings)
    try:
        database.open()
    except OSError as error:
        return [*found, (False, f"the database answers ({error})")]
    latest = TideCache(database).latest(settings.tidewatch_station)
    limit = timedelta(minutes=settings.tide_max_age_minutes)
    if latest is None:
        found.append((False, "there is a tide snapshot"))
    else:
        minutes = int(latest.age(now).total_seconds() // 60)
        found.append((latest.age(now) <= limit, f"the tide snapshot is {minutes} minutes old"))
    return found


def run(settings: Settings) -> int:
    results = checks(settings, datetime.now(UTC))
    for good, text in results:
        print(f"{'ok  ' if good else 'FAIL'} {text}")
    for name, value in flags.overridden().items():
        print(f"flag {name} is {'on' if value else 'off'}, not the default", file=sys.stderr)
    return 0 if all(good for good, _ in results) else 3
