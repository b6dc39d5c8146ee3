"""Applies migrations/*.sql in order. There is no way back: write a new one."""

import hashlib
from pathlib import Path
from typing import Any

from harbour.config.settings import load
from harbour.storage.db import Database

FOLDER = Path(__file__).resolve().parents[3] / "migrations"


class ChangedMigration(Exception):
    pass


def pending(db: Any, folder: Path = FOLDER) -> list[Path]:
    """Raises if a migration that was applied has been edited since."""
    db.execute(
        "create table if not exists schema_history"
        " (name text primary key, sha256 text not null, applied_at timestamptz default now())"
    )
    applied = {row["name"]: row["sha256"] for row in db.all("select * from schema_history")}
    todo: list[Path] = []
    for path in sorted(folder.glob("[0-9][0-9][0-9][0-9]_*.sql")):
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        if path.name not in applied:
            todo.append(path)
        elif applied[path.name] != digest:
            raise ChangedMigration(f"{path.name} was edited after it was applied; write a new one")
    return todo


def run() -> int:
    database = Database(load())
    database.open()
    with database.transaction() as db:
        todo = pending(db)
        for path in todo:
            text = path.read_text(encoding="utf-8")
            db.execute(text)
            db.execute(
                "insert into schema_history (name, sha256) values ($1, $2)",
                path.name,
                hashlib.sha256(text.encode()).hexdigest(),
            )
    return len(todo)


if __name__ == "__main__":
    print(f"{run()} migrations applied")
