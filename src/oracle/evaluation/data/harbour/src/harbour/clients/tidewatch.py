"""Heights of the tide from tidewatch 3."""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

from harbour.clients import retry
from harbour.config.settings import Settings
from harbour.domain.tides import Height, Snapshot

HORIZON = timedelta(days=10)
STEP_MINUTES = 10
PAGE = 500
# The charts of the port count from LAT. tidewatch 3 counts from MSL unless told otherwise.
DATUM = "LAT"


class TidewatchClient:
    def __init__(self, settings: Settings, get: Callable[..., Any] | None = None):
        self._settings = settings
        self._get = get or self._http_get

    def fetch(self, now: datetime) -> Snapshot:
        heights: list[Height] = []
        cursor: str | None = None
        while True:
            page = retry.call(lambda cursor=cursor: self._page(now, cursor))
            heights += [
                Height(at=datetime.fromisoformat(item["t"]), metres=item["h"])
                for item in page["heights"]
            ]
            cursor = page.get("next")
            if cursor is None:
                break
        return Snapshot(
            station=self._settings.tidewatch_station, fetched_at=now, heights=tuple(heights)
        )

    def _page(self, now: datetime, cursor: str | None) -> dict[str, Any]:
        query = {
            "from": now.isoformat(),
            "to": (now + HORIZON).isoformat(),
            "step": STEP_MINUTES,
            "datum": DATUM,
            "limit": PAGE,
        }
        if cursor:
            query["cursor"] = cursor
        url = f"{self._settings.tidewatch_url}/stations/{self._settings.tidewatch_station}/heights"
        response = self._get(url, query, {"X-Tide-Key": self._settings.tidewatch_key})
        if response.status != 200:
            raise retry.from_status(
                "tidewatch", response.status, response.headers.get("Retry-After")
            )
        return response.json()

    @staticmethod
    def _http_get(url: str, query: dict[str, Any], headers: dict[str, str]) -> Any:
        import httplite  # type: ignore[import-not-found]

        return httplite.get(url, params=query, headers=headers, timeout=10)
