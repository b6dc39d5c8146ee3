"""Offers free berths to the neighbouring ports with berthql, and claims theirs."""

from datetime import datetime
from typing import Any

from harbour.config import flags
from harbour.config.settings import Settings
from harbour.errors import BerthConflict, Upstream

PROTOCOL = "1.4"
CLAIM_TTL_SECONDS = 600
MAX_FRAME_BYTES = 262_144
COMPRESSION = "deflate"

# Codes of the protocol that mean: ask again in a moment.
_BUSY = frozenset({"BQ503", "BQ429"})


class BerthqlClient:
    def __init__(self, settings: Settings, session: Any = None):
        self._settings = settings
        self._session = session

    def _connected(self) -> Any:
        if self._session is None:
            if not self._settings.berthql_host:
                raise Upstream("HARBOUR_BERTHQL_HOST is empty, there is nobody to talk to")
            import berthql  # type: ignore[import-not-found]

            self._session = berthql.connect(
                self._settings.berthql_host,
                self._settings.berthql_port,
                version=PROTOCOL,
                max_frame_bytes=MAX_FRAME_BYTES,
                compression=COMPRESSION,
            )
        return self._session

    def offer(self, berth: str, start: datetime, end: datetime) -> bool:
        """False if pushing is switched off; neighbours then see nothing of ours."""
        if not flags.enabled("berthql_push"):
            return False
        self._send("OFFER", {"berth": berth, "from": start.isoformat(), "to": end.isoformat()})
        return True

    def claim(self, offer_id: str, call_sign: str) -> str:
        reply = self._send(
            "CLAIM", {"offer": offer_id, "vessel": call_sign, "ttl": CLAIM_TTL_SECONDS}
        )
        return reply["claim"]

    def release(self, claim_id: str) -> None:
        self._send("RELEASE", {"claim": claim_id})

    def _send(self, verb: str, body: dict[str, object]) -> dict[str, Any]:
        reply = self._connected().request(verb, body)
        code = reply.get("error")
        if code is None:
            return reply
        if code == "BQ409":
            raise BerthConflict("the neighbour has given this berth to somebody else")
        raise Upstream(f"berthql answered {code} to {verb}", transient=code in _BUSY)
