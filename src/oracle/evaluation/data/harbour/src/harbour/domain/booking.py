"""A booking and the states it goes through.

requested ─> pencilled ─> confirmed ─> alongside ─> departed
     │           │            │
     └───────────┴──> cancelled └──> no_show
"""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum

from harbour.errors import WrongState


class State(StrEnum):
    REQUESTED = "requested"
    PENCILLED = "pencilled"
    CONFIRMED = "confirmed"
    ALONGSIDE = "alongside"
    DEPARTED = "departed"
    CANCELLED = "cancelled"
    NO_SHOW = "no_show"


TRANSITIONS: dict[State, frozenset[State]] = {
    State.REQUESTED: frozenset({State.PENCILLED, State.CANCELLED}),
    State.PENCILLED: frozenset({State.CONFIRMED, State.REQUESTED, State.CANCELLED}),
    State.CONFIRMED: frozenset({State.ALONGSIDE, State.CANCELLED, State.NO_SHOW}),
    State.ALONGSIDE: frozenset({State.DEPARTED}),
    State.DEPARTED: frozenset(),
    State.CANCELLED: frozenset(),
    State.NO_SHOW: frozenset({State.ALONGSIDE}),  # they do turn up, a day late
}

# States that keep others away from the berth.
OCCUPYING = frozenset({State.PENCILLED, State.CONFIRMED, State.ALONGSIDE})


@dataclass(frozen=True, kw_only=True)
class Booking:
    id: int
    call_sign: str
    berth: str | None
    arrives: datetime
    departs: datetime
    state: State = State.REQUESTED
    pencilled_at: datetime | None = None
    version: int = 1

    def __post_init__(self) -> None:
        if self.departs <= self.arrives:
            raise ValueError("departure must be after arrival")

    def to(self, state: State, *, now: datetime) -> "Booking":
        if state not in TRANSITIONS[self.state]:
            raise WrongState(f"booking {self.id} is {self.state}, it cannot become {state}")
        stamp = now if state is State.PENCILLED else self.pencilled_at
        berth = None if state is State.REQUESTED else self.berth
        return replace(self, state=state, pencilled_at=stamp, berth=berth, version=self.version + 1)

    def pencil_expired(self, now: datetime, hold: timedelta) -> bool:
        return (
            self.state is State.PENCILLED
            and self.pencilled_at is not None
            and now - self.pencilled_at > hold
        )
