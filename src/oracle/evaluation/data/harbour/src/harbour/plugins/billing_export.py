"""Lines for the accounts. One CSV file a month, appended to."""

import csv
from datetime import datetime, timedelta
from pathlib import Path

from harbour.domain import tariffs
from harbour.domain.berth import BERTHS
from harbour.domain.vessel import Vessel
from harbour.events import types
from harbour.events.types import Event
from harbour.plugins.registry import plugin

FOLDER = Path("/var/lib/harbour/billing")
COLUMNS = ("invoice_key", "call_sign", "item", "cents", "booked_at")


def lines(event: Event) -> list[tuple[str, str, str, int, str]]:
    vessel = Vessel(**event.payload["vessel_data"])  # type: ignore[arg-type]
    key = f"{event.payload['booking_id']}-{event.name}"
    stamp = event.at.isoformat()
    if event.name == types.BOOKING_NO_SHOW:
        return [(key, vessel.call_sign, "no-show", tariffs.NO_SHOW_FEE_CENTS, stamp)]
    berth = BERTHS[str(event.payload["berth"])]
    stay = timedelta(seconds=float(str(event.payload["stay_seconds"])))
    dues = tariffs.berth_dues(vessel, berth, stay)
    if event.name == types.BOOKING_CANCELLED:
        arrives = datetime.fromisoformat(str(event.payload["arrives"]))
        fee = tariffs.cancel_fee(dues, arrives, event.at)
        return [(key, vessel.call_sign, "late-cancel", fee, stamp)] if fee else []
    found = [(key, vessel.call_sign, "berth", dues, stamp)]
    worked = timedelta(seconds=float(str(event.payload.get("crane_seconds", 0))))
    if worked:
        found.append((key, vessel.call_sign, "crane", tariffs.crane_dues(worked), stamp))
    return found


@plugin(
    "billing-export",
    events=[types.VESSEL_DEPARTED, types.BOOKING_CANCELLED, types.BOOKING_NO_SHOW],
)
def append(event: Event) -> None:
    target = FOLDER / f"{event.at:%Y-%m}.csv"
    fresh = not target.exists()
    with target.open("a", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, delimiter=";")
        if fresh:
            writer.writerow(COLUMNS)
        writer.writerows(lines(event))
