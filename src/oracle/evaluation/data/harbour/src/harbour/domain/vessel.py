"""A vessel as the agent describes it. We never measure anything ourselves."""

import re
from dataclasses import dataclass
from typing import Literal

VesselKind = Literal["coaster", "tanker", "roro", "fishing", "yacht"]

CALL_SIGN = re.compile(r"^[A-Z0-9]{3,7}$")


@dataclass(frozen=True, kw_only=True)
class Vessel:
    call_sign: str
    name: str
    kind: VesselKind
    length_m: float
    draft_m: float
    dangerous_goods: bool = False

    def __post_init__(self) -> None:
        if not CALL_SIGN.match(self.call_sign):
            raise ValueError(f"call sign {self.call_sign!r} is not 3 to 7 letters and digits")
        if self.length_m <= 0 or self.draft_m <= 0:
            raise ValueError("length and draft must be positive")

    @property
    def needs_crane(self) -> bool:
        return self.kind == "coaster"

    @property
    def needs_pilot(self) -> bool:
        """The rule of the port: from 70 m, and always with dangerous goods."""
        return self.length_m >= 70 or self.dangerous_goods
