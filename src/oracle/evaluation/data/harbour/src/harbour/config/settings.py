"""Settings, read once from the environment. Every key has the prefix HARBOUR_."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, fields

from harbour.errors import BadSetting

PREFIX = "HARBOUR_"

DEFAULT_PLUGINS = (
    "email-notices",
    "customs-manifest",
    "billing-export",
    "pilot-roster",
    "waste-declaration",
)


@dataclass(frozen=True, kw_only=True)
class Settings:
    db_url: str = "postgres://harbour@127.0.0.1:5544/harbour"
    db_pool_size: int = 8
    http_port: int = 8420

    # Bookings
    pencil_hold_minutes: int = 240
    no_show_grace_minutes: int = 120
    turnaround_minutes: int = 45
    ramp_turnaround_minutes: int = 20
    under_keel_clearance_m: float = 0.8

    # Jobs
    scheduler_tick_seconds: int = 15
    lease_ttl_seconds: int = 90
    outbox_batch: int = 50

    # The world outside
    tidewatch_url: str = "https://api.tidewatch.example/v3"
    tidewatch_key: str = ""
    tidewatch_station: str = "SKV-02"
    tide_max_age_minutes: int = 180
    skerry_url: str = "https://skerry.example/wind"
    berthql_host: str = ""
    berthql_port: int = 7411
    smtp_host: str = "127.0.0.1"

    plugins: tuple[str, ...] = field(default=DEFAULT_PLUGINS)


def _convert(name: str, raw: str, default: object) -> object:
    try:
        if isinstance(default, bool):
            return raw.lower() in ("1", "true", "yes")
        if isinstance(default, int):
            return int(raw)
        if isinstance(default, float):
            return float(raw)
        if isinstance(default, tuple):
            return tuple(part.strip() for part in raw.split(",") if part.strip())
    except ValueError as cause:
        raise BadSetting(f"{PREFIX}{name.upper()} is {raw!r}, expected a number") from cause
    return raw


def load(environ: Mapping[str, str] | None = None) -> Settings:
    """Keys that nobody knows are ignored on purpose: old deployments still set some."""
    environ = os.environ if environ is None else environ
    values: dict[str, object] = {}
    defaults = Settings()
    for each in fields(Settings):
        raw = environ.get(PREFIX + each.name.upper())
        if raw is not None:
            values[each.name] = _convert(each.name, raw, getattr(defaults, each.name))
    loaded = Settings(**values)  # type: ignore[arg-type]
    if loaded.lease_ttl_seconds < 3 * loaded.scheduler_tick_seconds:
        raise BadSetting(
            "HARBOUR_LEASE_TTL_SECONDS must be at least three times HARBOUR_SCHEDULER_TICK_SECONDS"
        )
    return loaded
