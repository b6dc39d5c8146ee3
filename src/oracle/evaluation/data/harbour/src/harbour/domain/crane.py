"""Cranes and the wind they may work in."""

from dataclasses import dataclass, replace
from typing import Literal

from harbour.config import flags
from harbour.errors import CraneUnavailable

WIND_WARN_MS = 14.0
WIND_STOP_MS = 18.0
# Below this for RESUME_AFTER_MINUTES before a stopped crane may go on.
WIND_RESUME_MS = 15.0
RESUME_AFTER_MINUTES = 20

CraneState = Literal["free", "busy", "stopped", "broken"]


@dataclass(frozen=True, kw_only=True)
class Crane:
    name: str
    quay: Literal["A", "B"]
    lift_t: float
    state: CraneState = "free"


FLEET = (
    Crane(name="C1", quay="A", lift_t=40),
    Crane(name="C2", quay="A", lift_t=40),
    Crane(name="C3", quay="B", lift_t=63),
    Crane(name="C4", quay="B", lift_t=25),
)


def pick(fleet: tuple[Crane, ...], berth_name: str, heaviest_lift_t: float) -> Crane:
    """The weakest free crane that can lift it. With pooling, any quay's crane will do."""
    quay = berth_name[0]
    able = [
        crane
        for crane in fleet
        if crane.state == "free"
        and crane.lift_t >= heaviest_lift_t
        and (flags.enabled("crane_pooling") or crane.quay == quay)
    ]
    if not able:
        raise CraneUnavailable(f"no free crane for {heaviest_lift_t:g} t at {berth_name}")
    return min(able, key=lambda crane: (crane.lift_t, crane.quay != quay, crane.name))


def after_gust(crane: Crane, gust_ms: float, calm_minutes: int) -> Crane:
    """The crane after a reading of the wind. `broken` never changes here."""
    if crane.state == "broken":
        return crane
    if gust_ms >= WIND_STOP_MS:
        return replace(crane, state="stopped")
    if crane.state == "stopped":
        calm = gust_ms < WIND_RESUME_MS and calm_minutes >= RESUME_AFTER_MINUTES
        return replace(crane, state="free") if calm else crane
    return crane
