"""Wind from the mast on the breakwater, by way of skerry."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from harbour.clients import retry
from harbour.config.settings import Settings

MAST = "skarnvik-breakwater"
TIMEOUT_SECONDS = 4


@dataclass(frozen=True, kw_only=True)
class Wind:
    at: datetime
    mean_ms: float
    gust_ms: float


class SkerryClient:
    def __init__(self, settings: Settings, get: Callable[..., Any] | None = None):
        self._url = settings.skerry_url
        self._get = get or self._http_get

    def now(self) -> Wind:
        """Two attempts only: a reading that comes late is worth nothing."""
        return retry.call(self._read, attempts=2)

    def _read(self) -> Wind:
        response = self._get(f"{self._url}/latest", {"mast": MAST, "units": "ms"})
        if response.status != 200:
            raise retry.from_status("skerry", response.status, response.headers.get("Retry-After"))
        body = response.json()
        return Wind(
            at=datetime.fromisoformat(body["observed"]),
            mean_ms=body["mean"],
            # A mast without a gust sensor sends null. 1.4 is the rule of thumb of the port.
            gust_ms=body["gust"] if body["gust"] is not None else body["mean"] * 1.4,
        )

    @staticmethod
    def _http_get(url: str, query: dict[str, str]) -> Any:
        import httplite  # type: ignore[import-not-found]

        return httplite.get(url, params=query, timeout=TIMEOUT_SECONDS)
