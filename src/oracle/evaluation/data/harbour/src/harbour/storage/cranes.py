"""Which crane works for which booking."""

from typing import Any

from harbour.domain.crane import FLEET, Crane, CraneState
from harbour.storage.db import Database


class CraneStore:
    def __init__(self, database: Database):
        self._database = database

    def fleet(self) -> tuple[Crane, ...]:
        """The fleet from the code, with the states from the table."""
        with self._database.transaction() as db:
            states = {row["name"]: row["state"] for row in db.all("select * from crane_states")}
        return tuple(
            Crane(name=c.name, quay=c.quay, lift_t=c.lift_t, state=states.get(c.name, "free"))
            for c in FLEET
        )

    def assign(self, crane: Crane, booking_id: int) -> None:
        def work(db: Any) -> None:
            db.execute(
                "insert into crane_jobs (crane, booking_id) values ($1, $2)", crane.name, booking_id
            )
            self._set(db, crane.name, "busy")

        self._database.repeat(work)

    def release_for(self, booking_id: int) -> None:
        def work(db: Any) -> None:
            rows = db.all(
                "delete from crane_jobs where booking_id = $1 returning crane", booking_id
            )
            for row in rows:
                self._set(db, row["crane"], "free")

        self._database.repeat(work)

    def set_state(self, name: str, state: CraneState) -> None:
        self._database.repeat(lambda db: self._set(db, name, state))

    @staticmethod
    def _set(db: Any, name: str, state: str) -> None:
        db.execute(
            "insert into crane_states (name, state) values ($1, $2)"
            " on conflict (name) do update set state = excluded.state",
            name,
            state,
        )
