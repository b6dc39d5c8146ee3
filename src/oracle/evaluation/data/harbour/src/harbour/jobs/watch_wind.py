"""Stops the cranes when gusts are too strong, and lets them go on afterwards."""

from datetime import datetime

from harbour.clients.skerry import SkerryClient
from harbour.domain.crane import RESUME_AFTER_MINUTES, WIND_RESUME_MS, after_gust
from harbour.events import types
from harbour.events.bus import Bus
from harbour.events.types import Event
from harbour.storage.cranes import CraneStore
from harbour.storage.leases import Lease


class WatchWind:
    def __init__(self, client: SkerryClient, cranes: CraneStore, bus: Bus):
        self._client = client
        self._cranes = cranes
        self._bus = bus
        self._calm_since: datetime | None = None

    def __call__(self, lease: Lease, now: datetime) -> None:
        """Without a reading nothing changes: the crane drivers have an anemometer of their own."""
        wind = self._client.now()
        if wind.gust_ms >= WIND_RESUME_MS:
            self._calm_since = None
        elif self._calm_since is None:
            self._calm_since = now
        calm = (
            0 if self._calm_since is None else int((now - self._calm_since).total_seconds() // 60)
        )
        stopped: list[str] = []
        resumed: list[str] = []
        for crane in self._cranes.fleet():
            after = after_gust(crane, wind.gust_ms, calm)
            if after.state == crane.state:
                continue
            self._cranes.set_state(crane.name, after.state)
            (stopped if after.state == "stopped" else resumed).append(crane.name)
        payload: dict[str, object] = {"gust_ms": wind.gust_ms, "calm_minutes": calm}
        if stopped:
            self._bus.publish(
                Event(name=types.CRANE_STOPPED, at=now, payload={**payload, "cranes": stopped})
            )
        if resumed:
            self._bus.publish(
                Event(name=types.CRANE_RESUMED, at=now, payload={**payload, "cranes": resumed})
            )


assert RESUME_AFTER_MINUTES > 2, "the job runs every two minutes and must see a calm twice"
