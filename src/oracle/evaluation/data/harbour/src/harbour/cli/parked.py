"""Events that were given up after too many attempts."""

from harbour.config.settings import Settings
from harbour.storage.db import Database


def run(settings: Settings, retry_id: int | None) -> int:
    database = Database(settings)
    database.open()
    with database.transaction() as db:
        if retry_id is not None:
            changed = db.execute(
                "update outbox set attempts = 0, parked_at = null, next_try = now() where id = $1"
                " and parked_at is not null",
                retry_id,
            )
            print("will be tried again" if changed else f"event {retry_id} is not parked")
            return 0 if changed else 3
        rows = db.all(
            "select id, name, parked_at, last_error from outbox where parked_at is not null"
            " order by id"
        )
    for row in rows:
        print(
            f"{row['id']:>8}  {row['name']:<20} {row['parked_at']:%d %b %H:%M}  {row['last_error']}"
        )
    return 0
