"""What a stay costs, in cents. Rates are those of the tariff sheet of 2026."""

import math
from datetime import datetime, timedelta

from harbour.domain.berth import Berth
from harbour.domain.vessel import Vessel

CENTS_PER_METRE_DAY = {"coaster": 310, "tanker": 480, "roro": 290, "fishing": 90, "yacht": 220}
DANGEROUS_GOODS_SURCHARGE = 0.35
CRANE_CENTS_PER_STARTED_HOUR = 14_500
NO_SHOW_FEE_CENTS = 40_000
LATE_CANCEL_HOURS = 12
LATE_CANCEL_SHARE = 0.5


def berth_dues(vessel: Vessel, berth: Berth, stay: timedelta) -> int:
    """Started days count. The ramp is charged by half days."""
    days = stay / timedelta(days=1)
    charged = math.ceil(days * 2) / 2 if berth.ramp else math.ceil(days)
    cents = vessel.length_m * CENTS_PER_METRE_DAY[vessel.kind] * charged
    if vessel.dangerous_goods:
        cents *= 1 + DANGEROUS_GOODS_SURCHARGE
    return round(cents)


def crane_dues(worked: timedelta) -> int:
    return math.ceil(worked / timedelta(hours=1)) * CRANE_CENTS_PER_STARTED_HOUR


def cancel_fee(dues: int, arrives: datetime, cancelled_at: datetime) -> int:
    """Half the dues when cancelled less than twelve hours ahead, otherwise nothing."""
    if arrives - cancelled_at < timedelta(hours=LATE_CANCEL_HOURS):
        return round(dues * LATE_CANCEL_SHARE)
    return 0


def weekend_rebate(dues: int, arrives: datetime) -> int:
    # Ended with the tariff sheet of 2024. Kept for reprints of old invoices.
    return round(dues * 0.9) if arrives.weekday() >= 5 else dues
