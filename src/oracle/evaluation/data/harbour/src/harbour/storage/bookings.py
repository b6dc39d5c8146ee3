"""Bookings in Postgres. Updates compare the version, so nobody overwrites unseen changes."""

from datetime import datetime, timedelta
from typing import Any

from harbour.domain.booking import Booking, State
from harbour.errors import WrongState
from harbour.storage.db import Database

_COLUMNS = "id, call_sign, berth, arrives, departs, state, pencilled_at, version"


def _booking(row: dict[str, Any]) -> Booking:
    return Booking(**{**row, "state": State(row["state"])})


class BookingStore:
    def __init__(self, database: Database):
        self._database = database

    def get(self, booking_id: int) -> Booking | None:
        with self._database.transaction() as db:
            row = db.one(f"select {_COLUMNS} from bookings where id = $1", booking_id)
        return None if row is None else _booking(row)

    def create(self, call_sign: str, arrives: datetime, departs: datetime) -> Booking:
        row = self._database.repeat(
            lambda db: db.one(
                "insert into bookings (call_sign, arrives, departs) values ($1, $2, $3)"
                f" returning {_COLUMNS}",
                call_sign,
                arrives,
                departs,
            )
        )
        return _booking(row)

    def around(self, start: datetime, end: datetime) -> list[Booking]:
        """All that touch the time, with a day on both sides."""
        day = timedelta(days=1)
        with self._database.transaction() as db:
            rows = db.all(
                f"select {_COLUMNS} from bookings where arrives < $2 and departs > $1",
                start - day,
                end + day,
            )
        return [_booking(row) for row in rows]

    def save(self, booking: Booking) -> None:
        def work(db: Any) -> None:
            changed = db.execute(
                "update bookings set berth = $3, arrives = $4, departs = $5, state = $6,"
                " pencilled_at = $7, version = $2 where id = $1 and version = $2 - 1",
                booking.id,
                booking.version,
                booking.berth,
                booking.arrives,
                booking.departs,
                booking.state.value,
                booking.pencilled_at,
            )
            if changed == 0:
                raise WrongState(
                    f"booking {booking.id} was changed by somebody else, load it again"
                )

        self._database.repeat(work)

    def in_state(self, state: State) -> list[Booking]:
        with self._database.transaction() as db:
            rows = db.all(
                f"select {_COLUMNS} from bookings where state = $1 order by arrives", state.value
            )
        return [_booking(row) for row in rows]

    def bounce_rivals(self, confirmed_id: int) -> int:
        """Sends pencilled bookings that overlap a confirmed one back to `requested`."""

        def work(db: Any) -> int:
            return db.execute(
                "update bookings rival set state = 'requested', berth = null,"
                " version = rival.version + 1"
                " from bookings winner where winner.id = $1 and rival.id <> winner.id"
                " and rival.state = 'pencilled' and rival.berth = winner.berth"
                " and rival.arrives < winner.departs and winner.arrives < rival.departs",
                confirmed_id,
            )

        return self._database.repeat(work)
