"""The seven berths of the port. They change every ten years, so they live in code."""

from dataclasses import dataclass

from harbour.domain.vessel import Vessel, VesselKind
from harbour.errors import VesselTooLong


@dataclass(frozen=True, kw_only=True)
class Berth:
    name: str
    length_m: float
    depth_m: float  # below chart datum (LAT)
    kinds: frozenset[VesselKind]
    crane_rail: bool = False
    ramp: bool = False
    extra_clearance_m: float = 0.0

    def accepts(self, vessel: Vessel) -> bool:
        return vessel.kind in self.kinds and vessel.length_m <= self.length_m


_GENERAL: frozenset[VesselKind] = frozenset({"coaster", "fishing"})

BERTHS: dict[str, Berth] = {
    berth.name: berth
    for berth in (
        Berth(name="A1", length_m=95, depth_m=6.2, kinds=_GENERAL, crane_rail=True),
        Berth(name="A2", length_m=95, depth_m=6.2, kinds=_GENERAL, crane_rail=True),
        Berth(name="A3", length_m=60, depth_m=4.8, kinds=_GENERAL),
        Berth(name="B1", length_m=120, depth_m=7.4, kinds=_GENERAL, crane_rail=True),
        Berth(name="B2", length_m=40, depth_m=3.5, kinds=frozenset({"fishing", "yacht"})),
        Berth(name="R1", length_m=140, depth_m=6.8, kinds=frozenset({"roro"}), ramp=True),
        Berth(
            name="F1",
            length_m=110,
            depth_m=7.9,
            kinds=frozenset({"tanker"}),
            extra_clearance_m=0.2,
        ),
    )
}


def candidates(vessel: Vessel) -> list[Berth]:
    """Berths that take the vessel, the tightest fit first."""
    fitting = [berth for berth in BERTHS.values() if berth.accepts(vessel)]
    if not fitting:
        longest = max((b.length_m for b in BERTHS.values() if vessel.kind in b.kinds), default=0.0)
        raise VesselTooLong(
            f"{vessel.name} is {vessel.length_m:g} m long, "
            f"the longest berth for a {vessel.kind} has {longest:g} m"
        )
    if vessel.needs_crane:
        fitting.sort(key=lambda b: (not b.crane_rail, b.length_m))
    else:
        fitting.sort(key=lambda b: (b.crane_rail, b.length_m))
    return fitting
